"""The tab Measure in headless Chromium."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

import specviz
from app.tabs import measure
from app.tabs.measure import QUESTIONS
from tests.pages import open_tab, present

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
    expect(answer(seen, "sizes")).to_contain_text(re.compile("In memory: .* On disk: "))
    figure = seen.locator("#sv-figure-sizes .sv-plot").bounding_box()
    assert figure["y"] + figure["height"] <= 800, "the first answer and its figure on one screen"
    before = answer(seen, "sizes").inner_text()
    seen.locator("#sv-measure-temperature").get_by_label("0", exact=True).check()
    expect(seen.locator("#sv-figure-sizes .sv-source")).to_have_text(re.compile("temperature 0$"))
    expect(seen.locator("#sv-figure-sizes .sv-source")).to_contain_text("SmolLM2 135M")
    assert answer(seen, "sizes").inner_text() != before


def test_presented_a_question_its_answer_and_its_figure_fill_the_screen_and_keys_turn(seen):
    seen.set_viewport_size({"width": 1280, "height": 720})
    open_tab(seen, "Measure")
    present(seen)
    turns = [None, *["ArrowRight", "PageDown", " ", "ArrowRight"]]
    for name, key in zip(QUESTIONS, turns, strict=True):
        if key:
            seen.keyboard.press(key)
        for part in ("h2", ".sv-answer", ".sv-source", ".js-plotly-plot .main-svg >> nth=0"):
            expect(seen.locator(f"#sv-figure-{name} {part}")).to_be_in_viewport(ratio=0.99)
        size = answer(seen, name).evaluate("line => parseFloat(getComputedStyle(line).fontSize)")
        assert size >= 28, name
        shown = seen.locator(".sv-figure h2").evaluate_all(
            "lines => lines.filter(line => { const { top } = line.getBoundingClientRect();"
            " return top >= 0 && top < innerHeight; }).length"
        )
        assert shown == 1, name
    seen.keyboard.press("ArrowLeft")
    before_last = list(QUESTIONS)[-2]
    expect(seen.locator(f"#sv-figure-{before_last} h2")).to_be_in_viewport()
    seen.locator(".sv-source").evaluate_all(
        "lines => lines.forEach(line => { line.textContent += ', and more '.repeat(30); })"
    )
    for width in (1280, 768):  # whatever the lines above take, and on a tablet
        seen.set_viewport_size({"width": width, "height": 720})
        axis = seen.locator(f"#sv-figure-{before_last} .g-xtitle")
        expect(axis).to_be_in_viewport(ratio=0.99)
    seen.keyboard.press("Escape")


def test_each_question_is_one_click_away_and_its_figure_fits_the_screen(seen):
    seen.set_viewport_size({"width": 1280, "height": 800})
    open_tab(seen, "Measure")
    for name, (title, *_) in QUESTIONS.items():
        seen.locator(".sv-measure-list").get_by_role("link", name=title, exact=True).click()
        for part in ("h2", ".sv-answer", ".sv-plot", ".sv-read"):
            expect(seen.locator(f"#sv-figure-{name} {part}")).to_be_in_viewport(ratio=0.99)
        expect(seen.locator("#sv-measure-temperature")).to_be_in_viewport()


def test_on_a_phone_an_answer_is_followed_by_its_figure(seen):
    seen.set_viewport_size({"width": 390, "height": 844})
    open_tab(seen, "Measure")
    for name in QUESTIONS:
        drawn = f"document.querySelector('#sv-figure-{name} .main-svg').clientWidth < 390"
        seen.wait_for_function(drawn)  # for this screen
        parts = [".sv-answer", ".sv-source", ".js-plotly-plot .main-svg >> nth=0", ".sv-read"]
        tops = [seen.locator(f"#sv-figure-{name} {part}").bounding_box()["y"] for part in parts]
        assert tops == sorted(tops), name
        figure = seen.locator(f"#sv-figure-{name} .js-plotly-plot").bounding_box()
        for title in seen.locator(f"#sv-figure-{name} :is(.xtitle, .ytitle)").all():
            place = title.bounding_box()
            for start, length in (("x", "width"), ("y", "height")):
                assert figure[start] <= place[start], name
                assert place[start] + place[length] <= figure[start] + figure[length], name


@pytest.fixture
def few_trees():
    """A measurement of two trees on two prompts."""
    few = partial(measure.measure_machine, sizes=(4, 16), rounds=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "measure_machine", few)
        yield


def test_one_button_measures_this_machine(serve, seen, few_trees):
    serve(specviz.toy_pair(vocab=12))  # the page is open
    page = seen
    page.set_viewport_size({"width": 1400, "height": 1000})
    open_tab(page, "Measure")
    page.locator("#sv-measure").click()
    expect(page.locator("#sv-measure-status .text")).to_contain_text(
        "Measured on this machine", timeout=120_000
    )
    expect(answer(page, "sizes")).to_contain_text(
        re.compile(r"On this machine: .*(\(timed: \d\.\d to \d\.\d\)|none is faster)")
    )
    for name in ("sizes", "cost", "predicted"):
        expect(page.locator(f"#sv-figure-{name} .sv-source")).to_contain_text(
            "measured on this machine"
        )
