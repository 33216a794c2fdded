"""The labs in headless Chromium: numbers that a visitor sets, keys, links, a phone. No model is
loaded."""

import re

import pytest
from playwright.sync_api import expect

from tests.pages import open_tab, present, resize

pytestmark = pytest.mark.browser
PAGE = ("Explore", "Tree lab", "Verification lab")
LINK = "?lab=tree"
TREES, NODE = ".sv-lab[aria-busy=false]", ".sv-v[aria-busy=false]"
READY = TREES


@pytest.fixture
def lab(serve, visit):
    """A function that opens a page of the Lab by a link."""
    url = serve()
    return lambda link, ready, **more: visit(f"{url}?{link}", ready=ready, **more)


@pytest.fixture
def page(seen):
    """The page that some of these share; the first of them look at what it opens with."""
    seen.keyboard.press("Escape")  # what is presented
    seen.set_viewport_size({"width": 1400, "height": 1000})
    open_tab(seen, "Tree lab")
    return seen


def on_screen(page, parts):
    for part in parts:
        expect(page.locator(part).first).to_be_in_viewport(ratio=0.99)


def test_the_large_tree_and_its_mask_are_on_the_first_screen(page):
    resize(page, {"width": 1280, "height": 800})
    expect(page.locator(".sv-lab-tree")).to_be_in_viewport(ratio=0.99)
    expect(page.locator(".sv-lab-mask svg")).to_be_in_viewport(ratio=0.8)
    lines = page.locator(".sv-lab-answer").evaluate(
        "line => line.offsetHeight / parseFloat(getComputedStyle(line).lineHeight)"
    )
    assert lines < 2.1, lines


def test_a_node_is_shown_at_once_and_stepped_through(page):
    open_tab(page, "Verification lab")
    page.locator(NODE).wait_for()
    expect(page.locator(".sv-v-try h3")).to_contain_text("rejected")
    expect(page.locator(".sv-v-table tbody tr")).not_to_have_count(0)
    page.locator(".sv-v-try").click()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".sv-v-where")).to_have_text("try 2 of 3")
    page.get_by_role("button", name="A lossy rule").click()
    expect(page.locator(".sv-v-verdict")).to_have_attribute("data-kind", "differs")
    typical = page.locator(".sv-v-table tr", has_text="Typical acceptance")
    expect(typical.locator(".kind")).to_contain_text("≠ p, by 0.")
    page.locator(".sv-v-table").get_by_role("button", name="Sequoia").click()
    expect(page.locator(".sv-v-verdict")).to_have_attribute("data-kind", "equal")
    number = page.get_by_label("target p of a, as a number")
    number.fill("0.0666")
    number.press("Enter")
    expect(number).to_have_value("0.067")  # as in tables
    assert number.evaluate("box => box.scrollWidth <= box.clientWidth"), "it is not cut"
    expect(page.locator(".sv-v-law tbody tr").first).to_contain_text("0.067")
    expect(page.locator(".sv-v-about")).to_be_empty()  # it is about other numbers
    expect(page.locator(".sv-v-node > p")).to_contain_text("the other tokens are scaled")
    page.locator(".sv-v-shape").select_option("2 1")
    page.locator(".sv-v-rule").select_option("block")
    expect(page.locator(".sv-v-verdict")).to_contain_text("needs a chain; this node has 2")
    page.locator("[data-do=chain]").click()
    expect(page.locator(".sv-v-verdict")).to_have_attribute("data-kind", "equal")
    expect(page.locator(".sv-v-shape")).to_have_value("1 2")


