"""The page in headless Chromium: first paint, nodes, keyboard, sentences, dark and phone."""

import json

import pytest
from pages import Gated, choose, counts_add_up, entry, state, steps, to_step
from playwright.sync_api import expect

import specviz
from app.tabs import explore

pytestmark = pytest.mark.browser
PAGE = ("Explore",)


@pytest.fixture
def page(serve, visit):
    """The recorded run as a visitor finds it."""
    return visit(serve())


def test_the_first_paint_shows_a_recorded_run_without_any_model(seen):
    expect(seen.locator(".sv-recorded")).to_be_visible()
    recorded = json.loads(explore.recorded())["steps"]
    for index in range(min(8, steps(seen))):
        to_step(seen, index)
        assert counts_add_up(seen) == len(recorded[index]["parents"])


def test_the_recorded_run_plays_and_pauses(page):
    page.locator(".sv-scrub").fill("0")
    page.locator(".sv-play").click()
    expect(page.locator(".sv-svg")).to_have_attribute("data-step", "2")
    page.locator(".sv-play").click()
    expect(page.locator(".sv-play")).to_have_attribute("aria-label", "play")
    page.locator(".sv-speed").select_option("15")
    page.locator(".sv-play").click()
    expect(page.locator(".sv-where")).to_have_text(f"step {steps(page)} of {steps(page)}")


def test_a_node_shows_why(page):
    page.locator(".sv-svg .node.x").first.hover()
    expect(page.locator(".sv-outcome")).to_have_text("rejected")
    node = page.locator(".sv-svg .node.a").first
    node.click()
    page.mouse.move(5, 5)
    expect(page.locator(".sv-outcome")).to_have_text("accepted")
    expect(page.locator(".sv-why")).to_contain_text("Accepted: u =")
    expect(page.locator(".sv-facts")).to_contain_text("depth 1; child 1 of")
    for bar in ("p", "q", "plain"):
        assert 0 <= float(page.locator(f"[data-bar={bar}] b").inner_text()) <= 1
    prob, coin = map(float, page.locator("[data-bar=accept] b").inner_text().split(" / "))
    assert coin < prob
    expect(page.locator(".sv-live")).to_contain_text("Accepted: u =")
    page.locator(".sv-svg .node:is(.bonus, .correction)").click()
    expect(page.locator(".sv-why")).to_contain_text("target")


def test_a_token_of_the_text_leads_to_its_step_and_node(page):
    token = page.locator(".sv-ribbon [data-step='5']").last
    token.click()
    expect(page.locator(".sv-svg")).to_have_attribute("data-step", "5")
    expect(page.locator(".sv-svg .node.selected")).to_have_count(1)


def test_the_keyboard_alone_is_enough(page):
    svg = page.locator(".sv-svg")
    start = int(svg.get_attribute("data-step"))
    page.keyboard.press("ArrowRight")
    expect(svg).to_have_attribute("data-step", str(start + 1))
    page.keyboard.press("ArrowLeft")
    expect(svg).to_have_attribute("data-step", str(start))
    expect(page.locator(".sv-live")).to_contain_text("nodes accepted")
    page.keyboard.press("e")
    expect(page.locator(".sv-expand")).to_have_attribute("aria-pressed", "false")  # letters ask for the focus
    svg.focus()
    page.keyboard.press("e")
    expect(page.locator(".sv-expand")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".sv-svg .pill")).to_have_count(0)
    assert page.locator(".sv-svg .node").count() == int(svg.get_attribute("data-nodes")) + 1
    page.keyboard.press("e")
    expect(page.locator(".sv-expand")).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".sv-outcome")).to_have_text("last token")
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator(".sv-outcome")).to_have_text("accepted")
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator(".sv-outcome")).to_have_text("last token")
    page.keyboard.press(" ")
    expect(page.locator(".sv-play")).to_have_attribute("aria-label", "pause")
    page.keyboard.press(" ")
    expect(page.locator(".sv-play")).to_have_attribute("aria-label", "play")
    before = page.get_by_role("textbox", name="Prompt").input_value()
    page.get_by_role("textbox", name="Prompt").press("e")
    assert len(page.get_by_role("textbox", name="Prompt").input_value()) == len(before) + 1, (
        "keys belong to the prompt while it is typed"
    )


