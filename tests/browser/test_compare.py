"""Compare in headless Chromium: the recorded race, runs of one's own, what cannot run, links."""

import json
import re
from itertools import groupby
from operator import itemgetter

import pytest
from playwright.sync_api import expect

from app.tabs.compare import example
from tests.matrix import rest_of
from tests.pages import HOSTILE, Gated, open_tab, present

pytestmark = pytest.mark.browser
PAGE = ("Explore", "Compare")
LINK = "?tab=compare"
READY = "#sv-compare .sv-run"
BOARD = "#sv-compare"
COLOURS = "runs => runs.map(run => getComputedStyle(run).borderTopColor)"


def at_end(page):
    """Show the end of the replay."""
    page.locator(f"{BOARD} .sv-scrub").focus()
    page.keyboard.press("End")


def test_the_tab_opens_with_a_race_that_replays_by_itself(serve, visit):
    page = visit(serve(), reduced_motion="no-preference", settings=False)
    open_tab(page, "Compare")
    page.locator(READY).first.wait_for()
    data = json.loads(example.opening())
    expect(page.locator(f"{BOARD} h3 .sv-run-title")).to_have_text(
        [one["title"] for one in data["columns"]]
    )
    expect(page.locator(f"{BOARD} .sv-title-line")).to_contain_text("recorded")
    expect(page.locator(f"{BOARD} .sv-speed")).to_have_value("1")
    expect(page.locator(f"{BOARD} .sv-play")).to_have_accessible_name("pause")
    factors = data["factors"]
    expect(page.locator(f"{BOARD} .sv-standing")).to_have_text(data["headline"])
    expect(page.locator(f"{BOARD} .sv-large")).to_have_text(factors)
    # it stands still when the first is through, with a tree of that run that drafted
    first = min(data["updates"], key=lambda one: one["clock"][-1][0])["at"]
    play = page.locator(f"{BOARD} .sv-play")
    expect(play).to_have_text("▶ Play the rest")
    expect(page.locator(f"{BOARD} .sv-clock").first).to_contain_text(re.compile(r"^\d+ of 64"))
    expect(page.locator(f"{BOARD} .sv-node").nth(first)).to_contain_text("the last that drafted")
    assert page.locator(f"{BOARD} .sv-run").nth(first).locator(".node").count() > 2
    play.click()
    expect(play).to_have_text("❚❚ Pause")
    at_end(page)
    expect(play).to_have_text("▶ Play")
    for at, clock in enumerate(page.locator(f"{BOARD} .sv-clock").all()):
        steps = len(data["updates"][at]["steps"])
        expect(clock).to_have_text(f"64 of 64 tokens, step {steps} of {steps}")
    expect(page.locator(f"{BOARD} .sv-texts li")).to_contain_text("A, B and C: identical")
    rows = page.locator(f"{BOARD} tbody tr").all()
    assert [row.locator("th").inner_text() for row in rows] == [
        row["name"] for row in data["table"]
    ]


def test_the_shared_clock_moves_every_run_by_its_own_times(seen):
    updates = json.loads(example.opening())["updates"]
    ends = [[end for end, _ in one["clock"]] for one in updates]
    seen.locator(f"{BOARD} .sv-scrub").focus()
    seen.keyboard.press("Home")
    for now in sorted({end for times in ends for end in times})[:3]:
        seen.keyboard.press("ArrowRight")
        for column, times in zip(seen.locator(f"{BOARD} .sv-run .sv-svg").all(), ends, strict=True):
            done = sum(end <= now + 1e-9 for end in times) - 1
            expect(column).to_have_attribute("data-step", str(done))
        # what the colours mean, whatever is said of the trees
        expect(seen.locator(f"{BOARD} .sv-text-key")).to_be_in_viewport(ratio=1)


