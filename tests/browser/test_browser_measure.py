"""The tab Measure in headless Chromium."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

import specviz
from app.tabs import measure
from app.tabs.measure import QUESTIONS
from tests.pages import open_tab

pytestmark = pytest.mark.browser
PAGE = ("Explore", "Measure")


def answer(page, name):
    return page.locator(f"#sv-figure-{name} .sv-answer")


def test_every_question_is_answered_in_a_sentence_and_follows_the_temperature(seen):
    seen.set_viewport_size({"width": 1280, "height": 800})
    open_tab(seen, "Measure")
    for name in QUESTIONS:
        expect(seen.locator(f"#sv-figure-{name} .js-plotly-plot .main-svg").first).to_be_visible(
            timeout=30_000
        )
        expect(answer(seen, name)).to_have_text(re.compile(r"\d.*\.$"))
    expect(answer(seen, "sizes")).to_contain_text(re.compile("in memory, .* on disk, "))
    figure = seen.locator("#sv-figure-sizes .sv-plot").bounding_box()
    assert figure["y"] + figure["height"] <= 800, "the first answer and its figure on one screen"
    before = answer(seen, "sizes").inner_text()
    slider = seen.locator("#sv-measure-temperature input[type=range]")
    opening = measure.nearest(measure.OPENING)
    other = next(value for value in measure.TEMPERATURES if value != opening)
    slider.fill(f"{other:g}")
    slider.dispatch_event("change")
    expect(answer(seen, "sizes")).to_contain_text(f"At temperature {other:g},")
    assert answer(seen, "sizes").inner_text() != before


def test_on_a_phone_an_answer_is_followed_by_its_figure(seen):
    seen.set_viewport_size({"width": 390, "height": 844})
    open_tab(seen, "Measure")
    for name in QUESTIONS:
        parts = [".sv-answer", ".js-plotly-plot .main-svg >> nth=0", ".sv-read"]
        tops = [seen.locator(f"#sv-figure-{name} {part}").bounding_box()["y"] for part in parts]
        assert tops == sorted(tops), name


@pytest.fixture
def few_trees():
    """A measurement of two trees on two prompts."""
    few = partial(measure.measure_machine, sizes=(4, 16), rounds=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "measure_machine", few)
        yield


def test_one_button_measures_this_machine(serve, visit, few_trees):
    page = visit(serve(specviz.toy_pair(vocab=12)))
    open_tab(page, "Measure")
    page.locator("#sv-measure").click()
    expect(page.locator("#sv-measure-status .text")).to_contain_text(
        "Measured on this machine", timeout=120_000
    )
    expect(answer(page, "sizes")).to_contain_text("this machine")
    for name in ("sizes", "cost", "predicted"):
        expect(page.locator(f"#sv-figure-{name} .sv-source")).to_have_attribute(
            "data-kind", "measured"
        )
