"""Live runs in headless Chromium: streaming, stop, a closed tab, the queue, failures, hostile
text."""

import threading
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

import specviz
from app.tabs import explore
from tests.pages import HOSTILE, STAGE, Gated, choose, counts_add_up, open_file, save, state, steps

pytestmark = pytest.mark.browser
PAGE = ("Explore",)


def test_a_run_streams_to_its_end_and_is_plain_decodings_text(serve, visit):
    pair = Gated()
    page = visit(serve(pair))
    choose(page, "Verification rule", "Race")
    page.get_by_role("button", name="More").click()
    expect(page.get_by_label("Top-k")).to_be_visible()
    page.get_by_label("New tokens").fill("40")
    page.locator("#sv-run").click()
    state(page, "done")
    config = replace(
        explore.recordings.opening().config,
        verifier=specviz.VERIFIERS["race"](),
        max_new_tokens=40,
    )
    trace = specviz.run(pair, config)
    assert page.locator(".sv-ribbon").text_content() == config.prompt + trace.text
    assert steps(page) == len(trace.steps)
    expect(page.locator(".sv-same")).to_have_text(
        "Same seed, same text: all 40 tokens equal plain decoding."
    )
    for value in (f"{trace.tokens_per_pass:.2f}", f"{100 * trace.acceptance:.0f} %", "×"):
        expect(page.locator(".sv-measures")).to_contain_text(value)
    expect(page.locator("#sv-stop")).to_be_disabled()
    counts_add_up(page)


def test_the_text_of_a_run_streams_and_all_of_it_is_there_at_its_end(serve, visit):
    """Also that of a prompt of one's own, whose picture ends at a step on its way."""
    page = visit(serve(Gated()), reduced_motion="no-preference", settings=False)
    page.locator("#sv-prompt textarea").fill("abc")
    page.evaluate(
        """() => { window.lengths = []; new MutationObserver(() => {
          const grown = '#sv-stage [data-grows=true] [data-step]:not(.later)';
          window.lengths.push(document.querySelectorAll(grown).length);
        }).observe(document.querySelector('#sv-stage .sv-ribbon'),
          { subtree: true, childList: true, attributes: true }); }"""
    )
    page.locator("#sv-run").click()
    state(page, "done")
    expect(page.locator(f"{STAGE} .sv-ribbon")).to_have_attribute("data-grows", "false")
    lengths = [length for length in page.evaluate("window.lengths") if length]
    while lengths and lengths[0] >= max(lengths):  # the run that was there before
        lengths.pop(0)
    assert lengths == sorted(lengths) and len(set(lengths)) > 4, "token by token"
    page.locator(f"{STAGE} .sv-phases label").last.click()
    hidden = "spans => spans.filter(span => getComputedStyle(span).visibility === 'hidden').length"
    assert page.locator(f"{STAGE} .sv-ribbon [data-step]").evaluate_all(hidden) == 0
    assert int(page.locator(f"{STAGE} .sv-svg").get_attribute("data-step")) < steps(page) - 1


def test_a_second_run_of_the_same_settings_takes_the_next_seed_and_says_so(serve, visit):
    pair = Gated()
    page = visit(serve(pair))
    seed, ribbon = page.get_by_label("Seed"), page.locator(f"{STAGE} .sv-ribbon")
    page.locator("#sv-run").click()
    state(page, "done")
    expect(page.locator("#sv-stop")).to_be_disabled()
    text, following = ribbon.text_content(), str(int(seed.input_value()) + 1)
    pair.gate = threading.Semaphore(0)  # it waits until the button was seen
    page.locator("#sv-run").click()
    expect(seed).to_have_value(following)
    expect(page.locator("#sv-stop")).to_be_enabled()
    pair.gate.release(10**6)
    state(page, "done")
    expect(page.locator("#sv-stop")).to_be_disabled()
    expect(page.locator(f"{STAGE} .sv-about-run")).to_contain_text(f"seed {following}")
    expect(page.locator("#sv-headline")).to_contain_text(f"seed {following}")
    assert ribbon.text_content() != text
    prompt = page.locator("#sv-prompt textarea")
    before = prompt.input_value()
    prompt.fill("another one")
    stale = "Below is another run: press Run to compute this one."
    expect(page.locator("#sv-headline")).to_contain_text(stale)
    prompt.fill(before)
    page.get_by_label("New tokens").fill("20")
    page.get_by_label("New tokens").press("Tab")
    expect(page.locator("#sv-headline")).to_contain_text(stale)
    page.locator("#sv-run").click()
    state(page, "done")
    expect(seed).to_have_value(following)