def test_the_race_is_grey_while_its_settings_are_others(seen):
    page = seen
    state, board = page.locator(f"{BOARD} .sv-state"), page.locator(f"{BOARD} .sv-compare")
    seed = page.get_by_label("Seed").locator("visible=true")
    page.locator(f"{BOARD} .sv-speed").select_option("0.5")
    expect(state).to_have_text("")  # the replay's own controls are no settings
    page.locator("#sv-compare-opener button").click()
    recorded = seed.input_value()
    seed.fill("5")
    expect(state).to_contain_text("Below is still the earlier comparison")
    race_box = page.locator(f"{BOARD} .sv-chart")
    assert state.bounding_box()["y"] < race_box.bounding_box()["y"]
    assert float(race_box.evaluate("box => getComputedStyle(box).opacity")) < 1
    for at, letter in enumerate("ABC"):  # the remarks on the texts name the columns so
        expect(page.locator(f"{BOARD} .sv-run .sv-letter").nth(at)).to_have_text(f"{letter} ")
    prompt = page.locator("#sv-compare-prompt textarea")
    for box, value, grey in (
        (seed, recorded, False),
        (prompt, "Why is grass green?", True),
        (prompt, prompt.input_value(), False),
    ):
        box.fill(value)
        box.press("Tab")
        expect(board).to_have_class(re.compile("stale" if grey else r"^((?!stale).)*$"))
    expect(state).to_have_text("")
    page.locator(f"{BOARD} .sv-speed").select_option("1")
    page.keyboard.press("Escape")  # closes the settings


def test_the_race_is_saved_as_a_picture_and_as_a_page_that_plays_offline(seen, tmp_path):
    for kind in ("png", "html"):
        seen.locator(f"{BOARD} .sv-save summary").click()
        with seen.expect_download() as download:
            seen.locator(f"{BOARD} [data-save={kind}]").click()
        download.value.save_as(tmp_path / f"race.{kind}")
    assert (tmp_path / "race.png").read_bytes().startswith(b"\x89PNG")
    factors = json.loads(example.opening())["factors"]
    address = seen.url
    page = seen.context.new_page()
    page.context.set_offline(True)
    try:
        page.goto((tmp_path / "race.html").as_uri())
        expect(page.locator("h2").first).to_have_text(f"“{example.PROMPT}”")
        expect(page.get_by_role("link", name="Open it again")).to_have_attribute("href", address)
        page.locator(".sv-scrub").focus()
        page.keyboard.press("End")
        expect(page.locator(".sv-large").last).to_have_text(factors[-1])
        expect(page.locator("[data-save=html]")).to_be_hidden()  # it needs a server
    finally:
        page.context.set_offline(False)
        page.close()


def test_two_runs_are_decoded_compared_and_timed_and_hostile_text_is_text(serve, visit):
    page = visit(
        f"{serve(Gated(pieces=HOSTILE))}{LINK}",
        ready=READY,
        settings=False,
    )
    colours = page.locator(f"{BOARD} .sv-run").evaluate_all(COLOURS)
    page.locator("#sv-compare-opener button").click()
    page.get_by_label("Seed").locator("visible=true").fill("5")
    expect(page.locator(f"{BOARD} .sv-state")).to_contain_text("The settings changed")
    page.get_by_label("Seed").locator("visible=true").fill("0")
    page.locator("#sv-compare-prompt textarea").fill(HOSTILE[0])
    expect(page.locator(f"{BOARD} .sv-state")).to_contain_text("The settings changed")
    page.get_by_label("Seed").locator("visible=true").fill("5")
    page.locator("#sv-compare-run").click()
    expect(page.locator(f"{BOARD} .sv-title-line")).not_to_contain_text("recorded", timeout=60_000)
    titles = page.locator(f"{BOARD} h3 .sv-run-title").all_inner_texts()
    assert titles == ["Plain decoding", "Chain of 5", "Sequoia 32"], "plain decoding stays"
    assert page.locator(f"{BOARD} .sv-run").evaluate_all(COLOURS) == colours
    expect(page.locator("#sv-compare-stop")).to_be_hidden(timeout=60_000)
    at_end(page)
    expect(page.locator(f"{BOARD} .sv-clock").first).to_contain_text("64 of 64 tokens")
    expect(page.locator(f"{BOARD} .sv-texts li")).to_contain_text(
        "A, B and C: identical text, all 64 tokens"
    )
    gains = page.locator(f"{BOARD} tbody tr", has_text="speedup").locator("td")
    for gain in gains.all()[1:]:
        expect(gain).to_contain_text(re.compile(r"\d×"))
    assert HOSTILE[0] in page.locator(f"{BOARD} .sv-ribbon").first.inner_text()
    assert page.locator(f"{BOARD} img, {BOARD} script").count() == 0


