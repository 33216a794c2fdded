"""What the first paint transfers, and what a visitor sees who is not let in."""

import pytest

from app.machine import limits

pytest.importorskip("gradio")
expect = pytest.importorskip("playwright.sync_api").expect

from first_paint import Meter  # noqa: E402
from pages import Gated, state  # noqa: E402

pytestmark = pytest.mark.browser
MOST = 1_000_000  # bytes


def test_less_than_a_megabyte_travels_before_a_curve_is_opened(serve, chromium):
    page = chromium.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    meter = Meter(page)
    page.goto(serve())
    page.locator(".sv-svg .node").first.wait_for(timeout=30_000)
    expect(page.locator("#sv-run")).to_be_visible()
    page.locator(".sv-forward").click()
    page.wait_for_timeout(1500)  # what is asked for late counts as well
    first = meter.total
    assert 100_000 < first < MOST, meter.largest(10)
    assert not [url for url in meter.bytes if "plotly" in url.lower()], "plotly.js is for the curves"
    page.get_by_role("tab", name="Acceptance").click()
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=30_000)
    assert [url for url in meter.bytes if "plotly" in url.lower()], "so the check above sees it"
    assert meter.total > first + 500_000
    page.context.close()


def test_whoever_is_not_let_in_reads_a_sentence_and_can_try_again(serve, visit, step_by_step, monkeypatch):
    monkeypatch.setattr(limits, "QUEUE", 1)
    pair = Gated(permits=2)
    url = serve(pair)
    first, second, third = visit(url), visit(url), visit(url)
    first.locator("#sv-run").click()
    expect(first.locator(".sv-where")).to_have_text("step 2 of 2")
    second.locator("#sv-run").click()
    expect(second.locator("#sv-notice")).to_contain_text("queue: 1/1")
    third.locator("#sv-run").click()
    expect(third.locator("#sv-notice")).to_contain_text("the queue is full (at most 1 wait here)")
    expect(third.locator("#sv-stop")).to_be_disabled()
    assert third.locator(".sv-svg .node").count() > 3, "the recorded run is still there"
    pair.gate.release(10**6)
    state(first, "done")
    state(second, "done")
    third.locator("#sv-run").click()
    state(third, "done")
