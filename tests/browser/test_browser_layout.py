"""No text lies on other text or is cut off at any width, in both themes, with all lessons and after
runs; by day test_every_tab.py looks at two widths."""

import pytest

from app.page import TABS
from tests.pages import WIDTHS, Gated, crowded, each_tab, open_tab, presented, state

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


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
        if width == 1440:
            faults[title] += presented(page)
    faults |= {title: crowded(page) for title in each_lesson(page)}
    assert not any(faults.values()), faults


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
