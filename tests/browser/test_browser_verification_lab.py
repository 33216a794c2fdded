"""The Verification lab in headless Chromium: dragged and typed bars, keys, the stepper, a node taken from a run."""

import json
import re

import pytest
from pages import Gated, state, to_step
from playwright.sync_api import expect

from app.tabs.labs.lab_presets import PRESETS
from app.tabs.labs.verification_lab import look, table
from tests.browser.test_browser_runs import HOSTILE

pytestmark = pytest.mark.browser
PAGE, LINK, READY = ("Explore", "Lab"), "?lab=verification", ".sv-v"


def never():
    raise AssertionError("a model was loaded")


@pytest.fixture
def lab(serve, visit):
    """A function that opens the lab by its link."""

    def start(**more):
        page = visit(f"{serve(load=never)}?lab=verification", ready=".sv-v", **more)
        settled(page)
        return page

    return start


@pytest.fixture
def page(seen):
    """The lab that the tests share, with its first example."""
    seen.bring_to_front()
    seen.locator(".sv-v-presets button").nth(1).click()
    seen.locator(".sv-v-presets button").first.click()
    expect(seen.locator(".sv-v-why")).to_have_text(PRESETS[0].why)
    settled(seen)
    return seen


def settled(page):
    expect(page.locator(".sv-v")).to_have_attribute("aria-busy", "false", timeout=30_000)


def bar(page, name, token):
    label = {"p": "target p", "q": "draft q"}[name]
    return page.get_by_role("slider", name=f"{label} of {token}", exact=True)


def value(page, name, token):
    return float(bar(page, name, token).get_attribute("aria-valuenow"))


def row(page, rule):
    return page.locator(".sv-v-rules tbody tr").filter(has=page.get_by_role("button", name=rule, exact=True))


def test_the_link_opens_the_lab_with_its_first_example_and_every_example_is_worked_out(lab):
    page = lab()
    expect(page.get_by_role("tab", name="Verification lab")).to_have_attribute("aria-selected", "true")
    buttons = page.locator(".sv-v-presets button")
    expect(buttons).to_have_text([preset.title for preset in PRESETS])
    for i, preset in enumerate(PRESETS):
        buttons.nth(i).click()
        expect(buttons.nth(i)).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".sv-v-why")).to_have_text(preset.why)
        shown, rows = (json.loads(answer(vars(preset))) for answer in (look, table))
        expect(page.locator(".sv-v-verdict .text")).to_have_text(shown["reason"])
        settled(page)
        for rule in rows["rows"]:
            drawn = row(page, rule["title"])
            if rule["accepted"] is not None:
                expect(drawn.locator("td").nth(1)).to_have_text(f"{rule['accepted']:.4f}")
        expect(page.locator(".sv-v-exact")).to_have_attribute(
            "data-kind", "lossless" if shown["exact"]["deviation"] <= 1e-12 else "lossy"
        )


def test_a_bar_can_be_dragged_and_the_others_make_room(page):
    page.get_by_role("button", name="Top-k with draft = target").click()
    settled(page)
    expect(row(page, "Target match").locator("td").nth(1)).to_have_text("0.6000")
    box = bar(page, "q", "a").bounding_box()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 5)
    page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 5)
    page.mouse.up()
    assert value(page, "q", "a") == pytest.approx(0.25, abs=0.01)
    assert value(page, "q", "a") + value(page, "q", "b") == pytest.approx(1, abs=2e-3)
    expect(row(page, "Target match").locator("td").nth(1)).to_have_text("0.4000")  # b is the draft's favourite now
    expect(page.locator(".sv-v-presets [aria-pressed=true]")).to_have_count(0)
    expect(page.locator(".sv-v-why")).to_contain_text("Custom node")  # what the example says is true no longer
    page.mouse.move(box["x"] + 3 * box["width"], box["y"] + 5)  # the button was let go
    assert value(page, "q", "a") == pytest.approx(0.25, abs=0.01)


