"""What the browser tests share: Chromium, a served page, a watched visit to it.

They need an installed Chromium or Chrome (`make browser` sees to it). The runs use toy tables; a gate stands where a
slow model would be, so that no test has to wait for time to pass.
"""

import re
import shutil

import pytest

import specviz

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def chromium():
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert path, "the browser tests need Chromium on the PATH: `make browser`, or `apt-get install chromium`"
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def serve():
    """A function that serves the page with a pair and returns its address."""
    from app.page import build_demo, launch

    demos = []

    def start(pair=None, load=None):
        demo = build_demo(load or (lambda: pair or specviz.toy_pair(vocab=12)))
        _, url, _ = launch(demo, prevent_thread_lock=True, quiet=True, server_name="127.0.0.1")
        demos.append(demo)
        return url

    yield start
    for demo in demos:
        demo.close(verbose=False)


@pytest.fixture
def visit(chromium):
    """A function that opens a page and watches it: nothing may leave the machine, nothing may break."""
    contexts, foreign, broken = [], [], []

    def look(request):
        if not re.match(r"(http://127\.0\.0\.1[:/]|data:|blob:)", request.url):
            foreign.append(request.url)

    def open_page(url, width=1400, height=1000, **more):
        context = chromium.new_context(viewport={"width": width, "height": height}, **more)
        contexts.append(context)
        page = context.new_page()
        page.on("request", look)
        page.on("pageerror", lambda error: broken.append(str(error)))
        page.on("dialog", lambda dialog: broken.append(dialog.message))
        page.goto(url)
        page.locator(".sv-svg .node").first.wait_for(timeout=30_000)
        return page

    yield open_page
    hacked = [page.evaluate("window.hacked") for context in contexts for page in context.pages]
    for context in contexts:
        context.close()
    assert not foreign, foreign
    assert not broken, broken
    assert not any(hacked)


@pytest.fixture
def step_by_step(monkeypatch):
    """Steps are not grouped by time, so that a gate decides how many of them are on the page."""
    from app import live

    monkeypatch.setattr(live, "paced", lambda steps: ([step] for step in steps))
