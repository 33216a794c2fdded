"""The page in headless Firefox: first paint, inspector, a run, the Tree lab, dark, and the page that plays offline."""

import json

import pytest
from pages import counts_add_up, offline, state, steps, to_step
from playwright.sync_api import expect

from app.tabs import explore

pytestmark = pytest.mark.browser
SLOW = 60_000  # milliseconds: what a busy machine may need


@pytest.fixture
def browser(firefox):
    return firefox


@pytest.fixture
def heard():
    """Functions to watch a page with: nothing it says in the console may be an error."""
    errors = []

    def watch(page):
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        return page

    yield watch
    assert errors == []


def colour(page, outcome, part="fill"):
    """How the first node with this outcome is painted."""
    shape = page.locator(f".sv-svg .node.{outcome} .shape").first
    return shape.evaluate("(shape, part) => getComputedStyle(shape)[part]", part)


def test_the_recorded_tree_is_drawn_and_a_click_says_why(serve, visit, heard):
    page = heard(visit(serve(), fresh=True))
    trees = json.loads(explore.recordings.opening().message())["steps"]
    step = next(at for at, tree in enumerate(trees) if tree["outcome"].count("x") and at + 1 < len(trees))
    to_step(page, step)
    counts_add_up(page)
    page.locator("button[data-phase='4']").click()
    page.locator(".sv-svg .node.x").first.click()
    page.mouse.move(5, 5)
    expect(page.locator(".sv-outcome")).to_have_text("rejected")
    expect(page.locator(".sv-why")).to_contain_text("Rejected: u =")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".sv-svg")).to_have_attribute("data-step", str(step + 1))


def test_a_run_finishes_with_coloured_nodes(serve, visit, heard):
    page = heard(visit(serve(), fresh=True))
    page.locator("#sv-run").click()
    state(page, "done")
    assert steps(page) > 1
    to_step(page, 0)
    counts_add_up(page)
    kinds = [kind for kind in ("a", "x", "u") if page.locator(f".sv-svg .node.{kind}").count()]
    assert len(kinds) > 1
    assert len({colour(page, kind, "stroke") for kind in kinds}) == len(kinds), "every outcome has a colour of its own"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_the_browser_draws_itself_follows_the_theme(serve, visit, theme):
    """Firefox shows scroll bars and the arrows of numbers, white ones unless it knows that the page is dark."""
    page = visit(f"{serve()}?__theme={theme}")
    expect(page.locator("body")).to_have_class("dark" if theme == "dark" else "")
    for part in ("html", ".sv-ribbon", "input[type=number]"):
        scheme = page.locator(part).first.evaluate("part => getComputedStyle(part).colorScheme")
        assert (scheme == "dark") == (theme == "dark"), (part, scheme)


def test_an_exported_run_plays(browser, heard, tmp_path):
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page, asked, broken = heard(context.new_page()), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: broken.append(str(error)))
    run = offline(page, tmp_path)
    last = len(run)
    assert steps(page) == last > 1
    to_step(page, 0)
    counts_add_up(page)
    page.locator(".sv-play").click()
    expect(page.locator(".sv-where")).to_have_text(f"step {last} of {last}", timeout=SLOW)
    context.close()
    assert all(url.startswith(("file:", "blob:", "data:")) for url in asked), asked
    assert broken == []
