"""No text lies on other text or is cut off: every page of every tab, at every width, in both themes, and presented."""

from pathlib import Path

import pytest
from pages import open_tab
from playwright.sync_api import expect

from app.page import TABS

pytestmark = pytest.mark.browser
SEARCH = (Path(__file__).parents[1] / "crowded.js").read_text("utf-8")
WIDTHS = (390, 768, 1280, 1440, 1920)
# The first of these meet every page, every width and both themes; the rest come with `make exhaustive`.
SAMPLE = [("light", 390), ("light", 1440), ("dark", 768)]
CASES = [
    pytest.param(scheme, width, marks=() if (scheme, width) in SAMPLE else pytest.mark.exhaustive)
    for scheme in ("light", "dark")
    for width in WIDTHS
]
READY = {
    "Explore": "#sv-stage .sv-svg .node", "Compare": "#sv-compare .node", "Lessons": "#sv-lessons .sv-svg .node",
    "Papers": ".sv-papers[aria-busy=false]", "Tree lab": "#sv-lab svg", "Verification lab": ".sv-v[aria-busy=false]",
    "Lecture": ".sv-lecture", "Race": ".sv-r[aria-busy=false]", "Sender and receiver": ".sv-c[aria-busy=false]",
}  # fmt: skip


def shown(page, tab, part):
    open_tab(page, tab.title, part.title if tab.pages else None)
    page.locator(READY.get(part.title, ".js-plotly-plot .main-svg")).locator("visible=true").first.wait_for()
    page.wait_for_timeout(500)  # figures and pictures follow their frames a moment later


def faults(page, only=None):
    return {
        part.title: found
        for tab in TABS
        for part in tab.parts
        if only is None or part.title in only
        if shown(page, tab, part) is None and (found := page.evaluate(SEARCH))
    }


@pytest.mark.parametrize(("scheme", "width"), CASES)
def test_no_text_lies_on_text_or_is_cut_off(serve, visit, scheme, width):
    page = visit(f"{serve()}?__theme={scheme}", width=width, height=900, color_scheme=scheme)
    assert faults(page) == {}


def test_nothing_overflows_while_presenting(serve, visit):
    page = visit(serve(), width=1440, height=900)
    page.locator(".sv-present-button").click()
    expect(page.locator("html")).to_have_class("sv-present")
    assert faults(page) == {}


def test_the_search_would_find_both(serve, visit):
    page = visit(serve())
    assert not [fault for fault in page.evaluate(SEARCH) if "moved here" in fault]
    page.evaluate("""() => document.body.insertAdjacentHTML('beforeend',
      '<div style="position: absolute; top: 200px; left: 300px"><p style="margin: 0">moved here once</p>' +
      '<p style="margin: -1em 0 0">moved here twice</p><p style="width: 3em; overflow: hidden; white-space: nowrap">' +
      'moved here and cut</p></div>')""")
    found = [fault for fault in page.evaluate(SEARCH) if "moved here" in fault]
    assert {fault.split(":")[0] for fault in found} == {"cut off by p", "on one another"}, found
