"""The tab Measure in headless Chromium: figures at once, calibrate, stop, save, load, apply."""

import json
import re

import pytest
from pages import Gated, open_tab
from playwright.sync_api import expect

import specviz
from app.tabs import acceptance, speedup
from app.tabs.speedup import costs

pytestmark = pytest.mark.browser
PAGE = ("Explore", "Measure")
ACCEPTANCE = acceptance.OPEN
SPEEDUP = speedup.OPEN
COSTS = costs.OPEN
FOLDS = {acceptance.TITLE: acceptance.FOLDS, costs.TITLE: (), speedup.TITLE: speedup.FOLDS}


def opened(page, name, cards):
    open_tab(page, "Measure", name)
    for card in cards:
        expect(page.locator(f"#sv-figure-{card} .js-plotly-plot .main-svg").first).to_be_visible(timeout=30_000)
    return page


def unfolded(page, name):
    """Open every fold of a tab; the figures in them."""
    for _, question, cards in FOLDS[name]:
        page.get_by_role("button", name=question).click()
        for card in cards:
            figure = page.locator(f"#sv-figure-{card} .js-plotly-plot .main-svg").first
            expect(figure).to_be_visible(timeout=30_000)
    return [card for _, _, cards in FOLDS[name] for card in cards]


def source(page, name):
    return page.locator(f"#sv-figure-{name} .sv-source")


def says(page, which, text, **options):
    expect(page.locator(f"#sv-{which}-status .text")).to_contain_text(text, **options)


def calibrated(page, positions=50, rules=("Sequoia",)):
    for name in acceptance.RULES:
        title = specviz.VERIFIERS[name].title
        page.get_by_role("checkbox", name=title, exact=True).set_checked(title in rules)
    page.get_by_label("number input for Positions").fill(str(positions))
    page.get_by_label("number input for Positions").press("Tab")
    page.locator("#sv-calibrate").click()


def test_the_pages_open_with_recorded_figures_and_published_numbers_but_no_model(serve, visit):
    def never():
        raise AssertionError("a model was loaded")

    def fits(cards):
        width = page.viewport_size["width"]
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        for card in cards:
            plot = page.locator(f"#sv-figure-{card} .js-plotly-plot .main-svg").first
            page.wait_for_function(
                "([plot, width]) => plot.getBoundingClientRect().right <= width", arg=[plot.element_handle(), width]
            )
            assert plot.bounding_box()["x"] >= 0

    page = visit(serve(load=never), width=390, height=900)
    for name, cards in ((acceptance.TITLE, ACCEPTANCE), (costs.TITLE, COSTS), (speedup.TITLE, SPEEDUP)):
        page.set_viewport_size({"width": 390, "height": 900})
        opened(page, name, cards)
        assert page.locator(".js-plotly-plot:visible").count() == len(cards)  # the folds are not drawn yet
        drawn = [*cards, *unfolded(page, name)]
        for card in drawn:
            expect(source(page, card)).to_contain_text("computed" if card == "shapes" else "recorded")
            assert len(page.locator(f"#sv-figure-{card} .sv-read").inner_text()) > 60
        fits(drawn)
        page.set_viewport_size({"width": 1400, "height": 900})
        fits(drawn)
    page.get_by_role("button", name="What do the papers report?").click()
    blocks = page.locator("#sv-published .sv-block")
    expect(blocks.first).to_have_attribute("data-kind", "here")
    assert {block.get_attribute("data-kind") for block in blocks.all()[1:]} == {"published"}
    links = page.locator("#sv-published td a")
    assert links.count() > 40 and all(
        link.get_attribute("href").startswith("https://arxiv.org/") for link in links.all()[:5]
    )
    fits(())


def choose(page, menu, title):
    page.locator(f"#sv-{menu}-drafter input").click()
    page.get_by_role("option", name=title, exact=True).click()