def test_a_bar_by_keyboard_and_numbers_by_hand(page):
    page.get_by_role("button", name="Top-k with draft = target").click()
    settled(page)
    bar(page, "p", "a").focus()
    for key, wanted in [
        ("ArrowUp", 0.61),
        ("ArrowLeft", 0.6),
        ("PageDown", 0.5),
        ("Home", 0),
        ("End", 1),
        ("ArrowRight", 1),
    ]:
        page.keyboard.press(key)
        assert value(page, "p", "a") == pytest.approx(wanted, abs=1e-9), key
        assert value(page, "p", "b") == pytest.approx(1 - wanted, abs=1e-9)
    settled(page)
    expect(row(page, "Target match").locator("td").nth(1)).to_have_text("1.0000")
    typed = page.get_by_role("spinbutton", name="target p of b, as a number")
    typed.fill("3")
    typed.press("Tab")
    expect(page.locator(".sv-v-said")).to_have_text("The target p summed to 4, so it was normalised.")
    assert value(page, "p", "b") == 0.75
    typed.fill("-1")
    typed.press("Tab")
    expect(page.locator(".sv-v-verdict")).to_have_attribute("data-kind", "error")
    expect(page.locator(".sv-v-verdict")).to_contain_text("must be a number from 0")
    expect(page.locator(".sv-v-rules tbody tr")).not_to_have_count(0)  # what was known stays
    typed.fill("0.4")
    typed.press("Tab")
    expect(page.locator(".sv-v-verdict")).to_have_attribute("data-kind", "lossless")


def test_the_stepper_tells_the_run_by_buttons_and_keys(page):
    shown = json.loads(look(vars(PRESETS[0])))["run"]
    where, card = page.locator(".sv-v-where"), page.locator(".sv-v-try")
    expect(where).to_have_text(f"{len(shown['tries'])} tries remaining")
    expect(page.locator("[data-do=back]")).to_be_disabled()
    names = "abcde"
    for i, one in enumerate(shown["tries"], 1):
        page.locator("[data-do=next]").click() if i == 1 else page.keyboard.press("ArrowRight")
        expect(where).to_have_text(f"try {i} of {len(shown['tries'])}")
        expect(card.locator("h3")).to_have_text(f"Token “{names[one['token']]}” {one['outcome']}")
        expect(card).to_contain_text(one["why"])
        expect(card.locator(".sv-v-coin b")).to_have_text(f"{one['accept_prob']:.3f} / {one['coin']:.3f}")
        for chart, rows in zip(card.locator(".sv-v-bars").all(), (one["before"], one["after"]), strict=False):
            cells = chart.locator("tbody tr").first.locator("td:nth-child(n+3)").all_inner_texts()
            kept = [rows[name][0] for name in ("residual", "draft") if name in rows]
            assert sorted(map(float, cells)) == pytest.approx(sorted(kept), abs=6e-4)
        expect(page.locator(".sv-v-track [aria-current]")).to_have_text(re.compile(names[one["token"]]))
    page.keyboard.press("ArrowRight")
    expect(where).to_have_text("end")
    expect(page.locator("[data-do=next]")).to_be_disabled()
    expect(card.locator("h3")).to_contain_text(f"Written: “{names[shown['emitted'][0]]}”")
    page.keyboard.press("ArrowLeft")
    expect(where).to_have_text(f"try {len(shown['tries'])} of {len(shown['tries'])}")
    page.locator("[data-do=draw]").focus()
    page.keyboard.press("d")
    expect(page.locator(".sv-v-seed")).to_have_value(str(PRESETS[0].seed + 1))
    expect(where).to_contain_text("remaining")


def test_rules_shapes_and_laws_can_be_chosen(page):
    row(page, "SpecInfer").get_by_role("button").click()
    expect(page.locator(".sv-v-rule")).to_have_value("specinfer")
    expect(page.locator(".sv-v-why")).to_have_text(PRESETS[0].why)
    page.locator(".sv-v-scheme").select_option("top")
    expect(page.locator(".sv-v-verdict")).to_have_attribute("data-kind", "lossy")
    expect(page.locator(".sv-v-exact")).to_contain_text("Not the target’s distribution")
    expect(page.locator(".sv-v-chart .off").first).to_be_visible()
    page.locator(".sv-v-scheme").select_option("race")
    expect(page.locator(".sv-v-verdict")).to_have_attribute("data-kind", "impossible")
    expect(page.locator(".sv-v-try")).to_be_empty()
    page.locator(".sv-v-scheme").select_option("")
    page.locator(".sv-v-shape").select_option("a chain of 2")
    expect(page.locator(".sv-v-note").first).to_contain_text("Expected number")
    settled(page)
    for _ in range(10):
        page.get_by_role("button", name="Add a token").click(force=True)
    expect(page.get_by_role("button", name="Add a token")).to_be_disabled()
    expect(page.get_by_role("slider")).to_have_count(24)
    for _ in range(10):
        page.get_by_role("button", name="Remove one").click(force=True)
    expect(page.get_by_role("slider")).to_have_count(4)
    settled(page)
    expect(page.locator(".sv-v-exact")).to_have_attribute("data-kind", "lossless")