def test_presented_the_verification_lab_shows_a_try_on_one_screen_and_all_rules_on_the_next(page):
    resize(page, {"width": 1280, "height": 720})
    open_tab(page, "Verification lab")
    page.locator(".sv-v-examples button").first.click()
    page.locator(NODE).wait_for()
    present(page)
    on_screen(page, (".sv-v-verdict", ".sv-v-about", ".sv-v-track", ".sv-v-coin"))
    on_screen(page, (".sv-v-tables tr:last-child", ".sv-v-law tr:last-child"))
    for place in ("try 2 of 3", "try 3 of 3", "result"):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".sv-v-where")).to_have_text(place)
    on_screen(page, (".sv-v-try h3", ".sv-v-law table"))  # what one run wrote, and what all do
    page.keyboard.press("ArrowRight")
    on_screen(page, (".sv-v-results h2", ".sv-v-table thead", ".sv-v-table tbody tr:last-child"))
    on_screen(page, (".sv-v-results > p", ".sv-v-table tr:last-child td:last-child"))
    expect(page.locator(".sv-v-verdict")).not_to_be_in_viewport()
    page.keyboard.press("ArrowLeft")
    on_screen(page, (".sv-v-verdict", ".sv-v-try h3"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")  # after the table of all rules, the next example
    expect(page.locator(".sv-v-examples button").nth(1)).to_have_attribute("aria-pressed", "true")
    on_screen(page, (".sv-v-verdict",))


def test_presented_the_tree_lab_turns_from_all_trees_to_one_and_its_mask(page):
    resize(page, {"width": 1280, "height": 720})
    present(page)
    on_screen(page, (".sv-lab-answer", ".sv-lab-cards figure:last-child span:last-of-type"))
    page.keyboard.press("ArrowRight")
    on_screen(page, (".sv-lab-name", ".sv-lab-node", ".sv-lab-tree .sv-scroll"))
    expect(page.locator(".sv-lab-answer")).not_to_be_in_viewport()
    page.keyboard.press("PageDown")
    on_screen(page, (".sv-lab-mask svg",))


def test_on_a_phone_a_tapped_card_is_shown_large_at_once(page):
    resize(page, {"width": 390, "height": 844})
    page.locator(".sv-lab-cards figure", has_text="DySpec").click()
    expect(page.locator(".sv-lab-name")).to_contain_text("DySpec")
    on_screen(page, (".sv-lab-name", ".sv-lab-node", ".sv-lab-tree .sv-scroll"))
    sliders = page.locator(".sv-lab-sizes").bounding_box()
    assert page.locator(".sv-lab-name").bounding_box()["y"] >= sliders["y"] + sliders["height"]
    page.get_by_role("slider", name="Nodes").fill("128")
    expect(page.locator(".sv-lab-name")).to_contain_text("128 nodes")
    page.locator(".sv-lab-cards figure", has_text="Sequoia").click()  # higher than the screen
    on_screen(page, (".sv-lab-name", ".sv-lab-node"))
    page.get_by_role("slider", name="Nodes").fill("32")
    expect(page.locator(".sv-lab-name")).to_contain_text("32 nodes")
    page.get_by_label("Shown large").select_option("sequoia")


def test_six_trees_one_of_them_large_with_its_mask(page):
    cards, tree = page.locator(".sv-lab-cards figure"), page.locator(".sv-lab-tree")
    expect(cards).to_have_count(6)
    expect(page.locator(".sv-lab-name")).to_contain_text("Sequoia")
    expect(page.locator(".sv-lab-note").first).to_contain_text("its whole path is accepted")
    page.get_by_role("slider", name="Children").fill("9")
    page.get_by_label("Shown large").select_option("k-ary")
    expect(page.locator(".sv-lab-name")).to_contain_text("k-ary")
    page.get_by_role("button", name="Sequoia’s figure 2").click()  # which sets all of it
    expect(page.locator(".sv-lab-name")).to_contain_text("Sequoia")
    expect(page.get_by_role("slider", name="Children")).to_have_value("3")
    expect(tree.locator(".node")).to_have_count(64)
    expect(page.locator(".sv-lab-about")).to_contain_text("pass times of SmolLM2")
    scroll = tree.locator(".sv-scroll")
    assert scroll.evaluate("box => box.scrollHeight <= box.clientHeight"), "every row is shown"
    assert scroll.evaluate("box => box.scrollWidth <= box.clientWidth"), "every level is shown"
    assert page.locator(".sv-lab-mask svg").get_attribute("viewBox") == "0 0 64 64"
    tree.locator("svg").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".sv-lab-node")).to_contain_text("if its parent is accepted")
    expect(tree.locator(".above")).to_have_count(3)  # it, its parent, the root: what it attends to
    row = page.locator(".sv-lab-mask .row").get_attribute("y")
    assert row == tree.locator(".node.selected").get_attribute("data-key")
    at = tree.locator(".node.selected")
    parent = at.get_attribute("data-key")
    page.keyboard.press("ArrowRight")
    expect(at).not_to_have_attribute("data-key", parent)
    expect(tree.locator(".above")).to_have_count(4)  # its first child
    page.keyboard.press("ArrowLeft")
    expect(at).to_have_attribute("data-key", parent)
    page.get_by_role("slider", name="Nodes").fill("40")
    expect(tree.locator(".node")).to_have_count(40)
    cards.nth(0).click()
    expect(page.locator(".sv-lab-name")).to_contain_text("Chain")
    page.get_by_label("Shown large").select_option("optimal")
    expect(cards).to_have_count(7)
    expect(page.locator(".sv-lab-name")).to_contain_text("Optimal")
    assert cards.evaluate_all("all => all.every(card => card.scrollWidth <= card.clientWidth)")


