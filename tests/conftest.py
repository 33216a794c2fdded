"""What the browser tests share: Chromium, Firefox, a served page, a watched visit to it.

They need an installed Chromium or Chrome, and a few an installed Firefox (`make browser` sees to
both). The runs use toy tables; a gate stands where a slow model would be, so that no test has to
wait for time to pass.
"""

import gc
import os
import re
import shutil
import socket
import sys
import time
from contextlib import contextmanager
from functools import cache

import pytest

from tests import compiling

if (
    "PYTEST_XDIST_WORKER" in os.environ
):  # workers share the cores; torch reads this when it is imported
    os.environ.setdefault("OMP_NUM_THREADS", "1")
compiling.keep_in_one_folder()
# Gradio looks for a free port from here on. Workers must not find the same one: whoever loses it
# tries all others in vain, five seconds each, since an app that is a tool for agents too can be
# started only once.
with socket.create_server(("127.0.0.1", 0)) as free:
    os.environ["GRADIO_SERVER_PORT"] = str(free.getsockname()[1])

# A served page would prepare SmolLM2 in the background, beside every test. Tests of that say so.
os.environ.setdefault("SPECVIZ_PREPARE", "0")

CLIPBOARD = ["clipboard-read", "clipboard-write"]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Two pages of its own, in the menu of an address bar that nobody sees, took a quarter of the
    # time to open one here. A second list of features replaces playwright's, so what matters of
    # that is in this one as well.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,AvoidUnnecessaryBeforeUnloadCheckSync,"
    "DestroyProfileOnBrowserClose,HttpsUpgrades,MediaRouter,OptimizationHints,Translate",
]
# Gradio's sign of a page that loads counts seconds, sixty times each, for as long as the page is
# open: a twentieth of a core for each worker.
UNTIMED = """{
  const next = requestAnimationFrame;
  window.requestAnimationFrame = work => `${work}`.includes('performance.now()-') ? 0 : next(work);
}"""


@pytest.fixture(scope="session")
def playwright():
    from playwright import sync_api  # the other tests load no browser's driver

    sync_api.expect.set_options(timeout=30_000)
    with sync_api.sync_playwright() as playwright:
        yield playwright


def installed(*names):
    return next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def chromium(playwright):
    path = installed("chromium", "chromium-browser", "google-chrome")
    assert path, (
        "the browser tests need Chromium on the PATH: `make browser`, or `apt-get install chromium`"
    )
    browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def firefox(playwright):
    """The system's own Firefox over WebDriver BiDi, which is what playwright's channel
    `moz-firefox` speaks."""
    path = installed("firefox-esr", "firefox")
    if not path:
        pytest.skip("no Firefox on the PATH: `make browser`, or `apt-get install firefox-esr`")
    browser = playwright.firefox.launch(
        channel="moz-firefox", executable_path=path, timeout=120_000
    )
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium):
    """Where `visit` opens pages; a file of tests may choose another."""
    return chromium


# A browser that was too slow to show something on a busy machine is asked again, and listed;
# nothing else is.
POLICY = re.compile(r"Content.Security.Policy")  # what a browser says of what that forbids
HERE = re.compile(r"(http://127\.0\.0\.1[:/]|data:|blob:)")
SLOW = [r"Timeout \d+ms exceeded", r"with timeout \d+ms"]


def pytest_collection_modifyitems(config, items):
    # Browser tests wait, while other workers compute; of the rest the long files come first, so
    # that workers end together.
    order = ("browser", "adapter")
    items.sort(key=lambda item: [item.get_closest_marker(name) is None for name in order])
    if "nightly" not in config.option.markexpr:  # `make nightly` asks for them by name
        left = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    for item in items:
        if item.get_closest_marker("browser") and config.pluginmanager.hasplugin("rerunfailures"):
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun=SLOW))


def pytest_configure(config):
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(compiling.Compiler())


imported = 0
gc.disable()  # while libraries are imported, of which nothing is garbage


def pytest_collection_finish():
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """What libraries bring with them lives as long as the process. A collection, as the service
    asks for at each pair, would go through all of it for half a second."""
    global imported
    if len(sys.modules) > imported + 20:
        imported = len(sys.modules)
        gc.collect()
        gc.freeze()


def pytest_runtest_teardown(item):
    """What was judged while a test changed a rule or a drafter must not reach the next test."""
    if "monkeypatch" not in item.fixturenames:
        return
    verdicts = {"specviz.config.run_config": "compatible", "app.tabs.explore": "_verdict"}
    for module, name in verdicts.items():
        if module in sys.modules:
            getattr(sys.modules[module], name).cache_clear()


class Site:
    """A served page whose pair can be changed, since building a page takes longer than most tests.

    Args:
        tabs: titles of the tabs it has; None for all.
    """

    def __init__(self, tabs=None):
        from gradio import networking

        from app.page import TABS, build_demo, launch

        self.load = None
        self.demo = build_demo(
            lambda: self.load(), [tab for tab in TABS if tabs is None or tab.title in tabs]
        )
        self.service = self.demo.service
        self.process = self.service.requests.process
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                networking, "url_ok", lambda url: True
            )  # it gives up early; the browser waits longer
            _, self.url, _ = launch(self.demo, server_name="127.0.0.1")

    def idle(self):
        """Whether nothing is left of the test before, in the line or on the machine; it may be
        leaving just now."""
        from tests.loops import is_busy, is_idle

        end = time.monotonic() + 5
        while is_busy(self.service) or not is_idle(self.demo):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def take(self, pair=None, apart=True):
        """Serve a pair, None for one that must not be loaded; returns the address.

        What is no run, such as a lab or a file, is computed apart, in the page's other process, or
        beside the page. That process takes seconds to start and makes way for all that computes:
        beside other tests a browser waits for it too long.
        """
        from tests.loops import SameProcess

        def load():
            assert pair, "a model was loaded"
            return pair

        self.load = load
        self.service.requests.process = self.process if apart else SameProcess()
        self.service.pairs._loaded.clear()
        return self.url


