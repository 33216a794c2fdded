"""The content security policy: the page does all it does under it, and stands in frames of the hub alone."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.pages import open_tab, state

pytestmark = pytest.mark.browser

WATCH = """
window.violations = [];
document.addEventListener('securitypolicyviolation', event =>
  window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
"""


def test_the_page_works_in_full_under_its_policy(serve, visit, browser):
    url = serve()
    page = visit(url, fresh=True)
    page.set_default_timeout(40_000)
    answer = page.request.get(url)
    assert "frame-ancestors" in answer.headers["content-security-policy"]
    page.add_init_script(WATCH)
    page.reload()
    page.locator(".sv-svg .node").first.wait_for()

    page.locator("#sv-run").click()
    state(page, "done")
    for kind in ("json", "html", "svg", "png"):
        page.locator("#sv-stage .sv-save summary").click()
        with page.expect_download():
            page.locator(f"#sv-stage [data-save={kind}]").click()

    page.get_by_role("tab", name="Compare", exact=True).click()
    page.locator(".sv-race-svg path").first.wait_for()
    open_tab(page, "Measure")
    expect(page.locator(".js-plotly-plot:visible").first).to_be_visible()
    page.get_by_role("tab", name="Lab", exact=True).click()
    page.locator("#sv-lab svg").first.wait_for()
    page.get_by_role("tab", name="Learn", exact=True).click()
    page.get_by_role("tab", name="Papers", exact=True).click()
    page.wait_for_timeout(1000)
    assert page.evaluate("window.violations") == []


@pytest.mark.parametrize(("host", "shown"), [("https://huggingface.co", True), ("https://example.org", False)])
def test_only_the_hub_may_show_the_page_in_a_frame(serve, browser, host, shown):
    answer = httpx.get(serve(), trust_env=False)
    policy = {"content-security-policy": answer.headers["content-security-policy"]}
    space, context = "https://a-b.hf.space/", browser.new_context()
    page = context.new_page()
    page.route("**/*", lambda route: route.abort())  # what the page would load next
    page.route(space, lambda route: route.fulfill(body=answer.text, content_type="text/html", headers=policy))
    frame = f"<iframe src='{space}'></iframe>"
    page.route(f"{host}/", lambda route: route.fulfill(body=frame, content_type="text/html"))
    page.goto(f"{host}/", timeout=30_000)  # until the frame is there or rejected
    assert page.frame_locator("iframe").locator("gradio-app").count() == shown
    context.close()
