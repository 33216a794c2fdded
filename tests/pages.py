"""Helpers of the browser tests: a pair behind a gate, and what a page says of itself."""

import re
import threading
import time
from pathlib import Path

from playwright.sync_api import expect

import specviz
from specviz.view.offline import offline_page

WIDTHS = (390, 768, 1280, 1440, 1920)
CROWDED = (Path(__file__).parent / "crowded.js").read_text("utf-8")
STAGE = "#sv-stage"
HOSTILE = [
    "<img src=x onerror=window.hacked=1>",
    "${window.hacked=1}",
    "{{window.hacked=1}}",
    "`+(window.hacked=1)+`",
    "\n",
    " ",
    "</script><script>window.hacked=1</script>",
    "\u202eabc\x00",
    "'\"&lt;",
    "\t",
    "é漢🌳",
    "javascript:window.hacked=1",
]
READY = {
    "Explore": "#sv-stage .sv-svg .node",
    "Compare": "#sv-compare .node",
    "Lessons": "#sv-lessons .sv-svg .node",
    "Tree lab": "#sv-lab svg",
    "Verification lab": ".sv-v[aria-busy=false]",
}


class Gated:
    """A toy pair whose target waits for a permit before every pass.

    Args:
        permits: how many passes may be made at once.
        pieces: what tokens look like.
        fail_at: the pass at which the target breaks.
    """

    def __init__(self, permits=10**6, pieces=None, fail_at=None):
        self.toy, self.pieces, self.fail_at = specviz.toy_pair(vocab=12), pieces, fail_at
        self.gate, self.passes = threading.Semaphore(permits), 0

    def __getattr__(self, name):
        return getattr(self.toy, name)

    def token_text(self, token):
        return self.pieces[token] if self.pieces else self.toy.token_text(token)

    def stream(self, context):
        return self.token_text

    def open(self, tokens):
        target, draft = self.toy.open(tokens)
        forward = target.forward

        def gated(tree, nodes):
            assert self.gate.acquire(timeout=300)
            self.passes += 1
            if self.passes == self.fail_at:
                raise RuntimeError("the target broke")
            return forward(tree, nodes)

        target.forward = gated
        return target, draft


def state(page, name):
    expect(page.locator(f"{STAGE} .sv-svg")).to_have_attribute("data-of", "run", timeout=30_000)
    expect(page.locator(f"{STAGE} .sv-state")).to_have_attribute("data-state", name, timeout=60_000)


def steps(page):
    return int(page.locator(".sv-player .sv-scrub").first.get_attribute("max")) + 1


def counts_add_up(page):
    """The legend counts every node of the tree but its root."""
    counts = page.locator(".sv-legend [data-outcome]:not([hidden]) b").all_inner_texts()
    assert sum(map(int, counts)) + 1 == int(
        page.locator(".sv-svg").first.get_attribute("data-nodes")
    )


def choose(page, menu, option):
    """Choose by title in a strategy picker, whatever mark the choice carries."""
    box = page.get_by_role("combobox", name=menu, exact=True)
    expect(box.locator("option").first).to_be_attached()
    titles = box.locator("option").all_inner_texts()
    box.select_option(
        index=next(i for i, title in enumerate(titles) if re.split(" [✕≠!]", title)[0] == option)
    )


def offline(page, folder, pair=None, **config):
    """Open a run as a page of its own, without a server; its steps as they were decoded."""
    config = specviz.RunConfig(**{"prompt": "abc", "max_new_tokens": 30} | config)
    trace = specviz.run(pair or specviz.toy_pair(vocab=12), config)
    path = folder / "run.html"
    path.write_text(offline_page(trace), encoding="utf-8")
    page.goto(path.as_uri())
    page.locator(".sv-svg .node").first.wait_for()
    return trace.steps


def present(page):
    """Present the page, or stop presenting it."""
    page.locator(".sv-present-button").click()


def open_tab(page, title):
    """Open a tab."""
    tab = page.get_by_role("tab", name=title, exact=True)
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")


def crowded(page, seconds=20):
    """The faults of a page once it has settled: figures and trees follow their frames a moment
    later, on a busy machine a few seconds."""
    end = time.monotonic() + seconds
    while (faults := page.evaluate(CROWDED)) and time.monotonic() < end:
        page.wait_for_timeout(500)
    return faults


def each_tab(page, tabs):
    """Show every tab in turn; yields their titles."""
    for tab in tabs:
        open_tab(page, tab.title)
        page.locator(READY.get(tab.title, ".js-plotly-plot .main-svg")).locator(
            "visible=true"
        ).first.wait_for()
        page.wait_for_timeout(500)  # figures and pictures follow their frames a moment later
        yield tab.title


def presented(page):
    """What is crowded while a page is presented."""
    present(page)
    expect(page.locator("html")).to_have_id("sv-present")
    faults = crowded(page, 5)
    page.keyboard.press("Escape")
    expect(page.locator("html")).not_to_have_id("sv-present")
    return faults


def resize(page, size):
    """Another window, in which trees and figures follow their frames a moment later."""
    page.set_viewport_size(size)
    page.evaluate("new Promise(then => requestAnimationFrame(() => requestAnimationFrame(then)))")


def save(page, kind, folder):
    """Choose an entry of the menu; the file that it saves."""
    page.locator(f"{STAGE} .sv-save summary").click()
    with page.expect_download() as download:
        page.locator(f"{STAGE} [data-save={kind}]").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def open_file(page, path):
    page.locator(f"{STAGE} .sv-open-file").set_input_files(str(path))


def to_step(page, index):
    page.locator(".sv-scrub").fill(str(index))
    expect(page.locator(".sv-svg")).to_have_attribute("data-step", str(index))
