"""No text lies on other text or is cut off: every page of every tab, at every width, in both themes, and presented."""

import re

import pytest
from pages import CROWDED, WIDTHS, crowded, each_part
from playwright.sync_api import expect

from app.page import TABS

pytestmark = pytest.mark.browser
# The first of these meet every page, every width and both themes; the rest come with `make nightly`.
SAMPLE = [("light", 390), ("light", 1440), ("dark", 768)]
CASES = [
    pytest.param(scheme, width, marks=() if (scheme, width) in SAMPLE else pytest.mark.nightly)
    for scheme in ("light", "dark")
    for width in WIDTHS
]


@pytest.mark.parametrize(("scheme", "width"), CASES)
def test_no_text_lies_on_text_or_is_cut_off(serve, visit, scheme, width):
    page = visit(f"{serve()}?__theme={scheme}", width=width, height=900, color_scheme=scheme)
    assert crowded(page, TABS) == {}


def test_nothing_overflows_while_presenting(serve, visit):
    page = visit(serve(), width=1440, height=900)
    faults = {}
    for title in each_part(page, TABS):  # the tabs are hidden while presenting
        page.locator(".sv-present-button").click()
        expect(page.locator("html")).to_have_class("sv-present")
        tabs = re.compile(r"cut off by button\.svelte")  # which are hidden by cutting them off
        faults[title] = [fault for fault in page.evaluate(CROWDED) if not tabs.match(fault)]
        page.keyboard.press("Escape")
        expect(page.locator("html")).not_to_have_class("sv-present")
    assert not any(faults.values()), faults


def test_the_search_would_find_both(serve, visit):
    page = visit(serve())
    assert not [fault for fault in page.evaluate(CROWDED) if "moved here" in fault]
    page.evaluate("""() => document.body.insertAdjacentHTML('beforeend',
      '<div style="position: absolute; top: 200px; left: 300px"><p style="margin: 0">moved here once</p>' +
      '<p style="margin: -1em 0 0">moved here twice</p><p style="width: 3em; overflow: hidden; white-space: nowrap">' +
      'moved here and cut</p></div>')""")
    found = [fault for fault in page.evaluate(CROWDED) if "moved here" in fault]
    assert {fault.split(":")[0] for fault in found} == {"cut off by p", "on one another"}, found
