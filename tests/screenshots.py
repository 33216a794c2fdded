"""The pictures of the README, taken from the running demo: `make screenshots`, or `python -m tests.screenshots`.

Not a test. It needs a Chromium, as the browser tests do, and writes assets/screenshots/.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from app.page import build_demo, launch

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "assets" / "screenshots"
SIZES = {"light": (1400, 940), "dark": (1400, 940), "phone": (390, 844)}


def main() -> None:
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser_path is None:
        sys.exit("no Chromium found: install the package chromium first")
    OUT.mkdir(parents=True, exist_ok=True)
    demo = build_demo()
    _, url, _ = launch(demo, prevent_thread_lock=True, quiet=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        for name, (width, height) in SIZES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(url + ("?__theme=dark" if name == "dark" else "?__theme=light"))
            page.wait_for_selector(".sv-svg .node")
            page.mouse.move(5, 5)
            page.wait_for_timeout(500)
            page.screenshot(path=OUT / f"live-{name}.png")
            print(OUT / f"live-{name}.png")
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(url + "?__theme=light")
        page.get_by_role("tab", name="Compare").click()
        page.wait_for_selector("#sv-compare .sv-run .node")
        page.wait_for_timeout(500)
        page.screenshot(path=OUT / "compare.png")
        print(OUT / "compare.png")
        page = browser.new_page(viewport={"width": 1400, "height": 1180})
        page.goto(url + "?lab=verification&__theme=light")
        page.get_by_role("button", name="Next try").click()
        page.get_by_role("button", name="Next try").click()
        page.wait_for_timeout(800)
        page.screenshot(path=OUT / "lab.png")
        print(OUT / "lab.png")
        page = browser.new_page(viewport={"width": 1400, "height": 860})
        page.goto(url + "?lesson=4&__theme=light")
        page.wait_for_selector(".sv-lessons[aria-busy=false]")
        page.get_by_role("button", name="Show me").click()
        page.wait_for_timeout(500)
        page.screenshot(path=OUT / "lessons.png")
        print(OUT / "lessons.png")
        browser.close()
    demo.close()


if __name__ == "__main__":
    main()
