"""The page in headless Chromium: first paint, a run, stop, nodes, keyboard, hostile text, dark and phone.

Needs an installed Chromium or Chrome (`make browser` sees to it). The runs use toy tables; a gate stands where a slow
model would be, so that no test has to wait for time to pass.
"""

import json
import re
import shutil
import threading

import pytest

import specviz

pytest.importorskip("gradio")
sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect

from app import live  # noqa: E402
from app.page import build_demo, launch  # noqa: E402

pytestmark = pytest.mark.browser
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
HOSTILE = [
    "<img src=x onerror=window.hacked=1>", "${window.hacked=1}", "{{window.hacked=1}}", "`+(window.hacked=1)+`", "\n",
    " ", "</script><script>window.hacked=1</script>", "\u202eabc\x00", "'\"&lt;", "\t", "é漢🌳",
    "javascript:window.hacked=1",
]  # fmt: skip


class Gated:
    """A toy pair whose target waits for a permit before every pass.

    Args:
        permits: how many passes may be made at once.
        pieces: what tokens look like.
        fail_at: the pass at which the target breaks.
    """

    def __init__(self, permits=10**6, pieces=None, fail_at=None):
        self.toy, self.pieces, self.fail_at = specviz.toy_pair(vocab=12), pieces, fail_at
        self.gate, self.passes = threading.Semaphore(permits), 0

    def __getattr__(self, name):
        return getattr(self.toy, name)

    def piece(self, token):
        return self.pieces[token] if self.pieces else self.toy.piece(token)

    def stream(self, context):
        return self.piece

    def open(self, tokens):
        target, draft = self.toy.open(tokens)
        forward = target.forward

        def gated(tree, nodes):
            assert self.gate.acquire(timeout=60)
            self.passes += 1
            if self.passes == self.fail_at:
                raise RuntimeError("the target broke")
            return forward(tree, nodes)

        target.forward = gated
        return target, draft


@pytest.fixture(scope="module")
def chromium():
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert path, "the browser tests need Chromium on the PATH: `make browser`, or `apt-get install chromium`"
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def serve():
    """A function that serves the page with a pair and returns its address."""
    demos = []

    def start(pair=None, load=None):
        demo = build_demo(load or (lambda: pair or specviz.toy_pair(vocab=12)))
        _, url, _ = launch(demo, prevent_thread_lock=True, quiet=True, server_name="127.0.0.1")
        demos.append(demo)
        return url

    yield start
    for demo in demos:
        demo.close(verbose=False)


@pytest.fixture
def visit(chromium):
    """A function that opens a page and watches it: nothing may leave the machine, nothing may break."""
    contexts, foreign, broken = [], [], []

    def look(request):
        if not re.match(r"(http://127\.0\.0\.1[:/]|data:|blob:)", request.url):
            foreign.append(request.url)

    def open_page(url, width=1400, height=1000, **more):
        context = chromium.new_context(viewport={"width": width, "height": height}, **more)
        contexts.append(context)
        page = context.new_page()
        page.on("request", look)
        page.on("pageerror", lambda error: broken.append(str(error)))
        page.on("dialog", lambda dialog: broken.append(dialog.message))
        page.goto(url)
        expect(page.locator(".sv-svg .node").first).to_be_visible(timeout=30_000)
        return page

    yield open_page
    hacked = [page.evaluate("window.hacked") for context in contexts for page in context.pages]
    for context in contexts:
        context.close()
    assert not foreign, foreign
    assert not broken, broken
    assert not any(hacked)


@pytest.fixture
def step_by_step(monkeypatch):
    """Steps are not grouped by time, so that a gate decides how many of them are on the page."""
    monkeypatch.setattr(live, "paced", lambda steps: ([step] for step in steps))


def state(page, name):
    expect(page.locator(".sv-recorded")).to_be_hidden(timeout=30_000)
    expect(page.locator(".sv-state")).to_have_attribute("data-state", name, timeout=60_000)


def steps(page):
    return int(page.locator(".sv-scrub").get_attribute("max")) + 1


def counts_add_up(page):
    counts = page.locator(".sv-legend [data-letter]:not([hidden]) b").all_inner_texts()
    total = int(page.locator(".sv-sum b").inner_text())
    assert sum(map(int, counts)) == total == int(page.locator(".sv-svg").get_attribute("data-nodes"))
    return total


