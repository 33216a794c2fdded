"""The whole page: what its first paint transfers, and the tab that a link opens."""

import pytest
from playwright.sync_api import expect

from app.page import TABS
from app.tabs.parts import opening
from tests.pages import open_tab

pytestmark = pytest.mark.browser
MOST = 1_000_000  # bytes


@pytest.mark.parametrize("curves", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_less_than_a_megabyte_travels_before_a_curve_is_opened(serve, chromium, curves):
    page, requests = chromium.new_context(viewport={"width": 1400, "height": 1000}).new_page(), []
    page.on("requestfinished", lambda request: requests.append(request))

    def transferred():
        """Bytes on the wire by address, headers and compression included."""
        sizes = {request.url: request.sizes() for request in requests}
        return {
            url: size["responseBodySize"] + size["responseHeadersSize"]
            for url, size in sizes.items()
        }

    page.goto(serve())
    page.locator(".sv-svg .node").first.wait_for(timeout=30_000)
    expect(page.locator("#sv-run")).to_be_visible()
    page.locator(".sv-forward").click()
    page.wait_for_timeout(1500)  # what is asked for late counts as well
    first = transferred()
    assert 100_000 < sum(first.values()) < MOST, sorted(first.items(), key=lambda pair: -pair[1])[
        :10
    ]
    assert not [url for url in first if "plotly" in url.lower()], "plotly.js is for the curves"
    if curves:
        open_tab(page, "Measure")
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=30_000)
        late = transferred()
        assert [url for url in late if "plotly" in url.lower()], "so the check above sees it"
        assert sum(late.values()) > sum(first.values()) + 500_000
    page.context.close()


LINKS = {
    "tab=compare": "Compare",
    "lesson=3": "Lessons",
    "tab=learn": "Lessons",
    "tab=papers&paper=dyspec": "Lessons",
    "lab=tree": "Tree lab",
    "lab=verification": "Verification lab",
    "tab=labs": "Verification lab",
    "tab=acceptance": "Measure",
    "tab=what a step costs": "Measure",
    "tab=SPEEDUP": "Measure",
    "tab=live": "Explore",
    "tab=nothing": None,
    "": None,
}


def test_links_open_their_tab_under_old_names_as_well(serve, visit):
    url = serve()
    page = visit(f"{url}?tab=Speedup", ready="#sv-figure-sizes .main-svg")
    tab = page.get_by_role("tab", name=LINKS["tab=SPEEDUP"], exact=True)
    expect(tab).to_have_attribute("aria-selected", "true")
    for query, opened in LINKS.items():
        page.evaluate("query => history.replaceState(null, '', `?${query}`)", query)
        assert page.evaluate(opening.opens(TABS)).get("selected") == opened, query
