"""Explore in headless Chromium: recordings that answer at once, the frames of a step, what a node
is, settings."""

import json
import re
import shlex
import threading
from dataclasses import replace

import pytest
from playwright.sync_api import expect

import specviz
from app.service.pair_ref import SMOLLM2
from app.tabs import explore
from app.tabs.explore import prompts, recordings
from specviz.view.payload import worth_showing
from specviz.view.words import OUTCOMES
from tests.matrix import rest_of
from tests.pages import (
    STAGE,
    Gated,
    choose,
    counts_add_up,
    offline,
    open_file,
    present,
    resize,
    state,
    steps,
    to_step,
)

pytestmark = pytest.mark.browser
PAGE = ("Explore",)
RECORDED = re.compile("^recorded")
B, V = specviz.BUILDERS, specviz.VERIFIERS


@pytest.fixture
def page(seen):
    """The page that all of these share, at the step that it opens with."""
    seen.set_viewport_size({"width": 1400, "height": 1000})
    seen.keyboard.press("Escape")  # also closes the settings
    to_step(seen, 0)
    return seen


def step_with(*outcomes):
    """The first step of the recording that the page opens with whose nodes have all of these."""
    recorded = recordings.opening().trace().steps
    return next(step.index for step in recorded if set(outcomes) <= set(step.outcome))


# Whether tree, text and bars are on one screen, and the canvas is not empty for the most part.
FITS = """() => {
  const box = part => document.querySelector('#sv-stage ' + part).getBoundingClientRect();
  const parts = ['.sv-caption', '.sv-svg', '.sv-player', '.sv-ribbon', '.sv-beside'].map(box);
  const room = box('.sv-scroll'), tree = box('.sv-svg');
  return parts.every(part => part.top >= 0 && part.bottom <= innerHeight) &&
    (tree.width > 0.75 * room.width || tree.height > 0.75 * room.height);
}"""


def pick(page, label):
    page.locator(".sv-choice label", has_text=re.compile(rf"^\s*{label}\s*$")).click()


def test_the_first_screen_is_a_recorded_run_that_needs_no_model(page):
    resize(page, {"width": 1280, "height": 800})
    data = json.loads(explore.recordings.opening(weights="memory").message())
    assert steps(page) == len(data["steps"])
    expect(page.locator("#sv-headline")).to_contain_text(
        f"{data['figures']['per_pass']:.1f} tokens per target pass"
    )
    expect(page.locator("#sv-headline")).to_contain_text(
        f"{data['speedup']['speedup']:.1f} times as fast as plain decoding, weights in memory"
    )
    expect(page.locator("#sv-headline")).to_contain_text("recorded")
    assert page.locator(f"{STAGE} .sv-prompt").inner_text() == recordings.OPENING.prompt
    counts_add_up(page)
    for width, height in ((1280, 800), (1440, 900)):  # tree, text and bars are on one screen
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(FITS)  # the tree follows its frame a moment later


def test_presets_and_temperatures_answer_at_once(serve, visit):
    page = visit(serve())
    for preset, temperature in [
        ("Chain", 0.6),
        ("Large tree", 0.6),
        ("Large tree", 1),
        ("Tree", 0),
    ]:
        pick(page, preset)
        pick(page, temperature)
        ref = replace(recordings.opening().ref, weights="memory")  # the only ones of this pair
        found = json.loads(recordings.Recording(preset, float(temperature), ref).message())
        headline = f"{found['figures']['per_pass']:.1f} tokens per target pass"
        expect(page.locator("#sv-headline")).to_contain_text(headline)
        expect(page.locator(f"{STAGE} .sv-svg")).to_have_attribute("data-of", RECORDED)
        last = str(len(found["steps"]) - 1)
        expect(page.locator(".sv-player .sv-scrub").first).to_have_attribute("max", last)
    page.get_by_label("number input for Temperature").fill("0.35")
    page.get_by_label("number input for Temperature").press("Tab")
    expect(page.locator("#sv-temperature :checked")).to_have_count(0)
    stale = "Below is another run: press Run to compute this one."
    expect(page.locator("#sv-headline")).to_contain_text(stale)
    example = prompts.EXAMPLES[SMOLLM2]
    chips = page.locator("#sv-prompts .sv-chips button")
    expect(chips).to_have_count(6)
    page.get_by_role("button", name="Story").click()
    expect(page.locator("#sv-prompt textarea")).to_have_value(example["prompts"]["Story"])
    expect(chips.and_(page.locator("[aria-pressed=true]"))).to_have_text("Story")
    expect(page.locator("#sv-prompts .sv-about-model")).to_have_text(example["about"])
    # Every example is recorded at the temperature that the page opens with.
    pick(page, 0.6)
    for name in ("List", "Code"):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator(f"{STAGE} .sv-prompt")).to_have_text(example["prompts"][name])
        expect(page.locator("#sv-headline")).to_contain_text("recorded")


