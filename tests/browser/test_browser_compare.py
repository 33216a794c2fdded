"""The tab Compare in headless Chromium: recorded runs, runs, replay, differences, table, keyboard, hostile text."""

import json
import re

import gradio as gr
import pytest
from pages import Gated, choose
from playwright.sync_api import expect

import specviz
from app.tabs import compare
from app.tabs.compare import runs, settings
from specviz.benchmarks.timing import ROUNDS
from tests.browser.test_browser_runs import HOSTILE

pytestmark = pytest.mark.browser
PAGE = ("Explore", "Compare")
BOARD = "#sv-compare "


def opened(page):
    page.get_by_role("tab", name="Compare").click()
    page.locator(BOARD + "section.sv-run .node").first.wait_for(timeout=30_000)
    return page


# A tree, a chain and plain decoding.
TREES = (
    f"?tab=compare&temperature={specviz.RunConfig().temperature}&max_new_tokens=96&a.builder=sequoia:size=16"
    "&a.verifier=sequoia&b.builder=chain&b.verifier=speculative-sampling&b.drafter=model&c.decodes=plain"
)


def arranged(visit, url, **more):
    """The tab with other configurations than those of the recorded race."""
    page = visit(url + TREES, ready=BOARD + "section.sv-run .node", **more)
    expect(page.locator("#sv-compare-link")).to_contain_text("Opened from a link")
    expect(page.get_by_label("Tree builder of B")).to_have_value("Chain")
    return page


def column(page, letter):
    return page.locator(f"{BOARD}section.sv-run-{letter}")


def set_kind(page, letter, kind):
    page.locator(f"#sv-side-{letter}").get_by_text(kind, exact=True).click()


def finished(page):
    """Wait for the end of the runs and stop their replay."""
    state = page.locator(BOARD + ".sv-state")
    expect(page.locator(BOARD + ".sv-recorded")).to_be_hidden(timeout=30_000)
    expect(state).to_have_attribute("data-state", "done", timeout=60_000)
    page.keyboard.press("End")
    # A replay that began after the key ends by itself; on a busy machine the runs it replays were slow.
    expect(page.locator(BOARD + ".sv-play")).to_have_attribute("aria-label", "play", timeout=60_000)


def asked(page, tokens=20, off=True):
    """Two configurations of a few tokens."""
    page.get_by_label("New tokens").locator("visible=true").fill(str(tokens))
    if off:
        set_kind(page, "C", "Off")
    page.locator("#sv-compare-run").click()


@pytest.fixture
def sent(monkeypatch):
    """Every message of the runs, as the page received it."""
    seen, play = [], compare.play

    def spied(*args):
        for text in play(*args):
            seen.append(json.loads(text))
            yield text

    monkeypatch.setattr(compare, "play", spied)
    return seen


def contents(messages):
    """Of messages: the steps of each column, its figures, and what is said of the texts."""
    items = [item for news in messages for item in news.get("news", ())]
    count = 1 + max(item["at"] for item in items)
    steps = [[step | {"end": end} for item in items if item["at"] == at and "steps" in item
              for step, (end, _) in zip(item["steps"], item["clock"], strict=True)] for at in range(count)]  # fmt: skip
    figures = [[item["figures"] for item in items if item["at"] == at and "figures" in item][-1] for at in range(count)]
    pairs = {pair["a"] + pair["b"]: pair for item in items for pair in item.get("pairs", ())}
    return steps, figures, pairs


def at(page, seconds):
    """Wait until the page is drawn for a time of its clock."""
    near = "time => Math.abs(document.querySelector('#sv-compare .sv-compare').dataset.time - time) < 1e-6"
    page.wait_for_function(near, arg=seconds)


def to_time(page, seconds):
    move = "(bar, time) => { bar.value = time; bar.dispatchEvent(new Event('input', {bubbles: true})); }"
    page.locator(BOARD + ".sv-scrub").evaluate(move, seconds)
    at(page, seconds)


def ends(steps):
    return [step["end"] for step in steps]


