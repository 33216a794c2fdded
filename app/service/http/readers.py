"""Which pages read the messages of their runs, so that a page that left loses its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

UNREAD = 10.0  # seconds after which the runs of a page that reads no messages end
FORGET = 60.0  # seconds after which such a page is forgotten, with its messages


@dataclass
class _Page:
    streams: int = 0  # that it reads
    waits_since: float | None = None  # when it was sent what it has not taken yet
    left: float = field(default_factory=monotonic)  # when it was last seen, if it reads nothing


class Readers:
    """Counts for each page the streams of messages that it reads."""

    def __init__(self, patience: float = UNREAD) -> None:
        self.patience = patience
        self._pages: dict[str, _Page] = {}

    def have_left(self, session: str) -> bool:
        """Whether a page has read nothing for `patience` seconds although there is something."""
        if not session:
            return False
        page = self._page(session)
        # A stream that is open but not read fills up until `send` waits; without a stream it is the
        # time since the page was last seen.
        since = page.waits_since if page.streams else page.left
        return since is not None and monotonic() - since > self.patience

    def seen(self, session: str) -> None:
        """A page sent something just now."""
        if session:
            self._page(session).left = monotonic()

    def gone(self) -> list[str]:
        """The pages that read nothing for long, which are forgotten."""
        now = monotonic()
        names = []
        for name, page in list(self._pages.items()):
            if not page.streams and now - page.left > FORGET:
                del self._pages[name]
                names.append(name)
        return names

    async def reading(
        self, session: str, app: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve a stream of messages, and know meanwhile that they are read."""
        page = self._page(session)

        async def send_and_wait(message: Message) -> None:
            page.waits_since = monotonic()
            await send(message)  # returns when the page has taken most of what was sent before
            page.waits_since = None

        page.streams += 1
        try:
            await app(scope, receive, send_and_wait)
        finally:
            # However the stream ended: a page that was closed, a network that broke.
            page.streams -= 1
            page.left = monotonic()

    def _page(self, session: str) -> _Page:
        return self._pages.setdefault(session, _Page())