def test_a_calibration_and_a_study_fill_their_figures_and_vectors_are_saved_and_loaded(serve, visit, tmp_path):
    page = opened(visit(serve()), acceptance.TITLE, ACCEPTANCE)
    page.get_by_role("button", name=acceptance.FOLDS[0][1]).click()
    calibrated(page, rules=("Sequoia", "Race"))
    says(page, "calibrate", "50 positions measured.", timeout=60_000)
    for card in ACCEPTANCE + acceptance.FOLDS[0][2]:
        expect(source(page, card)).to_have_text("measured here")
    expect(page.locator("#sv-figure-acceptance .sv-made")).to_contain_text("counted: ")
    expect(page.locator("#sv-calibrate-stop")).to_be_disabled()
    page.get_by_role("button", name=acceptance.FOLDS[1][1]).click()
    expect(source(page, "depth")).to_contain_text("recorded")
    page.locator("#sv-study-depth").click()
    says(page, "study-depth", "Measured at temperature 0.8.", timeout=60_000)
    expect(source(page, "depth")).to_have_text("measured here")
    expect(page.locator("#sv-study-depth-stop")).to_be_disabled()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download Save vectors").click()
    saved = tmp_path / "acceptance.json"
    download.value.save_as(saved)
    vectors = json.loads(saved.read_text())["vectors"]
    assert [(v["verifier"], v["positions"], v["method"]) for v in vectors] == [
        ("sequoia", 50, "expected"), ("race", 50, "counted"),
    ]  # fmt: skip
    with page.expect_download() as download:
        page.locator("#sv-figure-ratio").get_by_role("button", name="CSV").click()
    assert download.value.path().read_text().startswith("series,x,y,z\n")

    panel = page.get_by_role("tabpanel").filter(has=page.locator("#sv-load"))
    chooser = panel.locator("input[type=file]").first
    damaged = tmp_path / "damaged.json"
    damaged.write_text(saved.read_text()[:-40])
    chooser.set_input_files(damaged)
    says(page, "calibrate", "The file is not JSON")
    chooser.set_input_files(saved)
    says(page, "calibrate", "2 vectors loaded")
    expect(source(page, "acceptance")).to_have_text("loaded from a file")


def test_stop_keeps_what_was_measured_and_another_calibration_can_begin(serve, visit, monkeypatch):
    monkeypatch.setattr(acceptance, "PACE", 0)
    pair = Gated(permits=7)  # one text of the target's own takes three and more passes of the toy models
    page = opened(visit(serve(pair)), acceptance.TITLE, ACCEPTANCE)
    page.get_by_label("Text", exact=True).click()
    page.get_by_role("option", name="A tale (prose)").click()
    calibrated(page, positions=2000)
    says(page, "calibrate", "Acceptance: 889 of 2,000 positions, 7 of 16 texts", timeout=60_000)
    with page.expect_response(lambda response: response.url.endswith("/cancel")):  # gradio takes no click before that
        page.locator("#sv-calibrate-stop").click()
        says(page, "calibrate", "Stopped.")
        pair.gate.release(10**6)
    expect(source(page, "acceptance")).to_have_text("measured here")
    expect(page.locator("#sv-figure-acceptance .sv-made")).to_contain_text("889 positions")
    expect(source(page, "rejection")).to_contain_text("recorded")
    calibrated(page, positions=50)
    says(page, "calibrate", "50 positions measured.", timeout=60_000)


def test_a_failure_midway_keeps_the_figures_and_shows_no_trace(serve, visit, caplog):
    pair = Gated(fail_at=4)
    page = opened(visit(serve(pair)), acceptance.TITLE, ACCEPTANCE)
    page.get_by_label("Text", exact=True).click()
    page.get_by_role("option", name="A tale (prose)").click()
    calibrated(page, positions=1000)
    says(page, "calibrate", "The figures keep the 381 positions measured so far.", timeout=60_000)
    assert "the target broke" not in page.locator("body").inner_text()
    expect(page.locator("#sv-figure-acceptance .sv-made")).to_contain_text("381 positions")
    pair.fail_at = pair.passes + 30
    page.get_by_role("button", name=acceptance.FOLDS[1][1]).click()
    page.locator("#sv-study-depth").click()
    says(page, "study-depth", "keeps the earlier measurements", timeout=60_000)
    assert "the target broke" not in page.locator("body").inner_text()
    expect(page.locator("#sv-figure-depth .js-plotly-plot .main-svg").first).to_be_visible()