def table_is(page, letters, figures):
    """The table's cells are the figures, formatted."""
    for letter, f in zip(letters, figures, strict=True):
        cell = {name: page.locator(f"{BOARD}td[data-letter={letter}][data-figure={name}]").inner_text()
                for name in ("tokens", "per_pass", "acceptance", "token_ms", "rate", "step_ms")}  # fmt: skip
        assert cell["tokens"] == f"{f['tokens']} in {f['passes']} passes"
        assert cell["per_pass"] == f"{f['per_pass']:.2f}"
        if f["acceptance"] is None:
            assert cell["acceptance"] == "–"
        else:
            assert float(cell["acceptance"].split()[0]) == pytest.approx(100 * f["acceptance"], abs=0.51)
            assert f"{f['accepted']} of {f['compared']} compared" in cell["acceptance"]
        assert float(cell["token_ms"]) == pytest.approx(f["token_ms"], abs=0.0051)
        assert float(cell["rate"]) == pytest.approx(f["rate"], rel=0.01)
        parts = list(map(float, re.findall(r"(?:draft|target|verify|other) ([\d.]+)", cell["step_ms"])))
        assert parts == pytest.approx(f["step_parts"], abs=0.051)


def test_recorded_runs_are_compared_at_first_sight_without_any_model(serve, visit):
    def never():
        raise AssertionError("a model was loaded")

    page = opened(visit(serve(load=never)))
    expect(page.locator(BOARD + ".sv-recorded")).to_be_visible()
    expect(page.locator(BOARD + ".sv-fair")).to_contain_text("one after the other")
    data = json.loads(runs.recorded())
    steps, figures, _ = contents([data])
    table_is(page, "ABC", figures)
    expect(page.locator(BOARD + ".sv-title-line")).to_contain_text(data["when"])
    lines = page.locator(BOARD + ".sv-texts li")
    expect(lines).to_have_count(3)
    for line in lines.all():
        expect(line).to_contain_text("identical text, all 48 tokens, as expected")
    expect(page.locator(BOARD + ".differs")).to_have_count(0)
    expect(page.locator(BOARD + ".sv-race-svg path.line")).to_have_count(3)
    dashes = page.locator(BOARD + ".sv-race-svg path.line").evaluate_all(
        "lines => lines.map(line => getComputedStyle(line).strokeDasharray + getComputedStyle(line).stroke)"
    )
    assert len(set(dashes)) == 3
    expect(page.locator(BOARD + ".sv-play")).to_have_attribute("aria-label", "play")
    first = min(ends(column)[-1] for column in steps)
    assert float(page.locator(BOARD + ".sv-compare").get_attribute("data-time")) == pytest.approx(first)


def test_the_shared_clock_moves_every_run_by_its_own_times(serve, visit):
    page = opened(visit(serve()))
    steps, _, _ = contents([json.loads(runs.recorded())])
    clocks = dict(zip("ABC", map(ends, steps), strict=True))
    longest = max(clock[-1] for clock in clocks.values())

    def stands(time):
        for letter, clock in clocks.items():
            done = sum(end <= time for end in clock)
            expect(column(page, letter).locator(".sv-svg")).to_have_attribute("data-step", str(done - 1))
            later = column(page, letter).locator(".sv-ribbon .later").count()
            assert later == sum(len(step["pieces"]) for step in steps["ABC".index(letter)][done:])

    for share in (0.0, 0.03, 0.4, 0.77, 1.0):
        to_time(page, share * longest)
        stands(share * longest)
    expect(page.locator(BOARD + ".sv-where")).to_have_text(f"{longest:.3f} of {longest:.3f} s")
    box = page.locator(BOARD + ".sv-race-svg").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)  # the race is a clock as well
    clock = "document.querySelector('#sv-compare .sv-compare').dataset.time"
    page.wait_for_function(f"{clock} > {0.4 * longest} && {clock} < {0.6 * longest}")
    time = float(page.evaluate(clock))
    stands(time)
    column(page, "B").locator(".sv-ribbon [data-step='4']").first.click()
    expect(column(page, "B").locator(".sv-svg")).to_have_attribute("data-step", "4")
    stands(clocks["B"][4])