def test_what_cannot_run_is_said_with_the_letter_of_a_run_that_failed(serve, visit, caplog):
    page = visit(
        f"{serve(Gated(fail_at=9))}{LINK}",
        ready=READY,
        settings=False,
    )
    page.locator("#sv-compare-prompt textarea").fill(" ")
    page.locator("#sv-compare-run").click()
    expect(page.locator("#sv-compare-status")).to_contain_text("Prompt must not be empty")
    assert page.locator(f"{BOARD} .sv-run").count() == 3, "the race is still there"
    page.locator("#sv-compare-prompt textarea").fill("abc")
    page.locator("#sv-compare-run").click()
    expect(page.locator("#sv-compare-status")).to_contain_text("A: The run failed")


def test_a_link_fills_in_the_columns(serve, visit):
    query = (
        "&a.decodes=speculation&a.builder=k-ary:width=3&a.verifier=specinfer"
        "&b.decodes=plain&b.builder=chain&seed=7&temperature=0.8"  # as older links have it
    )
    page = visit(f"{serve()}{LINK}{query}", ready=READY, settings=False)
    page.locator("#sv-compare-opener button").click()
    expect(page.get_by_label("Tree builder of A", exact=True)).to_have_value("k-ary")
    expect(page.get_by_label("Tree builder of B", exact=True)).to_have_value("plain")
    expect(page.get_by_label("Verification rule of A", exact=True)).to_be_visible()
    expect(page.get_by_label("Verification rule of B", exact=True)).to_be_hidden()
    expect(page.get_by_label("Seed").locator("visible=true")).to_have_value("7")


def test_the_tab_is_in_the_address_and_back_returns_to_the_one_before(serve, visit):
    page = visit(serve(), ready=".sv-svg .node", settings=False)
    open_tab(page, "Compare")
    expect(page).to_have_url(re.compile(r"\?tab=compare"))
    page.go_back()
    tab = page.get_by_role("tab", name="Explore", exact=True)
    expect(tab).to_have_attribute("aria-selected", "true")
    page.go_forward()
    expect(page.locator(READY).first).to_be_visible()
    page.reload()
    expect(page.locator(READY).first).to_be_visible()
    assert copied_link(page).endswith("?tab=compare"), "which opens with what is recorded"


def copied_link(page):
    page.locator(f"{BOARD} .sv-save summary").click()
    page.locator(f"{BOARD} [data-save=link]").click()
    expect(page.locator(f"{BOARD} .sv-save summary")).to_have_text("Link copied.")
    return page.evaluate("navigator.clipboard.readText()")


def test_the_last_two_runs_are_compared_without_another_press_and_the_link_compares_them(
    serve, visit
):
    page = visit(serve(Gated()), settings=False)
    page.locator("#sv-preset label").filter(has_text="Chain").click()
    page.get_by_role("link", name="Compute the last two again in Compare").click()
    expect(page.locator(f"{BOARD} h3 .sv-run-title")).to_have_text(
        ["Plain decoding", "Sequoia 16", "Chain of 5"]
    )
    expect(page.locator(f"{BOARD} .sv-title-line")).not_to_contain_text("recorded")
    other = visit(copied_link(page), ready=READY, settings=False)
    expect(other.locator(f"{BOARD} h3 .sv-run-title").last).to_have_text("Chain of 5")


def test_presented_it_shows_the_race_and_nothing_else(seen):
    page = seen
    at_end(page)
    present(page)
    page.wait_for_function(FOLLOWED)
    for part in (".sv-standing", ".sv-asked", ".sv-chart-svg", ".sv-run >> nth=2 >> .sv-svg"):
        expect(page.locator(f"{BOARD} {part}")).to_be_visible()
    expect(page.locator(f"{BOARD} .sv-texts li:visible")).to_contain_text("identical text")
    for part in (f"{BOARD} .sv-table", f"{BOARD} .sv-texts-why", "#sv-compare-run"):
        expect(page.locator(part)).to_be_hidden()
    keys = page.locator(f"{BOARD} .sv-player").evaluate(HINT)
    assert keys == "none", "where they would lie over what was compared"
    page.keyboard.press("Home")
    expect(page.locator(f"{BOARD} .sv-scrub")).to_have_value("0")
    page.keyboard.press("End")
    present(page)
    page.wait_for_function(FOLLOWED)