@pytest.fixture(scope="session")
def sites():
    """The pages that tests share, by their tabs; each worker has its own."""
    kept = {}
    yield kept
    for site in kept.values():
        site.demo.close(verbose=False)


@pytest.fixture
def serve(sites, request):
    """A function that serves the page with a pair, or with none that may be loaded, and returns its
    address.

    A test that changes the program (it takes `monkeypatch`), or serves a second page, gets one of
    its own. A file whose tests are about few tabs names them in `PAGE`: it then has no others, and
    opens in half of the time.
    """
    own, shared = [], "monkeypatch" not in request.fixturenames
    apart = request.node.get_closest_marker("browser") is None
    tabs = getattr(request.module, "PAGE", None)

    def start(pair=None):
        nonlocal shared
        if shared:
            shared = False
            if tabs in sites and not sites[tabs].idle():
                sites.pop(tabs).demo.close(verbose=False)
            if tabs not in sites:
                sites[tabs] = Site(tabs)
            return sites[tabs].take(pair, apart)
        site = Site(tabs)
        own.append(site)
        return site.take(pair, apart)

    yield start
    for site in own:
        site.demo.close(verbose=False)


@pytest.fixture(scope="session")
def visitor():
    """A function that returns one of a browser's visitors who have been here before, and the empty
    pages that he left open."""

    @cache
    def known(browser, number):
        chromium = browser.browser_type.name == "chromium"  # others know no such permissions
        context = browser.new_context(permissions=CLIPBOARD if chromium else [])
        context.add_init_script(UNTIMED)
        return context, []

    return known


@contextmanager
def visits(browser, visitor):
    """A function that opens a page and watches it: nothing may leave the machine, nothing may
    break.

    Each page of a test belongs to another visitor, who was here before: he has the files but
    remembers nothing of the page. It was open before, which saves a third of the time. Nothing
    moves, unless a test is about motion; all settings of Explore are unfolded, unless it asks for
    the page as it opens.
    """
    pages, foreign, broken = [], [], []
    watches = {
        "request": lambda request: HERE.match(request.url) or foreign.append(request.url),
        "pageerror": lambda error: broken.append(str(error)),
        "dialog": lambda dialog: broken.append(dialog.message),
        "console": lambda said: POLICY.search(said.text) and broken.append(said.text),
    }

    def open_page(
        url,
        width=1400,
        height=1000,
        ready=".sv-svg .node",
        color_scheme="light",
        reduced_motion="reduce",
        settings=True,
    ):
        context, left = visitor(browser, len(pages))
        context.set_default_timeout(120_000)  # of a machine that is busy with something else
        page = left.pop() if left else context.new_page()
        pages.append(page)
        page.bring_to_front()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=color_scheme, reduced_motion=reduced_motion)
        for event, watch in watches.items():
            page.on(event, watch)
        page.goto(url)
        page.locator(ready).first.wait_for()
        if settings:
            page.evaluate("document.querySelector('#sv-settings-opener button')?.click()")
        return page

    yield open_page
    hacked = [page.evaluate("window.hacked") for page in pages if not page.is_closed()]
    for number, page in enumerate(pages):
        if not page.is_closed():
            page.evaluate("localStorage.clear(); sessionStorage.clear()")
            for event, watch in watches.items():
                page.remove_listener(event, watch)
            page.unroute_all()
            page.mouse.move(0, 0)
            page.goto("about:blank")
            visitor(browser, number)[1].append(page)
    assert not foreign, foreign
    assert not broken, broken
    assert not any(hacked)


@pytest.fixture
def visit(browser, visitor):
    with visits(browser, visitor) as open_page:
        yield open_page


@pytest.fixture(scope="module")
def shared_page(sites, chromium, visitor, request):
    """A page of the tabs of `PAGE`, opened by the link `LINK` until there is what `READY`
    selects."""
    page = request.module
    if page.PAGE not in sites:
        sites[page.PAGE] = Site(page.PAGE)
    with visits(chromium, visitor) as open_page:
        ready = getattr(page, "READY", ".sv-svg .node")
        yield open_page(sites[page.PAGE].take(apart=False) + getattr(page, "LINK", ""), ready=ready)


@pytest.fixture
def seen(shared_page):
    """A page that tests of one file share and only look at. The file puts it back in between."""
    shared_page.bring_to_front()  # behind another one it draws a frame in a second
    return shared_page


@pytest.fixture
def step_by_step():
    """The first steps of a run are sent one by one, so that a gate decides how many of them are on
    the page, which may be shared; the others are grouped by time as always."""
    from itertools import islice

    from app.service.decoding import batches
    from app.tabs.compare import messages as compare
    from app.tabs.explore import messages as explore

    def due(steps):
        steps = iter(steps)
        for step in islice(steps, 4):
            yield [step]
        yield from batches(steps)

    with pytest.MonkeyPatch.context() as patch:
        for messages in (compare, explore):
            patch.setattr(messages, "batches", due)
        yield