def test_the_keyboard_alone_is_enough(serve, visit):
    page = opened(visit(serve()))
    steps, _, _ = contents([json.loads(runs.recorded())])
    clocks = [ends(column) for column in steps]
    moments = sorted({end for clock in clocks for end in clock})
    board = page.locator(BOARD + ".sv-compare")
    page.locator(BOARD + ".sv-fair").click()  # away from the tab, which has arrow keys of its own
    page.keyboard.press("Home")
    at(page, 0)
    page.keyboard.press("ArrowRight")
    at(page, moments[0])
    page.keyboard.press("ArrowRight")
    at(page, moments[1])
    page.keyboard.press("ArrowLeft")
    at(page, moments[0])
    expect(page.locator(BOARD + ".sv-live")).to_contain_text("A ")
    page.keyboard.press("End")
    at(page, moments[-1])
    svg = column(page, "A").locator(".sv-svg")
    svg.focus()  # in a tree the arrows are that run's own steps
    page.keyboard.press("ArrowLeft")
    at(page, clocks[0][-1])
    page.keyboard.press("ArrowLeft")
    at(page, clocks[0][-2])
    page.keyboard.press("ArrowDown")
    expect(column(page, "A").locator(".node.selected")).to_have_count(1)
    expect(column(page, "A").locator(".sv-node")).to_contain_text("last token")
    page.keyboard.press("Shift+ArrowRight")
    expect(column(page, "A").locator(".sv-node")).to_contain_text(re.compile("accepted|correction|bonus|rejected"))
    page.keyboard.press("Escape")
    expect(column(page, "A").locator(".node.selected")).to_have_count(0)
    shown = svg.locator(".pill").count()
    page.keyboard.press("e")
    expect(svg.locator(".pill")).to_have_count(0)
    page.keyboard.press("e")
    expect(svg.locator(".pill")).to_have_count(shown)
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    expect(page.locator(BOARD + ".sv-play")).to_have_attribute("aria-label", "pause")
    page.keyboard.press(" ")
    expect(page.locator(BOARD + ".sv-play")).to_have_attribute("aria-label", "play")
    before = float(board.get_attribute("data-time"))
    prompt = page.locator("#sv-compare-prompt textarea")
    prompt.press("End")
    prompt.press("ArrowLeft")
    assert float(board.get_attribute("data-time")) == before, "keys belong to the prompt while it is typed"


def test_two_runs_are_decoded_compared_and_replayed(serve, visit, sent):
    pair = Gated()
    page = arranged(visit, serve(pair))
    asked(page)
    finished(page)
    steps, figures, pairs = contents(sent)
    assert len(steps) == 2
    table_is(page, "AB", figures)
    configs = [("sequoia", "sequoia"), ("chain", "speculative-sampling")]
    prompt, written = page.locator("#sv-compare-prompt textarea").input_value(), []
    for letter, (builder, rule) in zip("AB", configs, strict=True):
        trace = specviz.run(pair, specviz.RunConfig(
            prompt, specviz.BUILDERS[builder](), specviz.VERIFIERS[rule](), max_new_tokens=20
        ))  # fmt: skip
        text = column(page, letter).locator(".sv-ribbon").evaluate("box => box.textContent")
        assert text == prompt + trace.text
        cell = page.locator(f"{BOARD}td[data-letter={letter}][data-figure=per_pass]")
        expect(cell).to_have_text(f"{trace.tokens_per_pass:.2f}")
        written.append(trace.tokens)
    at = next(i for i, (a, b) in enumerate(zip(*written, strict=True)) if a != b)
    line = page.locator(BOARD + ".sv-texts li")
    expect(line).to_have_count(1)
    expect(line).to_contain_text(f"A and B: the first different token is token {at + 1}.")
    expect(page.locator(BOARD + ".sv-texts-why")).to_contain_text("Different texts are expected")
    assert pairs["AB"]["position"] == at
    for letter, other in ("AB", "BA"):
        spans = column(page, letter).locator(".sv-ribbon [data-step]")
        expect(spans.nth(at)).to_have_attribute("data-differs", f"≠{other}")
        expect(column(page, letter).locator(".differs")).to_have_count(1)
    page.keyboard.press("Home")
    line.get_by_role("button", name="show where A and B differ").click()
    for letter in "AB":
        expect(column(page, letter).locator(".differs")).not_to_have_class(re.compile("later"))
    expect(page.locator("#sv-compare-stop")).to_be_disabled()
    last = [item["paired"] for news in sent for item in news.get("news", ()) if "paired" in item][-1]
    expect(page.locator(f"{BOARD}td[data-letter=B][data-figure=speedup]")).to_have_text(
        f"{last['speedup']:.2f}×{last['low']:.2f} to {last['high']:.2f} in {ROUNDS} rounds"
    )
    page.locator(BOARD + ".sv-speed").select_option("1")
    page.keyboard.press("Home")
    page.locator(BOARD + ".sv-play").click()
    longest = max(ends(column)[-1] for column in steps)
    expect(page.locator(BOARD + ".sv-where")).to_have_text(f"{longest:.3f} of {longest:.3f} s")


