"""Pictures of the running demo: those of the README, or all of them.

Not a test. `make screenshots` writes assets/screenshots/.

`python -m tests.screenshots FOLDER [WIDTH | light | dark ...]` writes every tab into
a folder, at every width, light and dark, before the first click and after a run, and presented, and
lessons of every kind. It lists the text that lies on other text or is cut off in any of them, and
exits with 1 if there is some. Both need a Chromium, as the browser tests do.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from app.page import TABS, build_demo, launch
from tests.pages import CROWDED, WIDTHS, each_tab, open_tab, present

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "assets" / "screenshots"
SIZES = {"light": (1440, 960), "dark": (1440, 960), "phone": (390, 844)}
RUN_SECONDS = 300
FILM_SECONDS, FRAME = 20, 0.25
SCHEMES = ("light", "dark")
LESSONS = (0, 3, 4, 5, 7)  # of each kind of picture


def blank(browser: Browser, **options: Any) -> Page:
    """A page that waits for a busy machine."""
    page = browser.new_page(**options)
    page.set_default_timeout(150_000)
    return page


def readme(browser: Browser, url: str) -> None:
    """The pictures of the README and of docs/guide.md."""
    OUT.mkdir(parents=True, exist_ok=True)
    for name, (width, height) in SIZES.items():
        page = blank(browser, viewport={"width": width, "height": height}, reduced_motion="reduce")
        page.goto(url + ("?__theme=dark" if name == "dark" else "?__theme=light"))
        page.wait_for_selector(".sv-svg .node")
        page.mouse.move(5, 5)
        take(page, OUT / f"live-{name}.png")
    page = blank(browser, viewport={"width": 1440, "height": 1000})
    page.goto(url + "?__theme=light")
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_selector("#sv-compare .sv-run .node")
    take(page, OUT / "compare.png")
    page = blank(browser, viewport={"width": 1440, "height": 1180})
    page.goto(url + "?lab=verification&__theme=light")
    page.locator(".sv-v[aria-busy=false] .sv-v-scroll tbody tr").first.wait_for()
    take(page, OUT / "lab.png")
    page = blank(browser, viewport={"width": 1440, "height": 860}, reduced_motion="reduce")
    page.goto(url + "?lesson=trees&__theme=light")
    page.wait_for_selector(".sv-lessons[aria-busy=false]")
    page.get_by_role("button", name="Show me").click()
    take(page, OUT / "lessons.png")


def moving(browser: Browser, url: str) -> None:
    """The moving picture of the README: a step is played, and then the race."""
    page = blank(browser, viewport={"width": 1120, "height": 760})
    page.goto(url + "?__theme=light")
    page.wait_for_selector("#sv-stage .sv-svg .node")
    page.locator("#sv-stage .sv-phases label").first.click()
    frames = [page.screenshot() for _ in film(FILM_SECONDS / 2)]
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_selector("#sv-compare .sv-run .node", state="attached")
    frames += [page.screenshot() for _ in film(FILM_SECONDS / 2)]
    pictures = [Image.open(BytesIO(frame)).resize((840, 570)) for frame in frames]
    pictures[0].save(
        OUT / "moving.webp",
        save_all=True,
        append_images=pictures[1:],
        duration=1000 * FRAME,
        quality=45,
        method=4,
        loop=0,
    )
    page.close()


def film(seconds: float) -> Iterator[None]:
    """Once a frame for some seconds; a frame that comes late is not made up for."""
    for _ in range(round(seconds / FRAME)):
        start = monotonic()
        yield
        sleep(max(0.0, FRAME - (monotonic() - start)))


def take(page: Page, path: Path) -> None:
    """One picture, when the page has come to rest."""
    page.wait_for_timeout(800)
    page.screenshot(path=path)
    print(path)


def every(
    browser: Browser,
    url: str,
    folder: Path,
    widths: tuple[int, ...] = WIDTHS,
    schemes: tuple[str, ...] = SCHEMES,
) -> list[str]:
    """Every tab in a folder; returns what lies on other text or is cut off."""
    folder.mkdir(parents=True, exist_ok=True)
    faults = []

    def shoot(page: Page, name: str) -> None:
        path = folder / f"{name}.png"
        page.screenshot(path=path, full_page=True)
        for fault in page.evaluate(CROWDED):
            faults.append(f"{path.name}: {fault}")
            print(faults[-1], flush=True)

    def shoot_all(page: Page, name: str) -> None:
        for number, title in enumerate(each_tab(page, TABS)):
            shoot(page, f"{name}-{number}-{title.lower().replace(' ', '-')}")

    for scheme in schemes:
        for width in widths:
            page = opened(browser, url, scheme, width)
            shoot_all(page, f"before-{scheme}-{width}")
            open_tab(page, "Lessons")
            for number in LESSONS:
                page.locator(".sv-lessons-list button").nth(number).click()
                page.locator(".sv-lessons[aria-busy=false]").wait_for()
                page.wait_for_timeout(500)
                shoot(page, f"lesson-{scheme}-{width}-{number}")
            page.close()
        page = opened(browser, url, scheme, 1440)
        page.locator("#sv-run").click()
        page.locator("#sv-stage .sv-svg[data-of=run]").wait_for(timeout=RUN_SECONDS * 1000)
        page.locator("#sv-stage .sv-state[data-state=done]").wait_for(
            state="attached", timeout=RUN_SECONDS * 1000
        )
        open_tab(page, "Compare")
        page.locator("#sv-compare-run").click()
        for state in ("visible", "hidden"):  # Stop, while it runs and when it ended
            page.locator("#sv-compare-stop").wait_for(state=state, timeout=RUN_SECONDS * 1000)
        for width in widths:
            page.set_viewport_size(size(width))
            shoot_all(page, f"after-{scheme}-{width}")
        page.set_viewport_size(size(1440))
        for number, title in enumerate(each_tab(page, TABS)):
            present(page)
            page.wait_for_timeout(500)
            shoot(page, f"present-{scheme}-1440-{number}-{title.lower().replace(' ', '-')}")
            present(page)
        page.close()
    return faults


def opened(browser: Browser, url: str, scheme: str, width: int) -> Page:
    """The page as it opens."""
    page = browser.new_page(viewport=size(width), color_scheme=scheme)
    page.set_default_timeout(60_000)
    page.goto(f"{url}?__theme={scheme}")
    page.locator("#sv-stage .sv-svg .node").first.wait_for()
    return page


def size(width: int) -> dict[str, int]:
    """A window of a width."""
    return {"width": width, "height": 844 if width < 700 else 900 if width < 1920 else 1080}


def main(arguments: list[str]) -> int:
    browser_path = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if browser_path is None:
        sys.exit("no Chromium found: install the package chromium first")
    demo, faults = build_demo(), []
    _, url, _ = launch(demo, prevent_thread_lock=True, quiet=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        if arguments:
            widths = tuple(int(one) for one in arguments[1:] if one.isdigit()) or WIDTHS
            schemes = tuple(one for one in arguments[1:] if one in SCHEMES) or SCHEMES
            faults = every(browser, url, Path(arguments[0]), widths, schemes)
        else:
            readme(browser, url)
            moving(browser, url)
        browser.close()
    demo.close()
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