def test_the_recording_does_not_play_on_under_the_prompt_of_a_link(serve, visit):
    page = visit(f"{serve()}?prompt=Name+three", reduced_motion="no-preference", settings=False)
    stale = "Below is another run: press Run to compute this one."
    expect(page.locator("#sv-headline")).to_contain_text(stale)
    expect(page.locator(f"{STAGE} .sv-play")).to_have_text("▶ Play")


def test_verification_plays_when_a_step_is_opened_and_can_be_paused(serve, visit):
    page = visit(serve(), reduced_motion="no-preference", settings=False)
    svg, caption = page.locator(f"{STAGE} .sv-svg"), page.locator(f"{STAGE} .sv-caption")
    # Both at once: the step may have been played to its end when a second click arrives.
    page.evaluate(
        "for (const name of ['forward', 'play']) "
        "document.querySelector(`#sv-stage .sv-${name}`).click()"
    )
    expect(svg).to_have_attribute("data-phase", "3")
    expect(page.locator(f"{STAGE} .sv-play")).to_have_accessible_name("play")
    expect(caption).to_contain_text("kept")
    expect(page.locator(f"{STAGE} .sv-svg .node.current")).to_have_count(1)
    expect(page.locator(f"{STAGE} .sv-ribbon .here.later")).not_to_have_count(0)
    steps = recordings.opening().trace().steps
    index = worth_showing(steps) + 1
    for _ in steps[index].order:  # a step that is half played is moved in
        page.keyboard.press("ArrowRight")
    expect(svg).to_have_attribute("data-step", str(index))
    expect(svg).to_have_attribute("data-phase", "4")
    expect(page.locator(f"{STAGE} .sv-ribbon .here.later")).to_have_count(0)
    words = {
        "1": "The draft, cheaper than the target, proposes",
        "2": "One pass of the target",
        "3": "is tried|only child",
        "4": "drafted tokens accepted",
    }
    for phase, text in words.items():
        page.locator(f"{STAGE} .sv-phases label").nth(int(phase) - 1).click()
        expect(svg).to_have_attribute("data-phase", phase)
        expect(caption).to_contain_text(re.compile(text))


def test_what_is_seen_can_be_copied_as_python_and_as_a_command(page):
    texts = []
    for kind in ("python", "command"):
        page.locator(f"{STAGE} .sv-save summary").click()
        page.locator(f"{STAGE} [data-save={kind}]").click()
        expect(page.locator(f"{STAGE} .sv-kept")).to_contain_text("copied")
        texts.append(page.evaluate("navigator.clipboard.readText()"))
    names = {"specviz": specviz, "print": print}
    run = dict(re.findall(r"(config) = specviz\.(RunConfig\(.*?\n\))", texts[0], re.DOTALL))
    assert eval(f"specviz.{run['config']}", names) == explore.recordings.opening().config
    assert shlex.split(texts[1])[:4] == [
        "specviz",
        "generate",
        "--prompt",
        explore.recordings.OPENING.prompt,
    ]


# Whether the text is scrolled by whole lines, one of which is to be seen.
WHOLE_LINES = """() => {
  const box = document.querySelector('#sv-stage .sv-ribbon');
  const line = parseFloat(getComputedStyle(box).lineHeight), lines = box.scrollTop / line;
  return box.clientHeight < 2 * line && box.scrollTop > 0 &&
    Math.abs(lines - Math.round(lines)) < 0.1;
}"""