def test_where_identical_text_is_promised_it_is_said(serve, visit):
    page = arranged(visit, serve())
    choose(page, "Verification rule of A", "Race")
    choose(page, "Verification rule of B", "Race")
    asked(page, off=False)
    finished(page)
    for line in page.locator(BOARD + ".sv-texts li").all():
        expect(line).to_contain_text("identical text, all 20 tokens, as expected")
    expect(page.locator(BOARD + ".sv-texts li[data-kind=equal]")).to_have_count(3)
    expect(page.locator(BOARD + "td[data-figure=speedup]").last).to_have_text("1.00×")


def test_a_replay_starts_by_itself_unless_motion_is_reduced(serve, visit):
    url = serve()
    pages = {motion: arranged(visit, url, reduced_motion=motion) for motion in ("no-preference", "reduce")}
    for motion, page in pages.items():
        page.locator(BOARD + ".sv-speed").select_option("0.02")
        asked(page, tokens=60)
        state = page.locator(BOARD + ".sv-state")
        expect(page.locator(BOARD + ".sv-recorded")).to_be_hidden(timeout=30_000)
        expect(state).to_have_attribute("data-state", "done", timeout=60_000)
        playing = "pause" if motion == "no-preference" else "play"
        expect(page.locator(BOARD + ".sv-play")).to_have_attribute("aria-label", playing)


def test_a_run_that_fails_harms_no_other(serve, visit, caplog):
    class Breaking(Gated):
        def open(self, tokens):
            target, draft = super().open(tokens)
            forward, late = target.forward, len(tokens) + 10

            def breaks(tree, nodes):
                if len(tree) == 5 and len(target.context) > late:  # the chain, once warm
                    raise RuntimeError("the target broke")
                return forward(tree, nodes)

            target.forward = breaks
            return target, draft

    page = arranged(visit, serve(Breaking()))
    asked(page, off=False)
    finished(page)
    expect(column(page, "B").locator(".sv-clock")).to_contain_text(
        "This run failed. See the server's log for the reason."
    )
    assert column(page, "B").locator(".sv-ribbon [data-step]").count() > 0, "what was decoded stays"
    for letter in "AC":
        expect(column(page, letter).locator(".sv-clock")).to_contain_text("20 tokens in")
    assert "the target broke" not in page.locator("body").inner_text()


def test_stop_keeps_what_was_decoded_and_another_comparison_can_begin(serve, visit, monkeypatch):
    monkeypatch.setattr(runs, "batch_by_time", lambda steps: ([step] for step in steps))
    pair = Gated(permits=runs.WARM_UP + 4)
    page = arranged(visit, serve(pair))
    asked(page, tokens=60)
    expect(column(page, "A").locator(".sv-clock")).to_contain_text("step 4; decoding")
    expect(column(page, "B").locator(".sv-clock")).to_have_text("waiting")
    expect(page.locator(BOARD + ".sv-state")).to_have_text("Decoding A, 1 of 2.")
    page.locator("#sv-compare-stop").click()
    expect(page.locator(BOARD + ".sv-state")).to_have_attribute("data-state", "stopped")
    pair.gate.release(10**6)
    page.keyboard.press("End")
    expect(column(page, "A").locator(".sv-clock")).to_contain_text("stopped here")
    expect(column(page, "B").locator(".sv-clock")).to_have_text("not run")
    assert column(page, "A").locator(".sv-ribbon [data-step]").count() >= 4
    page.locator("#sv-compare-run").click()
    expect(page.locator(BOARD + ".sv-state")).not_to_have_attribute("data-state", "stopped", timeout=30_000)
    finished(page)


