"""The whole page: what its first paint transfers, and the tab that a link opens."""

import pytest
from first_paint import Meter
from playwright.sync_api import expect

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


def test_a_link_opens_a_tab(serve, visit):
    url = serve()
    page = visit(f"{url}?tab=compare", ready="#sv-compare .node")
    for query, tab in [
        ("tab=compare", "Compare"),
        ("tab=SPEEDUP", "Speedup"),
        ("tab=nothing", "Explore"),
        ("tab=live", "Explore"),
    ]:
        if tab != "Compare":
            page.goto(f"{url}?{query}")
        expect(page.get_by_role("tab", name=tab, exact=True)).to_have_attribute("aria-selected", "true")
