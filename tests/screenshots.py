"""The pictures of the README and of docs/guide.md, from the running demo; needs a Chromium, as the browser tests do.

Not a test: `make screenshots` writes assets/screenshots/.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from app.page import build_demo, launch

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "assets" / "screenshots"
SIZES = {"light": (1440, 960), "dark": (1440, 960), "phone": (390, 844)}


def readme(browser: Browser, url: str) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    for name, (width, height) in SIZES.items():
        page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
        page.goto(url + ("?__theme=dark" if name == "dark" else "?__theme=light"))
        page.wait_for_selector(".sv-svg .node")
        page.mouse.move(5, 5)
        take(page, OUT / f"live-{name}.png")
    page = browser.new_page(viewport={"width": 1440, "height": 1000})
    page.goto(url + "?__theme=light")
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_selector("#sv-compare .sv-run .node")
    take(page, OUT / "compare.png")
    page = browser.new_page(viewport={"width": 1440, "height": 1180})
    page.goto(url + "?lab=verification&__theme=light")
    page.locator(".sv-v[aria-busy=false] .sv-v-scroll tbody tr").first.wait_for()
    take(page, OUT / "lab.png")
    page = browser.new_page(viewport={"width": 1440, "height": 860}, reduced_motion="reduce")
    page.goto(url + "?lesson=trees&__theme=light")
    page.wait_for_selector(".sv-lessons[aria-busy=false]")
    page.get_by_role("button", name="Show me").click()
    take(page, OUT / "lessons.png")


def take(page: Page, path: Path) -> None:
    """One picture, when the page has come to rest."""
    page.wait_for_timeout(800)
    page.screenshot(path=path)
    print(path)


def main() -> None:
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser_path is None:
        sys.exit("no Chromium found: install the package chromium first")
    demo = build_demo()
    _, url, _ = launch(demo, prevent_thread_lock=True, quiet=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        readme(browser, url)
        browser.close()
    demo.close()


if __name__ == "__main__":
    main()