def test_on_a_phone_all_factors_are_on_the_first_screen(seen):
    seen.set_viewport_size({"width": 390, "height": 844})
    seen.evaluate("scrollTo(0, 0)")
    for factor in seen.locator(f"{BOARD} .sv-large").all():
        expect(factor).to_be_in_viewport(ratio=0.99)
    assert seen.locator(f"{BOARD} .sv-ribbon").evaluate_all(LINES) == [4, 4, 4], "to be compared"
    expect(seen.locator(f"{BOARD} .sv-run .sv-svg:visible")).to_have_count(1)
    seen.set_viewport_size({"width": 1280, "height": 800})


HINT = "bar => getComputedStyle(bar, '::before').content"
LINES = """boxes => boxes.map(box =>
  box.clientHeight / parseFloat(getComputedStyle(box).lineHeight))"""

# Whether the last token that was written is in sight in every text, on a line that is whole.
FOLLOWED = """() => [...document.querySelectorAll('#sv-compare .sv-ribbon')].every(box => {
  const room = box.getBoundingClientRect();
  const token = [...box.querySelectorAll('.here')].at(-1).getBoundingClientRect();
  return token.top >= room.top - 2 && token.bottom <= room.bottom + 2;
})"""


@pytest.mark.parametrize("width", rest_of([1280, 1440, 1920], few=["1280"]))
def test_every_tree_fits_its_box_where_there_are_three_columns(seen, width):
    """By day in the narrowest window."""
    ends = {end for one in json.loads(example.opening())["updates"] for end, _ in one["clock"]}
    seen.set_viewport_size({"width": width, "height": 800})
    assert seen.evaluate(OUTSIDE, sorted(ends)) == []


# Nodes that reach out of the box of their tree, at these times.
OUTSIDE = """async times => {
  const found = [];
  const scrub = document.querySelector('#sv-compare .sv-scrub');
  for (const time of times) {
    scrub.value = time + 1e-6;
    scrub.dispatchEvent(new Event('input'));
    await new Promise(then => requestAnimationFrame(() => requestAnimationFrame(then)));
    for (const box of document.querySelectorAll('#sv-compare .sv-run .sv-scroll')) {
      const room = box.getBoundingClientRect();
      for (const node of box.querySelectorAll('.node')) {
        const { left, right, top, bottom } = node.getBoundingClientRect();
        const isInside =
          left >= room.left && right <= room.right && top >= room.top && bottom <= room.bottom;
        if (!isInside) found.push(`${node.textContent} at ${time}`);
      }
    }
  }
  return found;
}"""


def test_a_run_is_decoded_then_timed_then_final_and_no_number_changes_in_between(serve, visit):
    pair = Gated(permits=0)
    page = visit(f"{serve(pair)}{LINK}", ready=READY, settings=False)
    state = page.locator(f"{BOARD} .sv-state")
    page.locator("#sv-compare-opener button").click()
    page.get_by_label("Seed").locator("visible=true").fill("5")
    expect(state).to_contain_text("press Run")
    page.evaluate(SHOWN)
    page.locator("#sv-compare-run").click()
    expect(state).to_contain_text("Starting. Below is still the earlier comparison.")
    while state.get_attribute("data-state") != "timing":
        pair.gate.release(5)
        page.wait_for_timeout(50)
    pair.gate.release(10**6)
    page.locator("#sv-compare-stop").wait_for(state="hidden", timeout=60_000)
    shown = page.evaluate("window.shown")
    begun = next(at for at, one in enumerate(shown) if "Starting" in one["text"])
    assert not any("press Run" in one["text"] for one in shown[begun:])
    groups = groupby(shown[begun:], key=itemgetter("state"))
    results = [(state, {one["results"] for one in group}) for state, group in groups]
    assert [state for state, _ in results] == ["loading", "running", "timing", "done"]
    assert results[1][1] == results[2][1] == {""}, "there is none before all are final"
    assert len(results[3][1]) == 1, "and then they stay"


# What the page shows from now on, whenever it changes: its state, what it says of it, results.
SHOWN = """() => {
  window.shown = [];
  const board = document.querySelector('#sv-compare .sv-compare');
  const text = part => board.querySelector(part)?.textContent ?? '';
  new MutationObserver(() => {
    window.shown.push({
      state: board.querySelector('.sv-state').dataset.state,
      text: text('.sv-state'),
      results: text('tbody'),
    });
  }).observe(board, { subtree: true, childList: true, characterData: true, attributes: true });
}"""