def test_what_cannot_run_is_told_before_and_what_is_lossy_carries_its_mark(serve, visit):
    page = arranged(visit, serve())
    choose(page, "Tree builder of B", "k-ary")
    expect(page.locator("#sv-side-B-notice")).to_contain_text("defined for chains")
    expect(page.locator("#sv-compare-run")).to_be_disabled()
    set_kind(page, "B", "Plain decoding")
    expect(page.get_by_label("Tree builder of B")).to_be_hidden()
    expect(page.locator("#sv-compare-run")).to_be_enabled()
    choose(page, "Verification rule of A", "Typical acceptance")
    expect(page.locator("#sv-side-A-notice .sv-notice")).to_have_attribute("data-kind", "lossy")
    asked(page)
    finished(page)
    expect(column(page, "A").locator(".sv-lossy")).to_be_visible()
    expect(column(page, "B").locator(".sv-lossy")).to_have_count(0)
    expect(page.locator(BOARD + ".sv-texts-why")).to_contain_text("A is lossy")


def test_whatever_is_turned_is_looked_at(serve, visit):
    page = arranged(visit, serve())
    side, said = page.locator("#sv-side-A"), page.locator("#sv-side-A-notice .sv-notice")
    run, rail = page.locator("#sv-compare-run"), page.locator(".sv-rail").filter(has=page.locator("#sv-compare-run"))
    rail.get_by_role("button", name="More").click()
    for label, wrong, right in (("New tokens", "0", "12"), ("Top-k", "many", "40")):  # boxes for numbers and for text
        rail.get_by_label(label).fill(wrong)
        expect(said).to_contain_text(f"{label} must be")
        expect(run).to_be_disabled()
        rail.get_by_label(label).fill(right)
        expect(said).to_be_hidden()
        expect(run).to_be_enabled()
    choose(page, "Verification rule of A", "Typical acceptance")  # a menu
    expect(said).to_have_attribute("data-kind", "lossy")
    temperature = rail.get_by_label("number input for Temperature")
    temperature.fill("-1")  # a slider's box, which brings it into range when it is left
    expect(said).to_contain_text("Temperature must be")
    temperature.press("Tab")
    expect(temperature).to_have_value("0")
    expect(said).to_be_hidden()
    rail.get_by_label("range slider for Temperature").fill("1")  # the slider
    expect(said).to_have_attribute("data-kind", "lossy")
    rail.get_by_role("button", name="Reset").first.click()  # and its button
    expect(said).to_be_hidden()
    rail.get_by_label("range slider for Temperature").fill("1")
    choose(page, "Verification rule of A", "SpecInfer")
    expect(said).to_be_hidden()
    choose(page, "Drafter of A", "Several drafters")
    side.get_by_role("button", name="Parameters").click()
    expect(said).to_be_hidden()
    side.get_by_label("Merge equal tokens").check()  # a switch
    expect(said).to_contain_text("Merging equal tokens")
    set_kind(page, "A", "Plain decoding")  # one of a few
    expect(said).to_be_hidden()


def test_every_kind_of_control_is_among_those_that_were_turned():
    with gr.Blocks():
        kinds = {type(control) for control in settings.lay_out(gr.Textbox("a")).inputs}
    assert kinds == {gr.Textbox, gr.Number, gr.Dropdown, gr.Slider, gr.Checkbox, gr.Radio}, "the test above turns these"


def test_bad_input_gets_a_sentence_and_the_page_keeps_what_it_shows(serve, visit):
    page = arranged(visit, serve())
    page.locator("#sv-compare-prompt textarea").fill("   ")
    page.locator("#sv-compare-run").click()
    line = page.locator("#sv-compare-status .text")
    expect(line).to_contain_text("Prompt must not be empty.")
    page.locator("#sv-compare-prompt textarea").fill("word " * 1000)
    page.locator("#sv-compare-run").click()
    expect(line).to_contain_text("Prompt must be shorter than the models' context")
    expect(page.locator(BOARD + ".sv-recorded")).to_be_visible()
    expect(page.locator(BOARD + ".sv-texts li")).to_have_count(3)  # pairs of the three recorded runs


