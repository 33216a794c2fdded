"""How much the page transfers, and how long it takes, until the recorded tree is drawn: `python tests/first_paint.py`.

Not a test, because it measures time; tests/browser/test_browser_first_paint.py checks the bytes. Bytes are those on the
wire, headers and compression included; the browser starts with an empty cache each time.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
VISITS = 5


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


def main() -> None:
    from playwright.sync_api import sync_playwright

    from app.page import build_demo, launch

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("no Chromium found: install the package chromium first")
    began = perf_counter()
    demo = build_demo()
    _, url, _ = launch(demo, prevent_thread_lock=True, quiet=True, server_name="127.0.0.1")
    print(f"imported, built and served after {perf_counter() - began:.2f} s")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        times = []
        for _ in range(VISITS):
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            meter = Meter(page)
            began = perf_counter()
            page.goto(url)
            page.locator(".sv-svg .node").first.wait_for()
            times.append(perf_counter() - began)
            page.wait_for_timeout(3000)  # what is asked for late counts as well
            page.context.close()
        browser.close()
    demo.close(verbose=False)
    spread = f"{min(times):.2f} to {max(times):.2f} s"
    print(f"recorded tree drawn: median {median(times):.2f} s of {VISITS} visits with an empty cache ({spread})")
    print(f"transferred before any curve is opened: {meter.total / 1e3:.0f} kB in {len(meter.bytes)} responses")
    for size, path in meter.largest(8):
        print(f"  {size / 1e3:7.1f} kB  {path}")


if __name__ == "__main__":
    main()