def test_a_folded_subtree_unfolds_at_a_click(serve, visit):
    page = visit(serve())
    page.locator("[aria-label='number input for Tree size (nodes)']").fill("64")
    page.locator("#sv-run").click()
    state(page, "done")
    page.keyboard.press("Home")
    page.locator(".sv-scrub").fill("1")
    expect(page.locator(".sv-svg")).to_have_attribute("data-step", "1")
    before = page.locator(".sv-svg .node").count()
    page.locator(".sv-svg .pill").first.click()
    assert page.locator(".sv-svg .node").count() > before


def test_the_picture_shows_the_whole_tree_where_there_is_room(serve, visit):
    page = visit(serve())
    svg, pill = page.locator(".sv-svg"), page.locator(".sv-svg .pill")
    expect(pill).to_have_count(0)
    assert page.locator(".sv-svg .node").count() == int(svg.get_attribute("data-nodes")) + 1
    tall = svg.bounding_box()["height"]
    last = max(node.bounding_box()["y"] for node in page.locator(".sv-svg .node .shape").all())
    assert last < svg.bounding_box()["y"] + tall
    page.locator("[aria-label='number input for Tree size (nodes)']").fill("200")
    page.locator("#sv-run").click()
    state(page, "done")
    to_step(page, 1)
    expect(pill).not_to_have_count(0)
    assert tall == svg.bounding_box()["height"], "nothing below the tree moves"
    hidden = sum(int(text[1:]) for text in page.locator(".sv-svg .pill > text").all_text_contents())
    shown = page.locator(".sv-svg .node:not(.more)").count()
    assert hidden and shown + hidden == int(svg.get_attribute("data-nodes")) + 1


def test_what_is_pointed_at_stays_while_messages_come(serve, visit, step_by_step):
    pair = Gated(permits=2)
    page = visit(serve(pair))
    page.locator("#sv-run").click()
    expect(page.locator(".sv-where")).to_have_text("step 2 of 2", timeout=60_000)
    page.locator(".sv-back").click()
    expect(page.locator(".sv-svg")).to_have_attribute("data-step", "0")
    page.locator(".sv-svg .node.r").hover()
    expect(page.locator(".sv-outcome")).to_have_text("last token")
    token = page.locator(".sv-token").evaluate_handle("box => box.firstChild")
    pair.gate.release(10**6)
    state(page, "done")
    expect(page.locator(".sv-where")).not_to_have_text("step 1 of 2")
    expect(page.locator(".sv-outcome")).to_have_text("last token")
    assert token.evaluate("node => node.isConnected"), "the panel was written anew"


def test_bad_input_gets_a_sentence_and_the_page_stays_as_it_is(serve, visit):
    page = visit(serve())
    notice, run = page.locator("#sv-notice"), page.locator("#sv-run")
    page.get_by_role("textbox", name="Prompt").fill("   ")
    run.click()
    expect(notice).to_contain_text("Prompt must not be empty.")
    page.get_by_role("textbox", name="Prompt").fill("word " * 1000)
    run.click()
    expect(notice).to_contain_text("Prompt must be shorter than the models' context of 4096 tokens")
    expect(page.locator(".sv-recorded")).to_be_visible()
    page.get_by_label("Seed").fill("-4")
    page.get_by_label("Seed").press("Tab")
    expect(notice).to_contain_text("Seed must be a whole number from 0 to 9007199254740992; got -4.")
    expect(run).to_be_disabled()
    page.get_by_label("Seed").fill("3")
    page.get_by_label("Seed").press("Tab")
    expect(run).to_be_enabled()
    choose(page, "Verification rule", "Exact match")
    expect(notice).to_contain_text("set the temperature to 0")
    expect(run).to_be_disabled()


