"""For everyone: axe-core on every tab in light and dark, large type, and a keyboard that reaches everything."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from pages import open_tab
from playwright.sync_api import expect

from app.page import TABS

pytestmark = pytest.mark.browser
# What gradio's own widgets fail of axe's serious and critical rules, by rule. Nothing at present.
GRADIO = {}
FIGURES = "Measure"
STILL = "* { transition: none !important; }"  # a colour that is still fading has the wrong contrast
# Numbers what can be used in Live, and says how many there are; what lies in a closed menu is not there yet.
WANTED = """() => {
  const own = '.sv button, .sv input, .sv select, .sv summary, .sv-svg, #sv-run, #sv-prompt textarea';
  const there = element => element.offsetParent !== null || element instanceof SVGElement;
  const closed = element => element.closest('details:not([open])') && element.tagName !== 'SUMMARY';
  return [...document.querySelectorAll(own)].filter(element => there(element) && !closed(element) && !element.disabled)
    .map((element, i) => { element.dataset.wanted = i; }).length;
}"""
FOCUSED = """() => {
  const element = document.activeElement, style = getComputedStyle(element);
  const around = element.closest('.sv-canvas, label, .block');
  const ring = parseFloat(style.outlineWidth) > 0 && style.outlineStyle !== 'none';
  const shadow = [element, around].some(box => box && getComputedStyle(box).boxShadow !== 'none');
  return { wanted: element.dataset.wanted ?? null, html: element.outerHTML.slice(0, 100), seen: ring || shadow };
}"""


def look_at(page, name, scheme="light"):
    """Everything serious that axe finds on the page as it is, as (rule, place, markup); in the dark of colours only."""

    page.mouse.move(0, 0)  # a tab that is pointed at has another colour
    page.add_style_tag(content=STILL)
    page.wait_for_timeout(100)
    # Thousands of marks within figures, which say nothing of their own to axe; what surrounds them stays.
    page.evaluate("document.querySelectorAll('.js-plotly-plot .main-svg').forEach(svg => svg.replaceChildren())")
    rules = {"runOnly": ["color-contrast", "link-in-text-block"]} if scheme == "dark" else {}
    found = Axe().run(page, options={"resultTypes": ["violations"]} | rules).response["violations"]
    return [
        (name, rule["id"], node["target"], node["any"][0]["message"] if node["any"] else "", scheme, node["html"][:120])
        for rule in found
        if rule["impact"] in ("serious", "critical") and rule["id"] not in GRADIO
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.title)
def test_no_tab_has_a_serious_fault_with_its_folds_open(tab, serve, visit):
    page = visit(serve())
    wrong = []
    for part in tab.parts:
        open_tab(page, tab.title, tab.pages and part.title)
        if tab.title == FIGURES:
            page.locator(".js-plotly-plot .main-svg:visible").first.wait_for(timeout=30_000)
            for fold in page.locator(".sv-fold:visible > button").all():
                fold.click()
        # Gradio's own placeholder of a figure has a fault; it goes when the figure is drawn.
        expect(page.locator("[aria-label='Empty value']:visible")).to_have_count(0, timeout=30_000)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            expect(page.locator("body")).to_have_class("dark" if scheme == "dark" else "")
            wrong += look_at(page, part.title, scheme)
        # axe goes through all that was ever shown, so what has been looked at goes.
        page.evaluate("document.querySelectorAll('[role=tabpanel] svg').forEach(svg => svg.replaceChildren())")
        page.emulate_media(color_scheme="light")
    assert not wrong, "\n".join(map(str, wrong))


def test_axe_would_notice(serve, visit):
    page = visit(serve())
    page.evaluate("document.querySelector('.sv-why').style.color = '#ccc'; document.querySelector('.sv-play').remove()")
    page.evaluate("document.querySelector('.sv-scrub').removeAttribute('aria-label')")
    rules = {rule for _, rule, *_ in look_at(page, "Explore")}
    assert {"label", "color-contrast"} <= rules
    assert {rule for _, rule, *_ in look_at(page, "Explore", "dark")} == {"color-contrast"}


def test_present_grows_the_type_leaves_out_the_controls_and_ends_with_escape(serve, visit):
    page = visit(serve(), width=1440, height=900)
    measure = """() => ['.sv-ribbon', '.sv-svg .node text', '.sv-where'].map(
      place => parseFloat(getComputedStyle(document.querySelector('#sv-stage ' + place)).fontSize))"""
    small = page.evaluate(measure)
    button = page.locator(".sv-present-button")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.wait_for_function(f"() => ({measure})().every((size, i) => size > 1.1 * {small}[i])")
    expect(page.locator("footer")).to_be_hidden()
    expect(page.locator(".sv-rail:visible")).to_have_count(0)
    before = page.locator("#sv-stage .sv-svg").get_attribute("data-step")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#sv-stage .sv-svg")).not_to_have_attribute("data-step", before)
    page.keyboard.press("Space")
    expect(page.locator("#sv-stage .sv-play")).to_have_accessible_name("pause")
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#sv-stage .sv-ribbon")).to_have_css("font-size", f"{small[0]}px")


def test_all_tabs_fit_on_a_phone(serve, visit):
    page = visit(serve(), width=360, height=844)
    for tab in TABS:
        expect(page.get_by_role("tab", name=tab.title, exact=True)).to_be_visible()


def test_the_keyboard_reaches_everything_in_live_and_shows_where_it_is(serve, visit):
    page = visit(serve())
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
