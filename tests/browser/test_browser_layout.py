"""No text lies on other text or is cut off: every tab, wide and narrow, and presented; at night at
every width, in both themes, with all lessons."""

import pytest
from playwright.sync_api import expect

from app.page import TABS
from tests.pages import CROWDED, WIDTHS, Gated, crowded, each_tab, open_tab, present, state

pytestmark = pytest.mark.browser
WIDE, NARROW = ({"width": width, "height": 900} for width in (1440, 390))
SETTINGS = "#sv-settings-opener button"


def each_lesson(page):
    """Every lesson, and its last picture, in turn; yields their titles."""
    open_tab(page, "Lessons")
    for button in page.locator(".sv-lessons-list button").all():
        button.click()
        page.locator(".sv-lessons[aria-busy=false]").wait_for()
        yield button.inner_text()
        for picture in page.locator(".sv-lesson-pictures button:visible").all()[-1:]:
            picture.click()
            yield f"{button.inner_text()}, last picture"


def presented(page):
    """What is crowded while a page is presented."""
    present(page)
    expect(page.locator("html")).to_have_class("sv-present")
    faults = crowded(page, 5)
    page.keyboard.press("Escape")
    expect(page.locator("html")).not_to_have_class("sv-present")
    return faults


def resize(page, size):
    """Another window, in which trees and figures follow their frames a moment later."""
    page.set_viewport_size(size)
    page.evaluate("new Promise(then => requestAnimationFrame(() => requestAnimationFrame(then)))")


def test_no_text_of_a_tab_is_crowded_in_a_wide_and_a_narrow_window(serve, visit):
    page = visit(serve(), **WIDE)
    faults = {}
    for title in each_tab(page, TABS):
        faults[title] = crowded(page)
        if title == "Explore":
            faults["presented"] = presented(page)
            page.locator(SETTINGS).click()  # below, the drawer would lie over the page
        resize(page, NARROW)
        faults[f"{title}, narrow"] = crowded(page)
        resize(page, WIDE)
    assert not any(faults.values()), faults


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_no_text_lies_on_text_or_is_cut_off(serve, visit, scheme, width):
    page = visit(
        f"{serve()}?__theme={scheme}",
        width=width,
        height=900,
        color_scheme=scheme,
        settings=width >= 1100,  # below, the drawer lies over the page
    )
    faults = {}
    for title in each_tab(page, TABS):
        faults[title] = crowded(page)
        if width == WIDE["width"]:
            faults[title] += presented(page)
    faults |= {title: crowded(page) for title in each_lesson(page)}
    assert not any(faults.values()), faults


@pytest.mark.nightly
def test_no_text_is_crowded_after_runs(serve, visit):
    page = visit(serve(Gated()), settings=False)
    page.locator("#sv-run").click()
    state(page, "done")
    open_tab(page, "Compare")
    page.locator("#sv-compare-run").click()
    for visibility in ("visible", "hidden"):  # of Stop, while it runs and when it ended
        page.locator("#sv-compare-stop").wait_for(state=visibility, timeout=60_000)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for title in each_tab(page, TABS[:2]):
            assert crowded(page) == [], (title, width)


def test_the_search_would_find_both(serve, visit):
    page = visit(serve())
    assert not [fault for fault in page.evaluate(CROWDED) if "moved here" in fault]
    page.evaluate("""() => document.body.insertAdjacentHTML('beforeend',
      '<div style="position: absolute; top: 200px; left: 300px">' +
      '<p style="margin: 0">moved here once</p>' +
      '<p style="margin: -1em 0 0">moved here twice</p>' +
      '<p style="width: 3em; overflow: hidden; white-space: nowrap">' +
      'moved here and cut</p></div>')""")
    found = [fault for fault in page.evaluate(CROWDED) if "moved here" in fault]
    assert {fault.split(":")[0] for fault in found} == {"cut off by p", "on one another"}, found