def test_menus_mark_what_does_not_fit(serve, visit):
    page = visit(serve())
    page.get_by_label("Verification rule", exact=True).click()
    match = entry(page, "Exact match")
    expect(match).to_contain_text("✕ incompatible")
    expect(match).to_contain_text("set the temperature to 0")
    expect(entry(page, "Typical acceptance")).to_contain_text("≠ lossy")
    fine, grey = (
        item.evaluate("e => getComputedStyle(e).color") for item in (entry(page, "Traversal verification"), match)
    )
    assert fine != grey
    match.click()
    expect(page.get_by_label("Verification rule", exact=True)).to_have_value("Exact match ✕ incompatible")
    expect(page.locator("#sv-run")).to_be_disabled()
    temperature = page.get_by_label("number input for Temperature")
    temperature.fill("0")
    temperature.press("Tab")
    expect(page.get_by_label("Verification rule", exact=True)).to_have_value("Exact match")
    expect(page.locator("#sv-run")).to_be_enabled()


def test_choosing_a_builder_shows_its_parameters(serve, visit):
    page = visit(serve())
    expect(page.get_by_label("number input for Tree size (nodes)")).to_be_visible()
    choose(page, "Tree builder", "k-ary")
    expect(page.get_by_label("number input for Branching", exact=True)).to_be_visible()
    expect(page.get_by_label("number input for Tree size (nodes)")).to_be_hidden()
    page.get_by_role("button", name="A class").click()
    expect(page.get_by_role("textbox", name="Prompt")).to_have_value(explore.CODE["A class"])


def test_only_the_parameters_of_what_is_chosen_show(serve, visit):
    page = visit(serve())
    shown = page.locator("#sv-settings [aria-label^='number input for']:visible")
    for name in ("dyspec", "chain", "k-ary", "dyspec"):
        choose(page, "Tree builder", specviz.BUILDERS[name].title)
        schemas = specviz.BUILDERS[name].parameter_schema().values()
        wanted = [schema["title"] for schema in schemas if schema.get("type") in ("integer", "number")]
        expect(page.get_by_label(f"number input for {wanted[0]}", exact=True)).to_be_visible()
        expect(shown).to_have_count(len(wanted))
        assert [one.get_attribute("aria-label").removeprefix("number input for ") for one in shown.all()] == wanted


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_every_width_and_scheme_fits(serve, visit, width, scheme):
    page = visit(f"{serve()}?__theme={scheme}", width=width, height=900, color_scheme=scheme, settings=False)
    assert page.evaluate("document.body.classList.contains('dark')") == (scheme == "dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width < 500:
        run, end = (page.locator(one).last.bounding_box() for one in ("#sv-run", ".sv-svg .node.a"))
        assert run["y"] < 450 and end["y"] < 900, "Run and the end of the path are on the first screen"
    page.locator(".sv-svg .node.a").last.click()
    expect(page.locator(".sv-outcome")).to_have_text("accepted")


def test_the_wheel_zooms_with_ctrl_or_when_the_tree_has_the_focus(page):
    canvas, svg = page.locator(".sv-svg > g"), page.locator(".sv-svg")
    start = canvas.get_attribute("transform")
    svg.hover()
    page.mouse.wheel(0, -120)
    assert canvas.get_attribute("transform") == start, "the wheel belongs to the page"
    page.keyboard.down("Control")
    page.mouse.wheel(0, -120)
    page.keyboard.up("Control")
    expect(canvas).not_to_have_attribute("transform", start)
    zoomed = canvas.get_attribute("transform")
    svg.focus()
    page.mouse.wheel(0, -120)
    expect(canvas).not_to_have_attribute("transform", zoomed)
