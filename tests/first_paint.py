"""What a page transfers: bytes on the wire, headers and compression included."""


class Meter:
    """Counts what a page transfers.

    Args:
        page: of playwright, before it goes anywhere.
    """

    def __init__(self, page) -> None:
        self.urls: dict[str, str] = {}
        self.bytes: dict[str, int] = {}
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.requestWillBeSent", self._asked)
        session.on("Network.loadingFinished", self._loaded)

    def _asked(self, event) -> None:
        self.urls[event["requestId"]] = event["request"]["url"]

    def _loaded(self, event) -> None:
        url = self.urls[event["requestId"]]
        self.bytes[url] = self.bytes.get(url, 0) + int(event["encodedDataLength"])

    @property
    def total(self) -> int:
        return sum(self.bytes.values())

    def largest(self, count: int) -> list[tuple[int, str]]:
        """The largest transfers, (bytes, path)."""
        pairs = sorted(((size, url) for url, size in self.bytes.items()), reverse=True)
        return [(size, "/" + url.split("/", 3)[-1][:70]) for size, url in pairs[:count]]
