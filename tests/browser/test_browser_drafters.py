"""The menu of drafters in Live and Compare: what is chosen shows its parameters and runs."""

import re

import pytest
from pages import choose, state, steps, to_step
from playwright.sync_api import expect

from app.tabs import compare

pytestmark = pytest.mark.browser
PAGE = ("Explore", "Compare")


def test_medusa_is_chosen_shows_its_parameters_and_runs(serve, visit):
    page = visit(serve())
    expect(page.get_by_label("range slider for Heads")).to_have_count(0)
    choose(page, "Drafter", "Medusa heads")
    heads = page.get_by_label("range slider for Heads").locator("visible=true")
    expect(heads).to_have_value("4")
    page.get_by_label("New tokens").locator("visible=true").fill("20")
    page.locator("#sv-run").click()
    state(page, "done")
    expect(page.locator(".sv-title-line")).to_contain_text("drafted by Medusa heads")
    expect(page.locator(".sv-whose")).to_be_hidden()
    to_step(page, 0)
    page.locator(".sv-svg .node:is(.a, .x, .u)").first.click()
    expect(page.locator(".sv-why")).to_contain_text(re.compile(r"Drafted by Medusa heads: head \d"))


def test_a_column_of_compare_has_a_drafter_of_its_own(serve, visit):
    page = visit(serve())
    page.get_by_role("tab", name=compare.TITLE).click()
    page.locator("#sv-compare section.sv-run .node").first.wait_for()
    choose(page, "Tree builder of B", "Chain")
    side = page.locator("#sv-side-B")
    side.get_by_role("button", name="Parameters").click()
    expect(side.get_by_label("range slider for Heads")).to_have_value("4")
    page.locator("#sv-side-C").get_by_text("Off", exact=True).click()
    page.get_by_label("New tokens").locator("visible=true").fill("12")
    page.locator("#sv-compare-run").click()
    expect(page.locator("#sv-compare .sv-recorded")).to_be_hidden(timeout=60_000)
    titles = page.locator("#sv-compare .sv-run-title")
    expect(titles).to_have_text(
        [re.compile("^Tree: Sequoia"), "Drafter: Medusa heads · Tree: Chain · Rule: Exact match"]
    )
    expect(page.locator("#sv-compare-status .text")).to_have_text("")


@pytest.mark.parametrize(
    "drafter, spoken, guessed",
    [
        ("Several drafters", "several drafters", ["Draft model", "Retrieval"]),
        pytest.param("Cascade", "a cascade", ["Draft model", "n-grams"], marks=pytest.mark.nightly),
    ],
)
def test_of_more_than_one_drafter_the_legend_says_who_was_right(serve, visit, drafter, spoken, guessed):
    page = visit(serve())
    choose(page, "Drafter", drafter)
    page.get_by_label("New tokens").locator("visible=true").fill("20")
    page.locator("#sv-run").click()
    state(page, "done")
    expect(page.locator(".sv-title-line")).to_contain_text(f"drafted by {spoken}")
    expect(page.locator(".sv-whose > [data-drafter]")).to_contain_text(guessed)
    for index in range(steps(page)):  # in some steps one of them guessed all
        to_step(page, index)
        if page.locator(".sv-svg [data-drafter]:not([data-drafter=model])").count():
            break
    page.locator(".sv-svg .node:has([data-drafter=model])").first.click()
    expect(page.locator(".sv-why")).to_contain_text("Drafted by the draft model")
