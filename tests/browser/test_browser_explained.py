"""What the inspector draws of each rule, and how trees grow, in headless Chromium on pages without a server."""

import re

import pytest
from pages import Gated, offline, to_step
from playwright.sync_api import expect

import specviz
from tests.browser.test_browser_runs import HOSTILE
from tests.growing import BUILDERS
from tests.matrix import rest_of

pytestmark = pytest.mark.browser


@pytest.fixture
def page(chromium):
    """A page that must not break; the last test of it is that no foreign text ever ran."""
    context, broken = chromium.new_context(viewport={"width": 1400, "height": 1000}), []
    page = context.new_page()
    page.on("pageerror", lambda error: broken.append(str(error)))
    yield page
    assert not broken and page.evaluate("window.hacked") is None
    context.close()


def chosen(builder, verifier, **more):
    return {"builder": specviz.BUILDERS[builder](), "verifier": specviz.VERIFIERS[verifier](), **more}


def find(steps, outcome):
    """The first step with such a node, and the node."""
    return next((step, step.outcome.index(outcome)) for step in steps if outcome in step.outcome)


def test_a_rejection_shows_the_rows_before_the_try(page, tmp_path):
    steps = offline(page, tmp_path, **chosen("sequoia", "sequoia"))
    step, node = find([step for step in steps if step.outcome.count("rejected") == 1], "rejected")
    to_step(page, step.index)
    page.locator(".sv-svg .node.x").click()
    kept = step.detail[node].tried
    table = page.locator(".sv-detail table")
    expect(table.locator("caption")).to_have_text("before this try")
    expect(table.locator("thead th")).to_have_text(["", "", "target p", "remaining draft", "residual"])
    expect(table.locator("tbody th")).to_have_text(list(kept.texts))
    expect(table.locator(".own th")).to_have_text(step.texts[node])
    first = table.locator("tbody tr").first.locator("td").all_inner_texts()[1:]
    assert [float(cell) for cell in first] == pytest.approx(
        [kept.rows[name][0] for name in ("p", "draft", "residual")], abs=6e-4
    )
    to_step(page, next(step.index for step in steps if step.corrected))
    page.locator(".sv-svg .node.correction").click()
    expect(table.locator("caption")).to_have_text("distribution of this token")


def test_a_race_shows_two_columns_of_arrival_times(page, tmp_path):
    steps = offline(page, tmp_path, **chosen("sequoia", "race"))
    to_step(page, 0)
    page.locator(".sv-svg .node.r").click()
    race = steps[0].detail[0].race
    tables = page.locator(".sv-detail table")
    expect(tables).to_have_count(2)
    for table, name in zip(tables.all(), ("target", "draft"), strict=True):
        expect(table.locator("caption")).to_contain_text(name)
        expect(table.locator("tbody th")).to_have_text(list(race[name].texts))
        times = [float(cell) for cell in table.locator("td:last-child").all_inner_texts()]
        assert times == pytest.approx(list(race[name].rows["times"]), rel=0.01)
    step, _ = find(steps, "rejected")
    to_step(page, step.index)
    page.locator(".sv-svg .node.x").first.click()
    expect(tables.first.locator("caption")).to_contain_text("the race here, target")


def test_numbers_of_a_rule_are_told(page, tmp_path):
    steps = offline(page, tmp_path, **chosen("k-ary", "spectr"))
    to_step(page, 0)
    page.locator(".sv-svg .node.r").click()
    facts = steps[0].detail[0].facts
    expect(page.locator(".sv-detail p")).to_have_text(f"Node: ρ {facts['rho']:.3f}β {facts['beta']:.3f}")
    steps = offline(page, tmp_path, **chosen("sequoia", "typical"))
    step, node = find(steps, "rejected")
    to_step(page, step.index)
    page.locator(".sv-svg .node.x").first.click()
    threshold = step.detail[step.parents[node]].facts["threshold"]
    expect(page.locator(".sv-detail p")).to_contain_text("threshold")
    expect(page.locator("[data-bar=p] em")).to_be_visible()
    expect(page.locator("[data-bar=p] b")).to_contain_text(re.compile(rf"/ {threshold:.3f}|/ "))
    offline(page, tmp_path, **chosen("sequoia", "traversal"))
    page.locator(".sv-svg .node.a").first.click()
    expect(page.locator(".sv-detail p")).to_contain_text("running ratio")