def test_the_drafter_of_the_menu_is_measured_and_told_and_bad_choices_get_a_sentence(serve, visit):
    page = opened(visit(serve()), acceptance.TITLE, ACCEPTANCE)
    choose(page, "calibrate", "Medusa heads")
    calibrated(page)
    says(page, "calibrate", "50 positions measured.", timeout=60_000)
    expect(page.locator("#sv-figure-acceptance .sv-made")).to_contain_text("Drafted by Medusa heads.")
    choose(page, "calibrate", "Several drafters")
    page.locator("#sv-calibrate").click()
    says(page, "calibrate", "no single draft distribution")
    choose(page, "calibrate", "Draft model")
    calibrated(page, rules=())
    says(page, "calibrate", "Choose at least one verification rule.")
    calibrated(page, rules=("Exact match",))
    says(page, "calibrate", "set the temperature to 0")
    page.get_by_label("Text", exact=True).click()
    page.get_by_role("option", name="Your text").click()
    calibrated(page)
    says(page, "calibrate", "Your text is empty.")
    opened(page, speedup.TITLE, SPEEDUP)
    page.get_by_label("Sizes to time").fill("many")
    page.get_by_role("button", name="Time them").click()
    says(page, "speedup", "Sizes to time must be up to")
    choose(page, "speedup", "n-grams")
    vector = page.get_by_label("Acceptance vector", exact=True)
    expect(vector).to_have_value(re.compile("with n-grams, T .*, stored"))
    expect(page.locator("#sv-figure-speedup .sv-made")).to_contain_text("acceptance with n-grams")
    expect(page.locator("#sv-best .text")).to_contain_text("Costs are those of the draft model")
    choose(page, "speedup", "Staged draft")
    says(page, "speedup", "No acceptance vector of ")


def test_another_machine_is_a_projection_and_its_best_tree_goes_to_explore(serve, visit):
    page = opened(visit(serve()), costs.TITLE, COSTS)
    page.get_by_label("A100").check()
    expect(source(page, "cost")).to_have_text("projection: A100", timeout=30_000)
    opened(page, speedup.TITLE, SPEEDUP)
    page.get_by_role("button", name=speedup.FOLDS[0][1]).click()
    for card in ("speedup", "marginal"):
        expect(source(page, card)).to_have_text("projection: A100", timeout=30_000)
    expect(source(page, "predicted")).to_contain_text("recorded")
    best = page.locator("#sv-best .text")
    expect(best).to_contain_text("Projection for A100")
    size, depth = re.search(r"tree of (\d+) nodes and (\d+) levels", best.inner_text()).groups()
    page.locator("#sv-apply").click()
    expect(page.get_by_role("tab", name="Explore")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_label("number input for Tree size (nodes)")).to_have_value(size)
    expect(page.get_by_label("number input for Max depth")).to_have_value(depth)
    expect(page.get_by_label("Tree builder")).to_have_value("Sequoia")
    expect(page.locator("#sv-run")).to_be_enabled()


def test_this_machine_is_measured_and_sizes_are_timed_with_the_vector_just_measured(serve, visit, monkeypatch):
    monkeypatch.setattr(speedup, "SECONDS", 2.0)
    page = opened(visit(serve(specviz.toy_pair(vocab=12))), acceptance.TITLE, ACCEPTANCE)
    page.get_by_label("number input for Temperature").locator("visible=true").fill("0.6")
    calibrated(page)
    says(page, "calibrate", "50 positions measured.", timeout=60_000)
    opened(page, speedup.TITLE, SPEEDUP)
    expect(page.get_by_role("combobox", name="Acceptance vector")).to_have_value("Sequoia, T 0.6")
    opened(page, costs.TITLE, COSTS)
    page.locator("#sv-measure").click()
    says(page, "measure", "Measured: ", timeout=90_000)
    expect(source(page, "cost")).to_have_text("measured here")
    opened(page, speedup.TITLE, SPEEDUP)
    page.get_by_role("button", name=speedup.FOLDS[0][1]).click()
    for card in ("speedup", "marginal"):
        expect(source(page, card)).to_have_text("measured here")
    expect(page.locator("#sv-best .text")).to_contain_text("On this machine")
    page.get_by_label("Sizes to time").fill("2, 6")
    page.get_by_role("button", name="Time them").click()
    says(page, "speedup", "Timed: ", timeout=120_000)
    expect(source(page, "predicted")).to_have_text("measured here")
    expect(page.locator("#sv-figure-predicted .sv-made")).to_contain_text("temperature 0.6")