def test_on_a_phone_the_sliders_stay_in_view_beside_what_they_change(lab):
    page = lab("lab=tree", TREES, width=390, height=844)
    answer = page.locator(".sv-lab-answer")
    expect(answer).to_have_text(re.compile("in memory: .* On.disk: "))
    page.locator(".sv-lab-cards figure").nth(3).scroll_into_view_if_needed()
    page.evaluate("scrollBy(0, 500)")
    expect(page.get_by_role("slider", name="Nodes")).to_be_in_viewport()
    before = page.locator(".sv-lab-cards").inner_text()
    page.get_by_role("slider", name="Nodes").fill("8")
    expect(page.locator(".sv-lab-cards")).not_to_have_text(before)
    open_tab(page, "Verification lab")
    page.locator(NODE).wait_for()
    page.get_by_label("target p of c", exact=True).evaluate(
        "track => track.scrollIntoView({ block: 'center' })"
    )
    expect(page.locator(".sv-v-verdict")).to_be_in_viewport(ratio=0.99)


def test_what_is_typed_is_drawn_or_answered_by_a_sentence(page):
    page.locator(".sv-lab-own summary").click()
    box, status = page.get_by_label("Acceptance of child"), page.locator(".sv-lab-status")
    name = page.locator(".sv-lab-cards h3").first
    box.fill("0.9, 0.9")
    expect(status).to_contain_text("sum to at most 1")
    box.fill("0.5, <b>")
    expect(status).to_contain_text("child 2 must be a number from 0 to 1; got <b>")
    expect(name).to_have_text("Chain")  # the trees stay, and say of what they are
    expect(status).to_contain_text("the numbers before")
    expect(page.locator(".sv-lab-main")).to_have_css("opacity", "0.4")
    box.fill("0.5")
    tokens = page.locator(".sv-lab-cards .tokens").first
    expect(tokens).to_have_text("2.00 tokens per pass")  # 1 + 1/2 + 1/4 ...
    expect(status).to_have_text("")


def test_every_rule_is_announced_on_the_first_screen_and_one_click_away(page):
    page.set_viewport_size({"width": 1280, "height": 800})
    open_tab(page, "Verification lab")
    page.locator(NODE).wait_for()
    page.locator(".sv-v-examples button").first.click()
    page.evaluate("scrollTo(0, 0)")
    heading = page.get_by_role("heading", name="Every rule on this node")
    expect(heading).to_be_in_viewport()
    page.get_by_role("button", name="Compare every rule").click()
    expect(page.locator(".sv-v-table tbody tr").nth(8)).to_be_in_viewport()
    # What a later try compares with is the residual, and is called so.
    page.evaluate("scrollTo(0, 0)")
    page.locator("[data-do=next]").click()
    expect(page.locator(".sv-v-try thead").first).to_contain_text("residual")


def test_a_link_opens_the_node_of_a_counterexample(lab):
    page = lab(
        "tab=labs&lab=verification&rule=block&p=1/2,1/2&q=1,0&children=1&levels=2&scheme=iid", NODE
    )
    expect(page.locator(".sv-v-rule")).to_have_value("block")
    expect(page.locator(".sv-v-shape")).to_have_value("1 2")
    expect(page.get_by_label("draft q of a, as a number")).to_have_value("1")
    expect(page.locator(".sv-v-about")).to_contain_text("from a link")