def test_hostile_text_in_details_is_only_ever_text(page, tmp_path):
    for verifier in ("sequoia", "race"):
        steps = offline(page, tmp_path, Gated(pieces=HOSTILE), **chosen("sequoia", verifier))
        for index in range(min(4, len(steps))):
            to_step(page, index)
            for node in page.locator(".sv-svg .node").all():
                node.hover(force=True)
                assert page.locator(".sv-detail :is(img, script, a)").count() == 0


def test_a_run_of_its_own_page_says_what_was_not_recorded(page, tmp_path):
    offline(page, tmp_path, **chosen("sequoia", "sequoia"))
    expect(page.locator(".sv-speedup-of")).to_have_text("not recorded")


# ---- who guessed ----


def test_nodes_of_several_drafters_are_told_apart_counted_and_explained(page, tmp_path):
    drafter = specviz.DRAFTERS["several"](drafters=("model", "ngram", "medusa"))
    steps = offline(page, tmp_path, drafter=drafter, **chosen("sequoia", "sequoia"))
    titles = {name: specviz.DRAFTERS[name].title for name in drafter.drafters}
    index = next(step.index for step in steps if set(titles) <= set(step.drafter))
    to_step(page, index)
    page.locator(".sv-expand").click()
    step, items = steps[index], page.locator(".sv-whose > span")
    expect(items).to_have_count(len(titles))
    forms = set()
    for name, title in titles.items():
        mine = [node for node, whose in enumerate(step.drafter) if whose == name]
        right = sum(step.outcome[node] == "accepted" for node in mine)
        outlines = page.locator(f".sv-svg .outline[data-drafter={name}]")
        expect(outlines).to_have_count(len(mine))
        forms |= set(
            outlines.evaluate_all(
                "all => all.map(one => one.getAttribute('d') + getComputedStyle(one).strokeDasharray)"
            )
        )
        compared = [whose == name and outcome != "unreached" for one in steps
                    for whose, outcome in zip(one.drafter, one.outcome, strict=True)]  # fmt: skip
        item = page.locator(f".sv-whose [data-drafter={name}]")
        expect(item).to_contain_text(f"{title} {len(mine)}, {right} accepted")
        expect(item).to_contain_text(f"of {sum(compared)} compared" if any(compared) else "none compared")
        outlines.first.locator("xpath=..").click()
        expect(page.locator(".sv-why")).to_contain_text(f"Drafted by {specviz.DRAFTERS[name].spoken}")
    assert len(forms) == len(titles), "no two drafters look alike"
    offline(page, tmp_path, drafter=specviz.DRAFTERS["medusa"](), **chosen("sequoia", "sequoia"))
    expect(page.locator(".sv-whose")).to_be_hidden()
    expect(page.locator(".sv-svg .outline")).to_have_count(0)
    page.locator(".sv-svg .node.a").first.click()
    expect(page.locator(".sv-why")).to_contain_text("Drafted by Medusa heads: head 1")


# ---- how a tree grew ----


def frame(page, at):
    expect(page.locator(".sv-svg")).to_have_attribute("data-grown", str(at))