def test_a_token_leads_to_its_step_and_a_node_has_its_numbers(page):
    index = step_with("accepted", "rejected")
    to_step(page, index + 1)
    page.locator(f"{STAGE} .sv-ribbon [data-step='{index}']").first.click()
    expect(page.locator(f"{STAGE} .sv-svg")).to_have_attribute("data-step", str(index))
    page.locator(f"{STAGE} .sv-svg .node.accepted .shape").first.click()
    expect(page.locator(f"{STAGE} .sv-why")).to_contain_text("u = ")
    page.get_by_role("button", name="In numbers").click()
    names = page.locator(f"{STAGE} .sv-detail dt").all_inner_texts()
    assert names[:3] == [
        "the target’s probability p",
        "the draft’s probability q",
        "kept with probability",
    ]
    token = page.locator(f"{STAGE} .sv-why-fold .sv-token")
    expect(token).not_to_have_text("")
    to_step(page, index + 1)  # where no node is pointed at
    expect(token).to_have_text("")


def test_settings_can_be_closed_wherever_they_are_scrolled(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="All settings").click()
    drawer = page.locator("#sv-settings")
    drawer.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    close = page.get_by_role("button", name="All settings")
    expect(close).to_be_in_viewport()
    close.click()
    expect(drawer).to_be_hidden()


def test_escape_closes_the_topmost_of_what_is_open(serve, visit):
    page = visit(serve())  # with all settings
    drawer, card = page.locator("#sv-settings"), page.locator(f"{STAGE} .sv-node-card")
    html = page.locator("html")
    page.locator(f"{STAGE} .sv-svg .node.accepted .shape").first.click()
    for closed, rest in ((card, [drawer]), (drawer, [])):
        page.keyboard.press("Escape")
        expect(closed).to_be_hidden()
        for part in rest:
            expect(part).to_be_visible()
    page.evaluate("document.querySelector('.sv-present-button').click()")
    expect(html).to_have_id("sv-present")
    page.locator(f"{STAGE} .sv-svg .node.accepted .shape").first.click()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(html).to_have_id("sv-present")
    page.keyboard.press("Escape")
    expect(html).not_to_have_id("sv-present")


def test_no_line_of_the_text_is_cut_when_it_is_presented(page):
    page.set_viewport_size({"width": 1280, "height": 720})
    prompt_line = page.locator(f"{STAGE} .sv-asked")
    expect(prompt_line).to_be_hidden()
    to_step(page, 5)
    present(page)
    page.wait_for_function(WHOLE_LINES)
    expect(prompt_line).to_be_visible()
    assert prompt_line.inner_text() == page.locator(f"{STAGE} .sv-prompt").text_content().strip()
    present(page)


def test_pointing_at_a_node_or_clicking_it_says_what_happened_where_the_eye_is(page):
    caption, card = page.locator(f"{STAGE} .sv-caption"), page.locator(f"{STAGE} .sv-node-card")
    for width, height in ((1280, 800), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        page.locator(f"{STAGE} .sv-canvas").evaluate("box => box.scrollIntoView()")
        index = step_with("accepted", "rejected", "unreached")
        to_step(page, index + 1)
        to_step(page, index)
        rest = caption.inner_text()
        for outcome in ("accepted", "rejected", "unreached"):
            word = OUTCOMES[outcome]
            node = page.locator(f"{STAGE} .sv-svg .node.{outcome} .shape").first
            for act in (node.hover, node.click):
                act(force=True)
                said = "kept" if outcome == "accepted" else word
                expect(caption).to_contain_text(said, ignore_case=True)
                expect(card).to_contain_text(word)
                expect(card).to_contain_text("probability q")
                assert page.evaluate(COVERS) == [], "the card covers the accepted path"
                for part in (caption, card):
                    box = part.bounding_box()
                    assert box["y"] >= -1 and box["y"] + box["height"] <= height, outcome
        page.keyboard.press("Escape")
        page.mouse.move(1, 1)
        expect(caption).to_have_text(rest)
        expect(card).to_be_hidden()


COVERS = """() => {
  const box = document.querySelector('#sv-stage .sv-node-card').getBoundingClientRect();
  const verified = '#sv-stage .sv-svg .node:is(.root, .accepted, .bonus, .correction)';
  return [...document.querySelectorAll(verified)].filter(node => {
    const other = node.getBoundingClientRect();
    return box.left < other.right && other.left < box.right &&
      box.top < other.bottom && other.top < box.bottom;
  }).map(node => node.textContent);
}"""


def test_the_keyboard_alone_is_enough(page):
    svg = page.locator(f"{STAGE} .sv-svg")
    page.keyboard.press("ArrowRight")
    expect(svg).to_have_attribute("data-step", "1")
    svg.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(f"{STAGE} .node.selected")).to_have_count(1)
    expect(page.locator(f"{STAGE} .sv-caption")).to_have_attribute("aria-live", "polite")
    page.keyboard.press("Escape")
    expect(page.locator(f"{STAGE} .node.selected")).to_have_count(0)
    page.locator(f"{STAGE} .sv-phases :checked").press("ArrowLeft")
    expect(svg).to_have_attribute("data-phase", "3")


