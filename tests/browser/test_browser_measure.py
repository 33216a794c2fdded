"""The tabs Measure and Papers in headless Chromium."""

import re

import pytest
from playwright.sync_api import expect

import specviz
from tests.pages import open_tab

pytestmark = pytest.mark.browser
PAGE = ("Explore", "Learn", "Measure")


def title(page, name):
    return page.locator(f"#sv-figure-{name} .sv-read")


def test_measure_shows_four_recorded_figures_and_follows_its_controls(seen):
    open_tab(seen, "Measure")
    for name in ("acceptance", "cost", "speedup", "predicted"):
        expect(seen.locator(f"#sv-figure-{name} .js-plotly-plot .main-svg").first).to_be_visible(
            timeout=30_000
        )
        expect(seen.locator(f"#sv-figure-{name} .sv-source")).to_have_attribute(
            "data-kind", "recorded"
        )
    before = title(seen, "speedup").inner_text()
    seen.locator("#sv-machine").get_by_label("A100").check()
    expect(seen.locator("#sv-figure-speedup .sv-source")).to_have_attribute(
        "data-kind", "projection"
    )
    assert title(seen, "speedup").inner_text() != before


def test_one_button_measures_this_machine(serve, visit):
    page = visit(serve(specviz.toy_pair(vocab=12)))
    open_tab(page, "Measure")
    page.locator("#sv-measure").click()
    expect(page.locator("#sv-measure-status .text")).to_contain_text(
        "Measured on this machine", timeout=120_000
    )
    for name in ("cost", "speedup", "predicted"):
        expect(page.locator(f"#sv-figure-{name} .sv-source")).to_have_attribute(
            "data-kind", "measured"
        )


def test_papers_filter_resets_with_the_source(seen):
    open_tab(seen, "Learn", "Papers")
    rows, verdicts = seen.locator(".sv-papers tbody tr"), seen.locator("#sv-papers-verdict")
    every = rows.count()
    verdicts.get_by_label("differs", exact=True).check()
    expect(seen.locator('.sv-papers tbody tr:not([data-state="differs"])')).to_have_count(0)
    assert rows.count() < every
    seen.locator("#sv-papers-source label").nth(1).click()
    expect(verdicts.get_by_label("all", exact=True)).to_be_checked()
    expect(seen.locator(".sv-papers h2")).not_to_have_text(re.compile("Sequoia"))


def test_a_link_opens_a_source_and_marks_an_entry(serve, visit):
    page = visit(serve() + "?tab=papers&paper=svip", ready=".sv-papers")
    expect(page.locator("#sv-papers-source input:checked")).to_have_value("svip")
