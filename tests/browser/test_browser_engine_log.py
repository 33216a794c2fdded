"""The card "Your engine's log" in headless Chromium: paste, drop, a foreign text, and what is too large."""

import json

import pytest
from pages import open_tab
from playwright.sync_api import expect

from specviz import Trace
from tests.doctor.test_doctor import SLOWER, read

pytestmark = pytest.mark.browser
PAGE = ("Explore", "Measure")


@pytest.fixture
def card(serve, visit):
    def never():
        raise AssertionError("a model was loaded")

    page = visit(serve(load=never))
    open_tab(page, "Measure", "Which tree pays")
    page.get_by_role("button", name="Your engine's log").click()
    return page.locator("#sv-log")


def says(card, text):
    expect(card.locator(".sv-notice .text")).to_have_text(text)


def test_a_pasted_log_is_diagnosed(card):
    card.get_by_label("Log", exact=True).fill(SLOWER)
    card.get_by_role("button", name="Diagnose").click()
    expect(card.locator(".sv-block h3")).to_contain_text("vLLM")
    expect(card.locator(".sv-block h3 .sv-source")).to_have_text("verdict open")
    card.get_by_label("Plain decoding").fill("342.2")
    card.get_by_role("button", name="Diagnose").click()
    expect(card.locator(".sv-block h3 .sv-source")).to_have_text("does not pay")
    expect(card.locator(".sv-block table")).to_contain_text("5.24 plain steps")
    expect(card.locator(".sv-log-advice li")).to_contain_text("overhead It does not pay")
    with card.page.expect_download() as download:
        card.get_by_role("button", name="JSON").click()
    assert json.loads(download.value.path().read_text())["pays"] is False


def test_a_dropped_file_shows_a_chart_and_a_run_to_save(card, tmp_path):
    text = read("vllm_requests.jsonl") + read("llama.txt")
    card.locator(".sv-log").evaluate(
        """(root, text) => { const data = new DataTransfer();
          data.items.add(new File([text], 'server.log'));
          root.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })); }""",
        text,
    )
    blocks = card.locator(".sv-block")
    expect(blocks).to_have_count(2)
    expect(blocks.locator(".sv-chart-svg")).to_have_count(2)
    with card.page.expect_download() as download:
        card.get_by_role("button", name="Run").click()
    trace = Trace.from_json(download.value.path().read_text())
    assert [step.drafted for step in trace.steps] == [3, 3, 1, 3, 3]


def test_what_cannot_be_read_is_a_sentence(card):
    card.get_by_role("button", name="Diagnose").click()
    says(card, "Paste a log first.")
    card.get_by_label("Log", exact=True).fill("<b>Hello</b>")
    card.get_by_role("button", name="Diagnose").click()
    expect(card.locator(".sv-notice .text")).to_contain_text(
        "Nothing of an engine was found. Recognised are vLLM's log"
    )
    card.locator(".sv-log-text").evaluate("area => { area.value = 'x'.repeat(4_000_001); }")
    card.get_by_role("button", name="Diagnose").click()
    expect(card.locator(".sv-notice .text")).to_contain_text("This text has 4.0 MB; the limit is 4 MB.")