def test_all_of_a_large_tree_is_in_its_box(page, tmp_path, chromium):
    context = chromium.new_context()
    own = context.new_page()
    offline(own, tmp_path, builder=B["sequoia"](size=64, depth=10), verifier=V["sequoia"]())
    over = "box => box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1"
    assert not own.locator(".sv-scroll").evaluate(over)
    context.close()


@pytest.mark.parametrize(
    "builder", rest_of(sorted(set(B) - {"plain"}), few=["k-sequences", "lookahead", "sequoia"])
)
def test_every_builder_s_step_plays_to_its_end(page, tmp_path, builder):
    rule = "specinfer" if B[builder].reads_draft else "target-match"
    config = specviz.RunConfig("abc", B[builder](), rule, max_new_tokens=12)
    run = specviz.run(specviz.toy_pair(vocab=12), config)
    path = tmp_path / "run.json"
    path.write_text(run.to_json(), encoding="utf-8")
    open_file(page, path)
    expect(page.locator(f"{STAGE} .sv-about-run")).to_contain_text(B[builder].title)
    for phase in "1234":
        if page.locator(f"{STAGE} .sv-svg").get_attribute("data-nodes") != "1":
            page.locator(f"{STAGE} .sv-phases label").nth(int(phase) - 1).click()
            expect(page.locator(f"{STAGE} .sv-svg")).to_have_attribute("data-phase", phase)
    counts_add_up(page)


def test_menus_mark_what_does_not_fit_and_name_what_works(serve, visit):
    page = visit(serve())
    choose(page, "Verification rule", "Speculative sampling")
    notice = page.locator("#sv-notice .sv-notice")
    expect(notice).to_have_attribute("data-kind", "impossible")
    expect(page.locator("#sv-run")).to_be_disabled()
    page.locator("#sv-notice .sv-fix").click()
    expect(page.locator("#sv-run")).to_be_enabled()
    page.locator("#sv-prompt textarea").fill("")
    page.locator("#sv-run").click()
    expect(notice).to_contain_text("Prompt must not be empty")
    assert page.locator(f"{STAGE} .sv-svg .node").count() > 3, "the page stays as it is"


def test_what_is_pointed_at_stays_while_messages_come(serve, visit, step_by_step):
    pair = Gated(permits=2)
    page = visit(serve(pair), settings=False)
    page.locator("#sv-run").click()
    expect(page.locator(f"{STAGE} .sv-where")).to_have_text("step 2 of 2")
    page.locator(f"{STAGE} .sv-back").click()
    expect(page.locator(f"{STAGE} .sv-where")).to_have_text("step 1 of 2")
    pair.gate.release(10**6)
    state(page, "done")
    expect(page.locator(f"{STAGE} .sv-where")).to_contain_text("step 1 of")


def test_the_last_runs_can_be_shown_again(serve, visit):
    # The two that are picked are both of weights in memory, as this pair's are; the page opens with
    # a recording on disk, whose settings it could not hold.
    page = visit(serve(), settings=False)
    svg, headline = page.locator(f"{STAGE} .sv-svg"), page.locator("#sv-headline em")
    chips = page.locator(f"{STAGE} .sv-history button")
    pick(page, "Chain")
    expect(svg).to_have_attribute("data-of", "recorded-smollm2-chain-0.6")
    chain = headline.inner_text()
    pick(page, "Large tree")
    expect(chips).to_have_count(3)
    expect(headline).not_to_have_text(chain)
    chips.nth(1).click()
    expect(page.locator("#sv-preset :checked")).to_have_value("Chain")
    expect(headline).to_have_text(chain)
    expect(page.locator("#sv-headline")).not_to_contain_text("press Run")


def ended(page):
    expect(page.locator("#sv-stop")).to_be_disabled(timeout=60_000)


