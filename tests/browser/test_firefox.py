"""Headless Firefox: a run, the exported page, outcomes, what it draws itself; its console must show
no error."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_share import test_an_exported_page_plays_with_the_network_off
from tests.pages import Gated, counts_add_up, state, steps

__all__ = ["test_an_exported_page_plays_with_the_network_off"]
pytestmark = [pytest.mark.browser, pytest.mark.nightly]
PAGE = ("Explore",)


@pytest.fixture
def browser(firefox):
    return firefox


@pytest.fixture
def visit(visit):
    errors = []

    def open_page(*args, **more):
        page = visit(*args, **more)
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        return page

    yield open_page
    assert errors == []


def test_a_run_streams_to_its_end(serve, visit):
    page = visit(serve(Gated()))
    page.locator("#sv-run").click()
    state(page, "done")
    assert steps(page) > 1
    counts_add_up(page)


def test_a_rejected_token_says_why_and_every_outcome_has_a_colour_of_its_own(serve, visit):
    page = visit(serve(), settings=False)
    page.locator(".sv-phases label").last.click()
    page.locator(".sv-svg .node.rejected .shape").first.click()
    expect(page.locator(".sv-node-card")).to_contain_text("rejected")
    colours = {
        page.locator(f".sv-svg .node.{kind} .shape").first.evaluate(
            "shape => getComputedStyle(shape).stroke"
        )
        for kind in ("accepted", "rejected", "unreached")
    }
    assert len(colours) == 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_the_browser_draws_itself_follows_the_theme(serve, visit, theme):
    """Firefox shows scroll bars and the arrows of numbers, white ones unless it knows that the page
    is dark."""
    page = visit(f"{serve()}?__theme={theme}")
    expect(page.locator("body")).to_have_class("dark" if theme == "dark" else "")
    for part in ("html", ".sv-ribbon", "input[type=number]"):
        scheme = page.locator(part).first.evaluate("part => getComputedStyle(part).colorScheme")
        assert (scheme == "dark") == (theme == "dark"), (part, scheme)
