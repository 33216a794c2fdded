"""A run in a notebook plays in Chromium, with the network off."""

import pytest

import specviz
from specviz.view.offline import HEIGHT

pytestmark = pytest.mark.browser


def test_the_frame_of_a_trace_plays_without_a_network_and_becomes_as_tall_as_its_page(chromium):
    trace = specviz.run(specviz.toy_pair(vocab=12), specviz.RunConfig("abc", max_new_tokens=20))
    context = chromium.new_context(offline=True, viewport={"width": 600, "height": 700})
    page, requests, heights = context.new_page(), [], [HEIGHT]
    page.on("request", lambda request: requests.append(request.url))
    page.set_content(f"<p>a cell</p>{trace._repr_html_()}")
    frame = page.frame_locator("iframe")
    frame.locator(".sv-svg .node").first.wait_for(timeout=120_000)
    assert int(frame.locator(".sv-scrub").get_attribute("max")) == len(trace.steps) - 1
    for _ in range(2):
        page.wait_for_function(
            "least => document.querySelector('iframe').offsetHeight > least", arg=heights[-1]
        )
        # The tree takes its share of the frame, which grows once more.
        page.frames[1].wait_for_function("document.documentElement.scrollHeight <= innerHeight")
        heights.append(page.locator("iframe").bounding_box()["height"])
        frame.locator(".sv-about summary").click()  # opens a text below
    assert not [url for url in requests if not url.startswith(("about:", "data:", "blob:"))]
    context.close()
