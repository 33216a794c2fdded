"""The content security policy: the page does all it does under it, and stands in frames of the hub
alone."""

import httpx
import pytest

from tests.conftest import visits

pytestmark = pytest.mark.browser
PAGE = ("Explore",)


def test_what_the_policy_forbids_is_noticed(serve, browser, visitor):
    """So every other test of the page shows that it works under its policy."""
    with (
        pytest.raises(AssertionError, match="Content Security Policy"),
        visits(browser, visitor) as visit,
    ):
        page = visit(serve())
        with page.expect_console_message():
            page.evaluate(
                "document.head.append(Object.assign(document.createElement('script'), {text: '1'}))"
            )


@pytest.mark.parametrize(
    ("host", "shown"), [("https://huggingface.co", True), ("https://example.org", False)]
)
def test_only_the_hub_may_show_the_page_in_a_frame(serve, browser, host, shown):
    answer = httpx.get(serve(), trust_env=False)
    assert "frame-ancestors" in answer.headers["content-security-policy"]
    policy = {"content-security-policy": answer.headers["content-security-policy"]}
    space, context = "https://a-b.hf.space/", browser.new_context()
    page = context.new_page()
    page.route("**/*", lambda route: route.abort())  # what the page would load next
    page.route(
        space,
        lambda route: route.fulfill(body=answer.text, content_type="text/html", headers=policy),
    )
    frame = f"<iframe src='{space}'></iframe>"
    page.route(f"{host}/", lambda route: route.fulfill(body=frame, content_type="text/html"))
    page.goto(f"{host}/", timeout=30_000)  # until the frame is there or rejected
    assert page.frame_locator("iframe").locator("gradio-app").count() == shown
    context.close()