def choose(page, menu, option):
    page.get_by_label(menu, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_the_first_paint_shows_a_recorded_run_without_any_model(serve, visit):
    def never():
        raise AssertionError("a model was loaded")

    page = visit(serve(load=never))
    expect(page.locator(".sv-recorded")).to_be_visible()
    recorded = json.loads(live.recorded())["steps"]
    for index in range(min(8, steps(page))):
        page.locator(".sv-scrub").fill(str(index))
        expect(page.locator(".sv-svg")).to_have_attribute("data-step", str(index))
        assert counts_add_up(page) == len(recorded[index]["parents"])


def test_the_recorded_run_plays_and_pauses(serve, visit):
    page = visit(serve())
    page.locator(".sv-scrub").fill("0")
    page.locator(".sv-play").click()
    expect(page.locator(".sv-svg")).to_have_attribute("data-step", "2")
    page.locator(".sv-play").click()
    expect(page.locator(".sv-play")).to_have_attribute("aria-label", "play")
    page.locator(".sv-speed").select_option("15")
    page.locator(".sv-play").click()
    expect(page.locator(".sv-where")).to_have_text(f"step {steps(page)} of {steps(page)}")


def test_a_run_streams_to_its_end(serve, visit):
    pair = Gated()
    page = visit(serve(pair))
    page.get_by_role("button", name="More").click()
    expect(page.get_by_label("Top-k")).to_be_visible()
    page.get_by_label("New tokens").fill("40")
    page.locator("#sv-run").click()
    state(page, "done")
    config = specviz.RunConfig(
        prompt=page.get_by_label("Prompt").input_value(), max_new_tokens=40,
        builder=specviz.BUILDERS["sequoia"](), verifier=specviz.VERIFIERS["sequoia"](),
    )  # fmt: skip
    trace = specviz.run(pair, config)
    assert page.locator(".sv-ribbon").inner_text() == config.prompt + trace.text
    assert steps(page) == len(trace.steps)
    expect(page.locator(".sv-per-pass")).to_have_text(f"{trace.tokens_per_pass:.2f}")
    expect(page.locator(".sv-acceptance")).to_have_text(f"{100 * trace.acceptance:.0f} %")
    expect(page.locator(".sv-speedup")).to_have_text(re.compile(r"\d×"))
    expect(page.locator("#sv-stop")).to_be_disabled()
    counts_add_up(page)


def test_stop_ends_a_run_within_a_step_and_the_next_one_starts(serve, visit, step_by_step):
    pair = Gated(permits=3)
    page = visit(serve(pair))
    page.locator("#sv-run").click()
    expect(page.locator(".sv-where")).to_have_text("step 3 of 3")
    page.locator("#sv-stop").click()
    state(page, "stopped")
    pair.gate.release()  # the pass that was under way
    assert steps(page) == 3
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
    expect(second.locator("#sv-notice")).to_contain_text("queue: 1/1")
    pair.gate.release(10**6)
    state(first, "done")
    state(second, "done")


def test_a_failure_midway_keeps_what_was_decoded(serve, visit, caplog):
    page = visit(serve(Gated(fail_at=4)))
    page.locator("#sv-run").click()
    state(page, "error")
    expect(page.locator(".sv-state")).to_contain_text("The run failed.")
    assert steps(page) == 3 and "the target broke" not in page.locator("body").inner_text()
    counts_add_up(page)


def test_a_node_shows_why(serve, visit):
    page = visit(serve())
    page.locator(".sv-svg .node.x").first.hover()
    expect(page.locator(".sv-outcome")).to_have_text("rejected")
    node = page.locator(".sv-svg .node.a").first
    node.click()
    page.mouse.move(5, 5)
    expect(page.locator(".sv-outcome")).to_have_text("accepted")
    expect(page.locator(".sv-why")).to_contain_text("Accepted: the coin")
    expect(page.locator(".sv-facts")).to_contain_text("depth 1; child 1 of")
    for bar in ("p", "q", "plain"):
        assert 0 <= float(page.locator(f"[data-bar={bar}] b").inner_text()) <= 1
    prob, coin = map(float, page.locator("[data-bar=accept] b").inner_text().split(" / "))
    assert coin < prob
    expect(page.locator(".sv-live")).to_contain_text("Accepted: the coin")
    page.locator(".sv-svg .node:is(.bonus, .correction)").click()
    expect(page.locator(".sv-why")).to_contain_text("target")


def test_a_token_of_the_text_leads_to_its_step_and_node(serve, visit):
    page = visit(serve())
    token = page.locator(".sv-ribbon [data-step='5']").last
    token.click()
    expect(page.locator(".sv-svg")).to_have_attribute("data-step", "5")
    expect(page.locator(".sv-svg .node.selected")).to_have_count(1)


def test_the_keyboard_alone_is_enough(serve, visit):
    page = visit(serve())
    svg = page.locator(".sv-svg")
    start = int(svg.get_attribute("data-step"))
    page.keyboard.press("ArrowRight")
    expect(svg).to_have_attribute("data-step", str(start + 1))
    page.keyboard.press("ArrowLeft")
    expect(svg).to_have_attribute("data-step", str(start))
    expect(page.locator(".sv-live")).to_contain_text("nodes accepted")
    shown = page.locator(".sv-svg .node").count()
    page.keyboard.press("e")
    expect(page.locator(".sv-svg .pill")).to_have_count(0)
    assert page.locator(".sv-svg .node").count() == int(svg.get_attribute("data-nodes")) + 1 > shown
    page.keyboard.press("e")
    expect(page.locator(".sv-svg .node")).to_have_count(shown)
    svg.focus()
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
    before = page.get_by_label("Prompt").input_value()
    page.get_by_label("Prompt").press("e")
    assert len(page.get_by_label("Prompt").input_value()) == len(before) + 1, (
        "keys belong to the prompt while it is typed"
    )


def test_zoom_is_kept_from_step_to_step_and_reset(serve, visit):
    page = visit(serve())
    canvas = page.locator(".sv-svg > g")
    start = canvas.get_attribute("transform")
    page.locator(".sv-in").click()
    zoomed = canvas.get_attribute("transform")
    assert zoomed != start
    page.keyboard.press("ArrowRight")
    page.locator("#sv-run").click()
    state(page, "done")
    page.locator(".sv-back").click()
    page.locator(".sv-in").click()
    zoomed = canvas.get_attribute("transform")
    page.locator(".sv-back").click()
    assert canvas.get_attribute("transform") == zoomed
    page.keyboard.press("0")
    expect(canvas).not_to_have_attribute("transform", zoomed)


def test_a_folded_subtree_unfolds_at_a_click(serve, visit):
    page = visit(serve())
    page.locator("[aria-label='number input for Nodes']").fill("64")
    page.locator("#sv-run").click()
    state(page, "done")
    page.keyboard.press("Home")
    page.locator(".sv-scrub").fill("1")
    expect(page.locator(".sv-svg")).to_have_attribute("data-step", "1")
    before = page.locator(".sv-svg .node").count()
    page.locator(".sv-svg .pill").first.click()
    assert page.locator(".sv-svg .node").count() > before


def test_hostile_text_is_only_ever_text(serve, visit):
    page = visit(serve(Gated(pieces=HOSTILE)))
    prompt = " ".join(HOSTILE).replace("\x00", "").replace("\n", " ")
    page.get_by_label("Prompt").fill(prompt)
    page.locator("#sv-run").click()
    state(page, "done")
    assert page.locator(".sv-ribbon").evaluate("box => box.textContent").startswith(prompt)
    assert page.locator(".sv img, .sv script, .sv-ribbon a").count() == 0
    for index in range(min(6, steps(page))):
        page.locator(".sv-scrub").fill(str(index))
        expect(page.locator(".sv-svg")).to_have_attribute("data-step", str(index))
        for node in page.locator(".sv-svg .node").all():
            node.hover(force=True)
        page.locator(".sv-svg .node.r").click()
    assert "<img src=x" in page.locator(".sv-ribbon").inner_text()
    assert page.evaluate("window.hacked") is None


def test_bad_input_gets_a_sentence_and_the_page_stays_as_it_is(serve, visit):
    page = visit(serve())
    notice, run = page.locator("#sv-notice"), page.locator("#sv-run")
    page.get_by_label("Prompt").fill("   ")
    run.click()
    expect(notice).to_contain_text("Prompt must not be empty.")
    page.get_by_label("Prompt").fill("word " * 1000)
    run.click()
    expect(notice).to_contain_text("Prompt must be shorter than the models' context of 4096 tokens")
    expect(page.locator(".sv-recorded")).to_be_visible()
    page.get_by_label("Seed").fill("-4")
    page.get_by_label("Seed").press("Tab")
    expect(notice).to_contain_text("Seed must be a whole number from 0; got -4.")
    expect(run).to_be_disabled()
    page.get_by_label("Seed").fill("3")
    page.get_by_label("Seed").press("Tab")
    expect(run).to_be_enabled()
    choose(page, "Verification rule", "Exact match")
    expect(notice).to_contain_text("set the temperature to 0")
    expect(run).to_be_disabled()


def test_a_lossy_run_carries_its_mark(serve, visit, monkeypatch):
    lossy = specviz.compatible(specviz.BUILDERS["k-ary"](), specviz.VERIFIERS["sequoia"](), 0.8, law="iid")
    monkeypatch.setattr(live, "compatible", lambda *_: lossy)
    page = visit(serve())
    page.locator("#sv-run").click()
    state(page, "done")
    expect(page.locator(".sv-lossy")).to_be_visible()
    expect(page.locator("#sv-notice")).to_contain_text(lossy.reason)


def test_choosing_a_builder_shows_its_parameters(serve, visit):
    page = visit(serve())
    expect(page.get_by_label("number input for Nodes")).to_be_visible()
    choose(page, "Tree builder", "k-ary")
    expect(page.get_by_label("number input for Children", exact=True)).to_be_visible()
    expect(page.get_by_label("number input for Nodes")).to_be_hidden()
    page.get_by_role("button", name="A class").click()
    expect(page.get_by_label("Prompt")).to_have_value(live.CODE["A class"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_every_width_and_scheme_fits(serve, visit, width, scheme):
    page = visit(f"{serve()}?__theme={scheme}", width=width, height=900, color_scheme=scheme)
    assert page.evaluate("document.body.classList.contains('dark')") == (scheme == "dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".sv-svg .node.a").first.click()
    expect(page.locator(".sv-outcome")).to_have_text("accepted")
    if width < 500:
        tree, prompt = page.locator(".sv-svg").bounding_box(), page.get_by_label("Prompt").bounding_box()
        assert tree["y"] < prompt["y"], "on a phone the run comes before the controls"