def test_run_pressed_while_a_run_goes_on_begins_anew(serve, visit, step_by_step):
    pair = Gated(permits=3)
    page = visit(serve(pair))
    chips = page.locator(f"{STAGE} .sv-history button")
    seed = page.get_by_label("Seed")
    page.locator("#sv-run").click()
    expect(page.locator(f"{STAGE} .sv-where")).to_have_text("step 3 of 3")
    first = seed.input_value()
    seed.fill("123")
    seed.press("Tab")
    page.locator("#sv-run").click()
    pair.gate.release(10**6)
    expect(page.locator(f"{STAGE} .sv-about-run")).to_contain_text("seed 123")
    state(page, "done")
    expect(chips).to_have_count(3)  # what was decoded of the run before stays
    expect(chips.nth(1)).to_contain_text(f"seed {first}")
    expect(page.locator("#sv-stop")).to_be_disabled()
    assert seed.input_value() == "123"
    page.get_by_label("Prompt").first.press("Enter")
    expect(seed).to_have_value("124")  # a whole run of the same settings has the next


def saved_steps(page, folder):
    """How many steps the saved file of an unfinished run has."""
    trace = specviz.Trace.from_json(save(page, "json", folder).read_text("utf-8"))
    assert trace.stop == "stopped"
    return len(trace.steps)


@pytest.fixture
def page(seen):
    """The page that some of these share, each with a pair of its own."""
    expect(seen.locator("#sv-stop")).to_be_disabled()
    return seen


def test_stop_ends_a_run_within_a_step_and_the_next_one_starts(serve, page, step_by_step, tmp_path):
    pair = Gated(permits=3)
    serve(pair)
    page.locator("#sv-run").click()
    expect(page.locator(".sv-where")).to_have_text("step 3 of 3")
    page.locator("#sv-stop").click()
    state(page, "stopped")
    assert steps(page) == saved_steps(page, tmp_path) == 3
    pair.gate.release()  # the pass that was under way
    page.wait_for_timeout(500)  # gradio may say twice that the run ended
    expect(page.locator("#sv-notice")).not_to_contain_text("not started")
    passes = pair.passes
    pair.gate.release(10**6)
    page.locator("#sv-run").click()
    expect(page.locator(".sv-state")).not_to_have_attribute("data-state", "stopped")
    state(page, "done")
    assert passes <= 4


def test_closing_the_tab_frees_the_machine(serve, visit, step_by_step):
    pair = Gated(permits=2)
    url = serve(pair)
    page = visit(url)
    page.locator("#sv-run").click()
    expect(page.locator(".sv-where")).to_have_text("step 2 of 2")
    page.close()
    pair.gate.release()
    other = visit(url)
    pair.gate.release(10**6)
    other.locator("#sv-run").click()
    state(other, "done")


def test_one_run_at_a_time_and_others_are_told_their_place(serve, visit, step_by_step):
    pair = Gated(permits=2)
    url = serve(pair)
    first, second = visit(url), visit(url)
    first.locator("#sv-run").click()
    expect(first.locator(".sv-where")).to_have_text("step 2 of 2")
    second.locator("#sv-run").click()
    expect(second.locator("#sv-headline")).to_contain_text("before yours")
    pair.gate.release(10**6)
    state(first, "done")
    state(second, "done")


def test_a_failure_midway_keeps_what_was_decoded(serve, page, caplog, tmp_path):
    serve(Gated(fail_at=4))
    page.locator("#sv-run").click()
    state(page, "error")
    expect(page.locator(".sv-state")).to_contain_text("The run failed.")
    assert (
        steps(page) == saved_steps(page, tmp_path) == 3
        and "the target broke" not in page.locator("body").inner_text()
    )
    counts_add_up(page)