def test_a_node_of_the_recorded_run_is_taken_into_a_lab_that_was_never_opened(serve, visit):
    page = visit(serve(load=never))
    expect(page.locator(".sv-take")).to_be_hidden()
    page.locator("#sv-stage .sv-svg .node.x").first.click()
    token = page.locator("#sv-stage .sv-token").inner_text()
    why = page.locator("#sv-stage .sv-why").inner_text()
    share = page.locator("#sv-stage [data-bar=p] b").inner_text()
    page.get_by_role("button", name="Open in the lab").click()
    expect(page.locator(".sv-v-why")).to_contain_text("Replay of step")
    expect(page.locator(".sv-v-why")).to_contain_text("“(rest)”")
    settled(page)
    names = page.locator(".sv-v-row > b").all_inner_texts()
    assert names[-1] == "(rest)" and token in names
    typed = page.get_by_role("spinbutton", name=f"target p of {token}, as a number")
    assert float(typed.input_value()) == pytest.approx(float(share), abs=1e-3)
    total = sum(float(one.get_attribute("aria-valuenow")) for one in page.locator(".sv-v-line.q .sv-v-bar").all())
    assert total == pytest.approx(1, abs=0.01)
    expect(page.locator(".sv-v-verdict")).to_have_attribute("data-kind", "lossless")
    expect(page.locator(".sv-v-exact")).to_have_attribute("data-kind", "lossless")
    page.get_by_role("button", name="Next try").click()
    expect(page.locator(".sv-v-try p").first).to_have_text(why)  # the run's own draw
    page.get_by_role("button", name="Draw again").click()
    settled(page)
    page.get_by_role("button", name="Next try").click()
    expect(page.locator(".sv-v-try p").first).not_to_have_text(why)
    # A second node, now that the lab is there.
    page.get_by_role("tab", name="Explore").click()
    page.locator("#sv-stage .sv-svg .node.r").click()
    page.get_by_role("button", name="Open in the lab").click()
    expect(page.locator(".sv-v-rows")).to_be_visible()
    settled(page)


def test_hostile_names_of_a_live_run_are_only_ever_text(serve, visit):
    page = visit(serve(Gated(pieces=HOSTILE)))
    page.get_by_role("button", name="Run", exact=True).click()
    state(page, "done")
    to_step(page, 1)
    page.locator("#sv-stage .sv-svg .node:not(.r)").first.click()
    page.get_by_role("button", name="Open in the lab").click()
    settled(page)
    for _ in range(3):
        page.get_by_role("button", name="Next try").click(force=True)
    assert page.locator(".sv-v :is(img, script, a, iframe)").count() == 0
    assert page.locator(".sv-v-row > b").count() >= 2
    assert page.evaluate("window.hacked") is None


def test_a_phone_shows_everything_within_its_width_and_a_finger_drags_as_well(lab):
    page = lab(width=390, height=844, has_touch=True)
    box = bar(page, "p", "a").bounding_box()
    page.touchscreen.tap(box["x"] + 0.75 * box["width"], box["y"] + box["height"] / 2)
    assert value(page, "p", "a") == pytest.approx(0.75, abs=0.02)
    settled(page)
    page.locator("[data-do=next]").click()
    expect(page.locator(".sv-v-rules .none span")).not_to_have_count(0)
    out = page.evaluate(
        """() => [...document.querySelectorAll('.sv-v *')].filter(node => node.offsetParent
          && (node.matches('.none span') || !node.closest('.sv-v-presets, .sv-v-scroll'))
          && node.getBoundingClientRect().right > innerWidth + 1)
          .map(node => node.className)"""
    )
    assert out == []
