"""For everyone: large type, contrast in light and dark, and a keyboard that reaches everything;
test_every_tab.py has what axe-core finds."""

import pytest
from playwright.sync_api import expect

from app.page import TABS
from tests.pages import each_tab, open_tab, present, resize

pytestmark = pytest.mark.browser
PAGE = None  # all tabs
# Numbers what can be used in Live, and says how many there are; what lies in a closed menu is not
# there yet.
WANTED = """() => {
  const own = '.sv :is(button, [type=range], :checked, select, summary, .sv-svg), #sv-run, ' +
    '#sv-prompt textarea';
  const there = element => element.offsetParent !== null || element instanceof SVGElement;
  const closed = element => element.closest('details:not([open])') && element.tagName !== 'SUMMARY';
  return [...document.querySelectorAll(own)]
    .filter(element => there(element) && !closed(element) && !element.disabled)
    .map((element, i) => { element.dataset.wanted = i; }).length;
}"""
FOCUSED = """() => {
  const element = document.activeElement, style = getComputedStyle(element);
  const around = element.closest('.sv-canvas, label, .block');
  const ring = parseFloat(style.outlineWidth) > 0 && style.outlineStyle !== 'none';
  const shadow = [element, around].some(box => box && getComputedStyle(box).boxShadow !== 'none');
  const html = element.outerHTML.slice(0, 100);
  return { wanted: element.dataset.wanted ?? null, html, seen: ring || shadow };
}"""


def test_the_keyboard_reaches_everything_in_live_and_shows_where_it_is(seen):
    """The first test of the page, which opens with all settings."""
    page = seen
    wanted = page.evaluate(WANTED)
    reached, unseen = set(), []
    for _ in range(150):
        page.keyboard.press("Tab")
        now = page.evaluate(FOCUSED)
        if now["wanted"] is not None:
            reached.add(now["wanted"])
            if not now["seen"]:
                unseen.append(now["html"])
    assert len(reached) == wanted
    assert not unseen, unseen


@pytest.fixture
def page(seen):
    """The page that the others share, as it opens, in a small window."""
    for _ in range(3):  # what is presented, the settings, a part of the step
        seen.keyboard.press("Escape")
    expect(seen.locator("#sv-settings")).to_be_hidden()
    open_tab(seen, "Explore")
    resize(seen, {"width": 1280, "height": 720})
    return seen


def test_present_is_one_sentence_and_a_tree_that_the_last_row_can_read(page):
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


SHOWN = {  # what each tab presents
    "Explore": "#sv-stage .sv-scroll",
    "Compare": "#sv-compare .sv-chart",
    "Lessons": "#sv-lessons .sv-scroll",
    "Tree lab": ".sv-lab-cards",
    "Verification lab": ".sv-v-bench",
    "Measure": ".sv-figure:first-child .sv-plot",
}


@pytest.mark.parametrize(
    ("width", "height"), [(1280, 720), pytest.param(1920, 1080, marks=pytest.mark.nightly)]
)
def test_what_a_tab_presents_is_on_the_screen_and_nothing_of_the_frame(page, width, height):
    resize(page, {"width": width, "height": height})
    for title in each_tab(page, TABS):
        present(page)
        page.mouse.move(width / 2, height / 2)
        expect(page.locator(".tab-wrapper")).to_have_css("opacity", "0")
        picture = page.locator(SHOWN[title]).locator("visible=true").first
        expect(picture).to_be_in_viewport(ratio=0.99)
        assert picture.bounding_box()["width"] > 0.5 * width, title
        present(page)


def test_tabs_can_be_changed_while_presenting(page):
    present(page)
    for title in ("Compare", "Explore"):
        page.locator(".sv-view summary").hover()
        expect(page.locator(".tab-wrapper")).to_have_css("opacity", "1")
        page.get_by_role("tab", name=title, exact=True).click()
        expect(page.locator(SHOWN[title])).to_be_in_viewport(ratio=0.99)
        page.mouse.move(400, 400)
        expect(page.locator(".tab-wrapper")).to_have_css("opacity", "0")
    for _ in range(9):  # the keyboard comes there as well
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "tab":
            break
    expect(page.locator(".tab-wrapper")).to_have_css("opacity", "1")
    expect(page.locator("html")).to_have_id("sv-present")


CONTRAST = """() => {
  const light = color => {
    const parts = color.match(/[\\d.]+/g).slice(0, 3).map(part => part / 255);
    const [r, g, b] = parts.map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const canvas = document.querySelector('#sv-stage .sv-canvas');
  const paper = getComputedStyle(canvas).backgroundColor;
  const marks = ['.edge.unreached', '.node.unreached .shape'].map(place => {
    const { stroke, strokeOpacity } = getComputedStyle(canvas.querySelector('.sv-svg ' + place));
    const [mark, under] = [stroke, paper].map(color => color.match(/[\\d.]+/g).slice(0, 3));
    const mixed = mark.map((c, i) => strokeOpacity * c + (1 - strokeOpacity) * under[i]);
    return `rgb(${mixed.join()})`;
  });
  return marks.map(mark => {
    const [low, high] = [light(mark), light(paper)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  });
}"""


def test_on_a_phone_and_at_night_all_tabs_and_what_was_not_visited_can_be_seen(page):
    resize(page, {"width": 360, "height": 844})
    for tab in TABS:
        expect(page.get_by_role("tab", name=tab.title, exact=True)).to_be_visible()
    page.locator("#sv-stage .sv-svg .edge.unreached").first.wait_for(state="attached")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        expect(page.locator("body")).to_have_class("dark" if scheme == "dark" else "")
        assert min(page.evaluate(CONTRAST)) >= 3, scheme
    page.emulate_media(color_scheme="light")