def test_a_run_that_goes_on_never_takes_the_place_of_what_was_chosen_since(
    serve, visit, step_by_step
):
    pair = Gated(permits=2)
    page = visit(serve(pair))
    headline, about = page.locator("#sv-headline em"), page.locator(f"{STAGE} .sv-about-run")
    chips = page.locator(f"{STAGE} .sv-history button")
    page.locator("#sv-run").click()
    expect(page.locator(f"{STAGE} .sv-where")).to_have_text("step 2 of 2")
    pick(page, "Chain")
    expect(about).to_contain_text("recorded")
    chosen = headline.inner_text(), about.inner_text()
    pair.gate.release(10**6)
    ended(page)
    assert (headline.inner_text(), about.inner_text()) == chosen
    expect(page.locator("#sv-preset :checked")).to_have_value("Chain")
    expect(chips).to_have_count(3)
    chips.nth(1).click()
    state(page, "done")


def test_a_run_that_begins_late_is_listed_beside_what_was_chosen_since(serve, visit, step_by_step):
    pair = Gated(permits=0)
    page = visit(serve(pair))
    about, chips = (
        page.locator(f"{STAGE} .sv-about-run"),
        page.locator(f"{STAGE} .sv-history button"),
    )
    choose(page, "Verification rule", "Race")
    page.locator("#sv-run").click()
    expect(page.locator("#sv-headline")).to_contain_text("A run begins.")
    expect(page.locator("#sv-stop")).to_be_enabled()
    choose(page, "Verification rule", "Sequoia")
    pick(page, "Large tree")
    svg = page.locator(f"{STAGE} .sv-svg")
    expect(svg).to_have_attribute("data-of", "recorded-smollm2-large-tree-0.6")
    expect(chips).to_have_count(2)
    chosen = about.inner_text()
    pair.gate.release(10**6)
    expect(chips).to_have_count(3)
    ended(page)
    assert about.inner_text() == chosen
    chips.last.click()
    state(page, "done")
    expect(about).to_contain_text("Race")


@pytest.fixture
def patch():
    """As `monkeypatch`, of which a test gets a page of its own, for what a shared page bears."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def test_an_answer_that_comes_late_sets_nothing_that_was_chosen_since(serve, visit, patch):
    whole = explore.recorded
    gates = [threading.Event(), threading.Event()]
    begun = [threading.Event(), threading.Event()]
    calls = iter(range(100))

    def slow(*args):
        number = next(calls)
        if number < 2:
            begun[number].set()
            assert gates[number].wait(60)
        return whole(*args)

    page = visit(serve(Gated()))
    patch.setattr(explore, "recorded", slow)
    about = page.locator(f"{STAGE} .sv-about-run")
    opened = about.inner_text()
    pick(page, "Large tree")
    assert begun[0].wait(60)
    pick(page, 1)
    gates[0].set()
    assert begun[1].wait(60)  # the answer to the first was there before
    expect(page.locator("#sv-temperature :checked")).to_have_value("1")
    assert about.inner_text() == opened
    gates[1].set()
    expect(about).to_contain_text("temperature 1")
    expect(page.locator("#sv-preset :checked")).to_have_value("Large tree")
    expect(page.locator("#sv-temperature :checked")).to_have_value("1")


def test_a_phone_shows_prompt_choices_text_tree_and_what_plays_it_on_its_first_screen(serve, visit):
    page = visit(serve(), width=390, height=844, settings=False)
    for part in (
        "#sv-headline em",
        "#sv-prompt textarea",
        "#sv-run",
        "#sv-settings-opener",
        f"{STAGE} .sv-ribbon",
    ):
        expect(page.locator(part)).to_be_in_viewport(ratio=0.99)
    for part in (".sv-opts .sv-choice label", "#sv-prompts .sv-chips button", f"{STAGE} .sv-play"):
        for control in page.locator(part).all():
            expect(control).to_be_in_viewport(ratio=0.99)
    for node in page.locator(f"{STAGE} .sv-svg .node").all():
        expect(node).to_be_in_viewport()
    lines = page.locator("#sv-headline em").evaluate(
        "part => part.parentElement.querySelector('span').getBoundingClientRect().bottom"
        " - part.getBoundingClientRect().top"
    )
    assert lines < 50  # two lines
    play = page.locator(f"{STAGE} .sv-play")
    play.click()  # a legend of other marks may take another line
    top = play.bounding_box()["y"]
    page.locator(f"{STAGE} .sv-state").evaluate(
        "part => (part.textContent = 'Loading the target.')"
    )
    # what a run says moves no control
    assert play.bounding_box()["y"] == pytest.approx(top, abs=1)
