"""The first screen of Explore: few controls, what its picture promises, presets, the parts of a step, sharing."""

import json
import re
import time
from importlib import import_module

import pytest
from pages import choose, state, steps, to_step
from playwright.sync_api import expect

import specviz
from app.tabs import explore
from specviz.proof.sampled import sampling

pytestmark = pytest.mark.browser
PAGE = ("Explore",)
STAGE = "#sv-stage"
SMALLEST_TEXT = """() => Math.min(...[...document.querySelectorAll('#sv-stage .sv-svg text')]
  .map(text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""
# Pairs of a note and a node, or of a note and a label, that overlap on the screen.
COVERED = """() => {
  const note = document.querySelector('#sv-stage .note rect')?.getBoundingClientRect();
  if (!note) return [];
  return [...document.querySelectorAll('#sv-stage .sv-svg :is(.node .shape, .node > text)')].filter(one => {
    const box = one.getBoundingClientRect();
    return box.left < note.right && box.right > note.left && box.top < note.bottom && box.bottom > note.top;
  }).map(one => one.textContent || one.parentNode.textContent);
}"""


def first_screen(page):
    """The groups of controls that are on the first screen, outside the run."""
    return page.locator(
        ".sv-ask :is(textarea, input):visible, .sv-ask button:visible, .sv-opts fieldset:visible, "
        ".sv-opts input[type=range]:visible, .sv-opts #sv-settings-opener button:visible"
    )


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_the_first_screen_has_five_controls_and_the_note_covers_no_node(serve, visit, width, height):
    page = visit(serve(), width=width, height=height, settings=False)
    assert first_screen(page).count() == 5
    expect(page.locator("#sv-settings")).to_be_hidden()
    figures = json.loads(explore.recorded())["figures"]
    expect(page.locator(".sv-headline em")).to_have_text(f"{figures['per_pass']:.1f} tokens per target pass")
    expect(page.locator(".sv-headline small")).to_contain_text(
        f"{figures['tokens']} tokens in {figures['passes']} passes"
    )
    expect(page.locator("[data-race=passes] b")).to_have_text(f"{figures['passes']} passes")
    expect(page.locator("[data-race=plain-passes] b")).to_have_text(f"{figures['tokens']} passes")
    box = page.locator("#sv-run").bounding_box()
    assert box["y"] + box["height"] < height / 2
    expect(page.locator(f"{STAGE} .note")).to_be_visible()  # the page opens on a step with a rejection
    for index in range(steps(page)):
        to_step(page, index)
        assert page.locator(f"{STAGE} .note").count() == (page.locator(f"{STAGE} .sv-svg .node.x").count() > 0)
        assert page.evaluate(COVERED) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_first_run_has_the_settings_of_the_picture(serve, visit):
    page = visit(serve(), settings=False)
    title = page.locator(f"{STAGE} .sv-title-line")
    before = title.inner_text().rsplit(" · ", 1)[0]
    expect(page.locator(f"{STAGE} .sv")).not_to_have_class("sv stale")
    page.locator("#sv-run").click()
    state(page, "done")
    assert title.inner_text().rsplit(" · ", 1)[0] == before
    expect(page.locator(f"{STAGE} .sv-prompt")).to_have_text(explore.first_run().prompt_text)


def test_a_change_that_was_not_run_dims_the_picture(serve, visit):
    page = visit(serve())
    run, temperature = page.locator(f"{STAGE} .sv"), page.get_by_label("number input for Temperature")
    for text in ("1.2", "0.6"):
        temperature.fill(text)
        temperature.press("Tab")
        expect(run).to_have_class("sv stale" if text == "1.2" else "sv")
    page.get_by_role("textbox", name="Prompt").fill("Another")
    expect(run).to_have_class("sv stale")
    expect(page.locator(f"{STAGE} .sv-state")).to_have_text("not run yet")
    expect(page.locator(".sv-headline small")).to_contain_text("Not run yet")
    expect(page.get_by_text("Press Run")).to_be_visible()
    page.locator("#sv-run").click()
    state(page, "done")
    expect(run).to_have_class("sv")


def test_presets_set_the_tree_and_name_what_somebody_else_set(serve, visit):
    page = visit(serve())
    builder, size = (
        page.get_by_label("Tree builder", exact=True),
        page.get_by_label("number input for Tree size (nodes)"),
    )
    chosen = page.locator("#sv-preset input:checked")
    expect(chosen).to_have_value("Tree")
    page.get_by_label("Chain", exact=True).check(force=True)
    expect(builder).to_have_value("Chain")
    page.get_by_label("Large tree", exact=True).check(force=True)
    expect(size).to_have_value("64")
    size.fill("9")
    size.press("Tab")
    expect(chosen).to_have_count(0)
    size.fill("16")
    size.press("Tab")
    expect(chosen).to_have_count(0)  # it still has ten levels
    depth = page.get_by_label("number input for Max depth", exact=True)
    depth.fill("6")
    depth.press("Tab")
    expect(chosen).to_have_value("Tree")
    page.get_by_label("Fastest here", exact=True).check(force=True)
    expect(page.locator("#sv-notice")).to_contain_text("The fastest tree is not known yet")


def test_only_what_was_changed_last_is_marked_and_one_that_works_is_named(serve, visit):
    page = visit(serve())
    rule, builder = page.get_by_label("Verification rule", exact=True), page.get_by_label("Tree builder", exact=True)
    choose(page, "Verification rule", "Speculative sampling")
    expect(rule).to_have_value("Speculative sampling ✕ incompatible")
    expect(page.get_by_text("Press Run")).to_be_hidden()
    expect(builder).to_have_value("Sequoia")
    expect(page.locator("#sv-notice")).to_contain_text("For instance, the tree builder Chain works.")
    page.get_by_role("button", name="Use Chain").click()
    expect(builder).to_have_value("Chain")
    expect(rule).to_have_value("Speculative sampling")
    expect(page.locator("#sv-run")).to_be_enabled()
    choose(page, "Tree builder", "k-ary")
    expect(builder).to_have_value("k-ary ✕ incompatible")
    expect(rule).to_have_value("Speculative sampling")
    choose(page, "Tree builder", "Chain")
    expect(builder).to_have_value("Chain")
    expect(page.locator("#sv-run")).to_be_enabled()


def test_the_parts_of_a_step_are_shown_one_by_one_and_the_legend_filters(serve, visit):
    page = visit(serve())
    svg, parts = page.locator(f"{STAGE} .sv-svg"), page.locator(f"{STAGE} .sv-phases button")
    accepted, own = (
        page.locator(f"{STAGE} .sv-svg .node.a"),
        page.locator(f"{STAGE} .sv-svg .node:is(.bonus, .correction)"),
    )
    parts.nth(1).click()
    expect(svg).to_have_attribute("data-phase", "2")
    assert (accepted.count(), own.count()) == (0, 0)
    parts.nth(2).click()
    expect(accepted).not_to_have_count(0)
    expect(own).to_have_count(0)
    parts.nth(3).click()
    expect(own).to_have_count(1)
    legend = page.locator(f"{STAGE} .sv-legend [data-letter=x]")
    legend.click()
    expect(svg).to_have_attribute("data-only", "x")
    faint = [
        page.locator(f"{STAGE} .sv-svg .node.{kind}").first.evaluate("e => getComputedStyle(e).opacity")
        for kind in "xa"
    ]
    assert [float(one) for one in faint] == [1, 0.15]
    legend.click()
    expect(svg).to_have_attribute("data-only", "")


def test_an_opened_run_sets_the_controls(serve, visit, tmp_path):
    page = visit(serve())
    config = specviz.RunConfig("My own words", "k-ary:width=2,depth=3", "specinfer", 0.9, max_new_tokens=20, seed=5)
    (tmp_path / "run.json").write_text(specviz.run(specviz.toy_pair(vocab=12), config).to_json(), "utf-8")
    page.locator(f"{STAGE} .sv-open-file").set_input_files(str(tmp_path / "run.json"))
    expect(page.locator("#sv-link")).to_contain_text("All settings are those of the opened run.")
    expect(page.get_by_role("textbox", name="Prompt")).to_have_value("My own words")
    expect(page.get_by_label("Tree builder", exact=True)).to_have_value("k-ary")
    expect(page.get_by_label("number input for Branching", exact=True)).to_have_value("2")
    expect(page.get_by_label("number input for Temperature")).to_have_value("0.9")
    expect(page.get_by_label("Seed")).to_have_value("5")
    expect(page.locator(f"{STAGE} .sv")).to_have_class("sv")


def test_a_shared_run_is_computed_again_and_compared(serve, visit):
    url = serve()
    page = visit(url, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_label("Seed").fill("7")
    page.locator("#sv-run").click()
    state(page, "done")
    to_step(page, 2)
    page.locator(f"{STAGE} .sv-save summary").click()
    page.locator(f"{STAGE} [data-save=link]").click()
    expect(page.locator(f"{STAGE} .sv-kept")).to_have_text("Link copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    text = page.locator(f"{STAGE} .sv-ribbon").inner_text()
    page = visit(link)
    state(page, "done")
    expect(page.locator(f"{STAGE} .sv-state")).to_have_text("Same text as the shared run.")
    expect(page.locator(f"{STAGE} .sv-svg")).to_have_attribute("data-step", "2")
    assert page.locator(f"{STAGE} .sv-ribbon").inner_text() == text
    page = visit(link.replace("seed=7", "seed=8"))
    state(page, "done")
    expect(page.locator(f"{STAGE} .sv-state")).to_contain_text("Not the text of the shared run")


EARLY = """new MutationObserver((_, observer) => {
  const run = document.getElementById('sv-run');
  if (!run) return;
  observer.disconnect();
  run.click();
}).observe(document, { childList: true, subtree: true });"""


def test_a_click_before_the_page_is_ready_is_kept_and_runs_once(serve, chromium, monkeypatch):
    runs = []
    play = explore.play
    monkeypatch.setattr(explore, "play", lambda *args: runs.append(1) or play(*args))
    page = chromium.new_context().new_page()
    page.add_init_script(EARLY)
    page.goto(serve())
    state(page, "done")
    page.wait_for_timeout(2000)  # a click that was repeated once too often would run now
    assert len(runs) == 1
    page.context.close()


def test_two_tokens_are_sampled_many_times_beside_their_exact_distribution(serve, visit, monkeypatch):
    page = visit(serve())
    fold = page.locator("#sv-sampled")
    fold.locator("summary").click()
    fold.get_by_role("button").click()
    expect(fold.locator(".sv-sampled-count")).to_have_text("1,000 of 1,000 runs", timeout=120_000)
    assert fold.locator("tbody tr").count() == 11
    for column in (3, 4, 5):
        shares = fold.locator(f"tbody td:nth-child({column})").all_inner_texts()
        assert sum(float(share.removesuffix(" %")) for share in shares) == pytest.approx(100, abs=1)
    expect(fold.locator(".sv-sampled-said")).to_contain_text("Speculation shows no deviation")
    expect(fold.get_by_role("button")).to_have_text("Sample 1,000 times")
    choose(page, "Verification rule", "Typical acceptance")
    fold.get_by_role("button").click()
    expect(fold.locator(".sv-sampled-said")).to_contain_text("Speculation deviates", timeout=120_000)
    expect(fold.get_by_role("button")).to_have_text("Sample 1,000 times", timeout=120_000)

    def slowly(*args):
        for found in sampling(*args):
            yield found
            time.sleep(0.5)  # so that it is not done before the click on Stop

    monkeypatch.setattr(import_module("app.tabs.explore.sampler"), "sampling", slowly)
    fold.get_by_role("button").click()
    fold.get_by_role("button", name="Stop").click()
    expect(fold.locator(".sv-sampled-count")).to_have_text(re.compile(r"stopped after \d+ runs"))
    expect(page.locator(f"{STAGE} .sv-state")).not_to_have_attribute("data-state", "error")


def test_the_tries_of_a_step_are_gone_through_on_the_tree(seen):
    svg = seen.locator(f"{STAGE} .sv-svg")
    whole = svg.locator(".node.a").count(), svg.locator(".node.x").count()
    seen.get_by_role("button", name="Try by try").click()
    line, note = seen.locator(f"{STAGE} .sv-growing"), seen.locator(f"{STAGE} .note")
    for tried in range(1, sum(whole) + 1):
        expect(line).to_contain_text(f"Try {tried} of {sum(whole)}")
        expect(svg.locator(":is(.node.a, .node.x)")).to_have_count(tried)  # drawn a frame after the line
        sentence = line.inner_text()
        assert " ".join(note.locator(".sum").all_text_contents()) in sentence
        expect(seen.locator(f"{STAGE} .sv-why")).to_have_text(sentence.split("”. ", 1)[1])
        seen.locator(f"{STAGE} .sv-forward").click()
    expect(line).to_contain_text("tries are over")
    assert (svg.locator(".node.a").count(), svg.locator(".node.x").count()) == whole
    seen.keyboard.press("Escape")
    expect(line).to_be_hidden()


def test_on_a_phone_the_note_and_its_token_stand_in_the_picture(serve, visit):
    page = visit(serve(), width=390, height=844, settings=False)
    frame = page.locator(f"{STAGE} .sv-svg").bounding_box()
    for index in range(steps(page)):
        to_step(page, index)
        for part in page.locator(f"{STAGE} .note :is(rect, .leader)").all():
            box = part.bounding_box()
            assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"], index
        small = page.evaluate(SMALLEST_TEXT)
        assert small >= 10, (index, small)


def test_nothing_moves_when_a_link_is_copied_or_the_tree_grows(serve, visit):
    page = visit(serve(), width=390, height=844, settings=False)
    assert page.locator(f"{STAGE} .sv-svg").get_attribute("data-cut") == ""  # the whole tree is in the picture
    player = page.locator(f"{STAGE} .sv-player")
    before = player.bounding_box()["y"]
    page.locator("#sv-link button").click()
    expect(page.locator("#sv-link .text")).to_contain_text("address bar")
    assert player.bounding_box()["y"] == before
    page.get_by_role("button", name="Animate construction").click()
    expect(page.locator(f"{STAGE} .sv-growing")).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    assert player.bounding_box()["y"] == before