def test_hostile_text_is_only_ever_text(serve, visit, tmp_path):
    page = visit(serve(Gated(pieces=HOSTILE)))
    prompt = " ".join(HOSTILE).replace("\x00", "").replace("\n", " ")
    page.get_by_role("textbox", name="Prompt").fill(prompt)
    page.locator("#sv-run").click()
    state(page, "done")
    assert page.locator(".sv-ribbon").evaluate("box => box.textContent").startswith(prompt)
    for index in range(min(2, steps(page))):
        page.locator(".sv-scrub").fill(str(index))
        expect(page.locator(".sv-svg")).to_have_attribute("data-step", str(index))
        for node in page.locator(".sv-svg .node").all():
            node.hover(force=True)
        page.locator(".sv-svg .node.root").click()
    assert "<img src=x" in page.locator(".sv-ribbon").text_content()
    root = ElementTree.fromstring(save(page, "svg", tmp_path).read_bytes())
    assert {node.tag.partition("}")[2] for node in root.iter()} <= {
        "svg",
        "title",
        "g",
        "path",
        "rect",
        "text",
    }
    names = {name for node in root.iter() for name in node.attrib}
    assert not [
        name
        for name in names
        if name.startswith("on") or "href" in name or name in ("class", "style")
    ]
    drawn = page.locator(f"{STAGE} .sv-svg .node text").all_inner_texts()
    assert set(filter(None, drawn)) <= {
        node.text for node in root.iter("{http://www.w3.org/2000/svg}text")
    }
    open_file(page, save(page, "json", tmp_path))
    expect(page.locator(f"{STAGE} .sv-about-run")).to_contain_text("opened from a file")
    expect(page.locator(f"{STAGE} .sv-ribbon")).to_contain_text("<img src=x")
    assert page.locator(".sv img:not(.sv-qr *), .sv script, .sv-ribbon a").count() == 0
    assert page.evaluate("window.hacked") is None


def test_a_lossy_run_carries_its_mark_and_its_outcomes_add_up(serve, page):
    serve(Gated())
    choose(page, "Verification rule", "Typical acceptance")
    expect(page.locator(".sv-notice[data-kind=lossy]")).to_be_visible()
    page.locator("#sv-run").click()
    expect(page.locator(f"{STAGE} .sv-about-run")).to_contain_text("Typical acceptance")
    state(page, "done")
    expect(page.locator("#sv-headline")).to_contain_text("not exact")
    for index in range(min(5, steps(page))):
        page.locator(".sv-scrub").fill(str(index))
        expect(page.locator(".sv-svg")).to_have_attribute("data-step", str(index))
        counts_add_up(page)


def test_stop_ends_the_comparison_and_leaves_the_run(serve, page, step_by_step):
    pair = Gated(permits=0)
    serve(pair)
    choose(page, "Verification rule", "Sequoia")
    seed = int(page.get_by_label("Seed").input_value())
    config = replace(explore.recordings.opening().config, max_new_tokens=24, seed=seed)
    trace = specviz.run(specviz.toy_pair(vocab=12), config)
    pair.gate.release(
        len(trace.steps) + config.max_new_tokens + 1
    )  # the run, plain decoding, a pass of the next round
    page.get_by_label("New tokens").fill(str(config.max_new_tokens))
    page.locator("#sv-run").click()
    expect(page.locator(".sv-state")).to_contain_text("1 of 3 rounds")
    page.locator("#sv-stop").click()
    state(page, "done")
    expect(page.locator(".sv-state")).to_contain_text("its timing was stopped")
    assert page.locator(".sv-ribbon").text_content() == config.prompt + trace.text
    assert steps(page) == len(trace.steps)
    expect(page.locator(".sv-measures")).to_contain_text("×")
    counts_add_up(page)
    expect(page.locator("#sv-stop")).to_be_disabled()
    pair.gate.release(10**6)