def test_parameters_are_behind_a_fold_and_reachable(serve, visit, sent):
    page = arranged(visit, serve())
    side = page.locator("#sv-side-A")
    expect(side.get_by_label("number input for Tree size (nodes)")).to_be_hidden()
    side.get_by_role("button", name="Parameters").click()
    expect(side.get_by_label("range slider for Tree size (nodes)")).to_have_value("16")
    side.get_by_label("number input for Tree size (nodes)").fill("4")
    side.get_by_label("number input for Tree size (nodes)").press("Tab")
    expect(side.get_by_label("range slider for Tree size (nodes)")).to_have_value("4")
    asked(page)
    finished(page)
    expect(column(page, "A").locator(".sv-run-details")).to_contain_text("tree size (nodes) 4,")
    steps, _, _ = contents(sent)
    assert max(len(step["parents"]) for step in steps[0]) == 4


def test_hostile_text_is_only_ever_text(serve, visit):
    page = arranged(visit, serve(Gated(pieces=HOSTILE)))
    prompt = " ".join(HOSTILE).replace("\x00", "").replace("\n", " ")
    page.locator("#sv-compare-prompt textarea").fill(prompt)
    asked(page, off=False)
    finished(page)
    for letter in "ABC":
        text = column(page, letter).locator(".sv-ribbon").evaluate("box => box.textContent")
        assert text.startswith(prompt)
    assert page.locator(f"{BOARD}img, {BOARD}script, {BOARD}a").count() == 0
    for share in (0.2, 0.6, 1):
        to_time(page, share * float(page.locator(BOARD + ".sv-scrub").get_attribute("max")))
        for node in column(page, "A").locator(".sv-svg .node").all():
            node.hover(force=True)
    for button in page.locator(BOARD + ".sv-texts button").all():
        button.click()
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_every_width_and_scheme_fits(serve, visit, width, scheme):
    page = opened(visit(f"{serve()}?__theme={scheme}", width=width, height=900, color_scheme=scheme))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = [column(page, letter).bounding_box() for letter in "ABC"]
    if width < 500:
        assert boxes[0]["y"] < boxes[1]["y"] < boxes[2]["y"], "columns stack"
        assert boxes[0]["y"] < page.locator("#sv-compare-prompt").bounding_box()["y"]
    else:
        assert boxes[0]["y"] == boxes[1]["y"] == boxes[2]["y"], "side by side"
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)


def test_a_link_fills_in_both_columns_and_waits_for_run(serve, visit):
    query = "tab=compare&seed=5&a.builder.size=5&b.decodes=plain&c.decodes=off"  # nothing that a menu would tell
    page = visit(f"{serve()}?{query}", ready=BOARD + "section.sv-run .node")
    expect(page.locator("#sv-compare-link")).to_contain_text("Opened from a link. Press Run to start.")
    expect(page.get_by_label("Tree builder of B")).to_be_hidden()
    expect(page.locator(BOARD + ".sv-recorded")).to_be_visible()
    page.locator("#sv-compare-run").click()
    finished(page)
    expect(column(page, "A").locator(".sv-run-details")).to_contain_text("tree size (nodes) 5,")
    expect(page.locator(BOARD + "section.sv-run")).to_have_count(2)
    page.locator("#sv-compare-link .sv-link-copy").click()
    page.wait_for_url(re.compile(r"tab=compare&.*seed=5.*a\.builder=sequoia:size=5.*b\.decodes=plain.*c\.decodes=off"))


def test_a_comparison_is_saved_and_opened_with_its_controls(serve, visit, tmp_path):
    page = opened(visit(serve(specviz.toy_pair(vocab=12))))
    page.get_by_label("Seed").locator("visible=true").fill("5")
    set_kind(page, "B", "Plain decoding")
    asked(page)
    finished(page)
    with page.expect_download() as download:
        page.locator(BOARD + ".sv-save").click()
    download.value.save_as(tmp_path / "comparison.json")
    page.reload()
    page = opened(page)
    page.locator(BOARD + ".sv-open-file").set_input_files(tmp_path / "comparison.json")
    expect(page.locator(BOARD + ".sv-recorded")).to_have_text("opened from a file", timeout=60_000)
    expect(page.locator("#sv-compare-link")).to_contain_text("All settings are those of the opened comparison.")
    expect(page.get_by_label("Seed").locator("visible=true")).to_have_value("5")
    expect(page.locator(BOARD + "section.sv-run")).to_have_count(2)
    (tmp_path / "other.json").write_text("{}")
    page.locator(BOARD + ".sv-open-file").set_input_files(tmp_path / "other.json")
    expect(page.locator(BOARD + ".sv-kept")).to_contain_text("It is not a comparison")
