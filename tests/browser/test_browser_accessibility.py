"""For everyone: large type, and a keyboard that reaches everything; test_every_tab.py has contrast
and what axe-core finds."""

import pytest
from playwright.sync_api import expect

from tests.pages import present, resize

pytestmark = pytest.mark.browser
PAGE = ("Explore",)
# Numbers what can be used in Live, and says how many there are; what lies in a closed menu is not
# there yet.
NUMBER_CONTROLS = """() => {
  const own = '.sv :is(button, [type=range], :checked, select, summary, .sv-svg), #sv-run, ' +
    '#sv-prompt textarea';
  const there = element => element.offsetParent !== null || element instanceof SVGElement;
  const closed = element => element.closest('details:not([open])') && element.tagName !== 'SUMMARY';
  return [...document.querySelectorAll(own)]
    .filter(element => there(element) && !closed(element) && !element.disabled)
    .map((element, i) => { element.dataset.control = i; }).length;
}"""
FOCUSED = """() => {
  const element = document.activeElement, style = getComputedStyle(element);
  const around = element.closest('.sv-canvas, label, .block');
  const ring = parseFloat(style.outlineWidth) > 0 && style.outlineStyle !== 'none';
  const shadow = [element, around].some(box => box && getComputedStyle(box).boxShadow !== 'none');
  const html = element.outerHTML.slice(0, 100);
  return { control: element.dataset.control ?? null, html, seen: ring || shadow };
}"""


def test_the_keyboard_reaches_everything_in_live_and_shows_where_it_is(seen):
    """The first test of the page, which opens with all settings."""
    page = seen
    controls = page.evaluate(NUMBER_CONTROLS)
    reached, unseen = set(), []
    for _ in range(150):
        page.keyboard.press("Tab")
        now = page.evaluate(FOCUSED)
        if now["control"] is not None:
            reached.add(now["control"])
            if not now["seen"]:
                unseen.append(now["html"])
    assert len(reached) == controls
    assert not unseen, unseen


def test_present_is_one_sentence_and_a_tree_that_the_last_row_can_read(seen):
    page = seen
    page.keyboard.press("Escape")  # closes the settings
    resize(page, {"width": 1280, "height": 720})
    small = page.locator("#sv-stage .sv-caption").evaluate("box => getComputedStyle(box).fontSize")
    present(page)
    for part in (".sv-play", ".sv-scrub", ".sv-phases"):
        expect(page.locator(f"#sv-stage {part}")).to_be_hidden()
    expect(page.locator("#sv-stage .sv-where")).to_be_visible()
    sizes = """() => ['.sv-caption', '.sv-ribbon', '.sv-svg .node text'].map(place => {
      const at = document.querySelector('#sv-stage ' + place);
      const scale = at.getScreenCTM ? at.getScreenCTM().a : 1;
      return scale * parseFloat(getComputedStyle(at).fontSize); })"""
    caption, text, label = page.evaluate(sizes)
    assert caption >= 28 and text >= 28 and label >= 24
    room = page.locator("#sv-stage .sv-scroll").bounding_box()
    assert room["width"] * room["height"] > 0.55 * 1280 * 720
    page.keyboard.press("ArrowRight")
    expect(page.locator("#sv-stage .sv-svg")).to_have_attribute("data-phase", "1")
    for leave in (
        lambda: page.keyboard.press("Escape"),
        lambda: present(page),
    ):  # a touch screen has no keys
        leave()
        expect(page.locator("#sv-stage .sv-player")).to_be_visible()
        expect(page.locator("#sv-stage .sv-caption")).to_have_css("font-size", small)
        present(page)