def test_a_tree_grows_node_by_node_with_its_keys(page, tmp_path):
    page.emulate_media(reduced_motion="reduce")  # by hand
    step = offline(page, tmp_path, **chosen("dyspec", "dyspec"))[2]
    to_step(page, 2)
    n, drawn, caption = len(step.parents), page.locator(".sv-svg .node").count(), page.locator(".sv-growing")
    page.keyboard.press("g")
    frame(page, 1)
    expect(page.locator(".sv-svg .node")).to_have_count(2)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    frame(page, 3)
    expect(page.locator(".sv-svg .node")).to_have_count(4)
    expect(page.locator(".sv-svg .newest")).to_have_count(1)
    expect(caption).to_contain_text(f"Node 3 of {n - 1}")
    expect(caption).to_contain_text(f"probability to be reached {step.keys[3]:.3f}")
    for _, value in step.growth.waiting[2]:
        expect(caption).to_contain_text(f"{value:.3f}")
    expect(page.locator(".sv-svg .tag")).to_have_count(len(step.growth.waiting[2]))
    assert page.locator(".sv-svg .node:is(.a, .x)").count() == 0, "what comes of it is not said yet"
    page.keyboard.press("ArrowLeft")
    frame(page, 2)
    expect(page.locator(".sv-svg")).to_have_attribute("data-step", "2")
    page.keyboard.press("Escape")
    expect(caption).to_be_hidden()
    expect(page.locator(".sv-legend")).to_be_visible()
    expect(page.locator(".sv-svg .node")).to_have_count(drawn)


def test_growth_ends_with_what_was_cut_and_a_new_step_ends_it(page, tmp_path):
    step = offline(page, tmp_path, **chosen("eagle2", "target-match"))[1]
    to_step(page, 1)
    page.locator(".sv-speed").select_option("15")
    page.locator(".sv-grow").click()
    caption = page.locator(".sv-growing")
    expect(caption).to_contain_text(f"Of {step.growth.candidates} candidates")
    expect(caption).to_contain_text(f"“{step.growth.cut.texts[0]}”")
    expect(page.locator(".sv-svg .node")).to_have_count(len(step.parents))
    page.locator(".sv-scrub").fill("2")
    expect(caption).to_be_hidden()
    expect(page.locator(".sv-grow")).to_have_attribute("aria-pressed", "false")


def test_growth_shows_how_a_plan_was_split_and_nothing_where_nothing_was_recorded(page, tmp_path):
    page.emulate_media(reduced_motion="reduce")
    step = offline(page, tmp_path, **chosen("sequoia", "sequoia"))[0]
    to_step(page, 0)
    page.locator(".sv-grow").click()
    page.locator(".sv-forward").click()
    frame(page, 2)
    page.keyboard.press("ArrowLeft")
    frame(page, 1)
    expect(page.locator(".sv-svg .tag")).to_have_text([str(size) for size in step.growth.split[:2]])
    expect(page.locator(".sv-growing")).to_contain_text(f"Its subtree gets {step.growth.split[1]}")
    offline(page, tmp_path, **chosen("k-ary", "specinfer"))
    expect(page.locator(".sv-grow")).to_be_hidden()
    page.keyboard.press("g")
    expect(page.locator(".sv-legend")).to_be_visible()


def test_growth_waits_for_the_reader_where_motion_is_not_wanted(page, tmp_path):
    page.emulate_media(reduced_motion="reduce")
    offline(page, tmp_path, **chosen("dyspec", "dyspec"))
    page.locator(".sv-speed").select_option("15")
    page.locator(".sv-svg").focus()
    page.keyboard.press("g")
    frame(page, 1)
    expect(page.locator(".sv-play")).to_have_attribute("aria-label", "play")
    expect(page.locator(".sv-live")).to_contain_text("Node 1 of")
    page.keyboard.press("ArrowRight")
    frame(page, 2)


@pytest.mark.parametrize(("builder",), rest_of(BUILDERS, few=("k-sequences", "prompt-lookup", "svip-tree")))
def test_every_builder_s_growth_plays_to_its_end(page, tmp_path, builder):
    page.emulate_media(reduced_motion="reduce")
    steps = offline(page, tmp_path, **chosen(builder, "target-match"))
    index = max(range(len(steps)), key=lambda i: len(steps[i].parents))
    to_step(page, index)
    if page.locator(".sv-grow").is_visible():
        page.keyboard.press("g")
        for _ in range(len(steps[index].parents)):
            page.keyboard.press("ArrowRight")
        expect(page.locator(".sv-growing")).to_contain_text(f"All {len(steps[index].parents) - 1} nodes.")
        text = page.locator(".sv-growing").inner_text()
        assert not re.search("undefined|NaN|null", text)
