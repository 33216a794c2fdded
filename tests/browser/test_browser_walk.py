"""What visitors come for, each within three clicks of the page as it opens."""

import pytest
from playwright.sync_api import expect

import specviz

pytestmark = pytest.mark.browser
MOST = 3  # clicks


class Walk:
    """A page whose clicks are counted."""

    def __init__(self, page):
        self.page, self.clicks = page, 0

    def click(self, target):
        self.clicks += 1
        assert self.clicks <= MOST, target
        target.click()

    def tab(self, *titles):
        for title in titles:
            self.click(self.page.get_by_role("tab", name=title, exact=True))


@pytest.fixture
def walk(serve, visit):
    """A function that opens the page anew, at the first tab."""
    url = serve(specviz.toy_pair(vocab=12))
    page = visit(url, settings=False, permissions=["clipboard-read", "clipboard-write"])

    def begin():
        page.get_by_role("tab", name="Explore", exact=True).click()  # where the page opens
        return Walk(page)

    return begin


def test_every_task_takes_three_clicks_at_most(walk):
    for task in (
        rejected_token, drafters, acceptance_vector, best_tree, scaling, exact, sampled, rules, chain_against_tree,
        link,
    ):  # fmt: skip
        task(walk())


@pytest.mark.adapter
def test_a_pair_of_ones_own_takes_three_clicks(serve, visit, monkeypatch, tmp_path):
    from app import page as built
    from app.machine import models
    from app.machine.engine import Engine
    from tests.models.test_pair import save

    for name in ("SPECVIZ_CUSTOM", "SPECVIZ_PAIR", "GRADIO_SERVER_NAME", "SPACE_ID", "SYSTEM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(built, "Engine", lambda loads, *rest: Engine(loads, models.others()))
    walk = Walk(visit(serve(specviz.toy_pair(vocab=12)), settings=False))
    walk.click(walk.page.locator("#sv-settings-opener button"))
    walk.click(walk.page.locator("#sv-own").get_by_role("button", name="Own pair"))
    walk.page.get_by_label("Target").fill(save(tmp_path / "big"))
    walk.page.get_by_label("Draft", exact=True).fill(save(tmp_path / "small", hidden_size=16))
    walk.click(walk.page.locator("#sv-own-use"))
    expect(walk.page.locator("#sv-own-report")).to_contain_text("In use: big + small.", timeout=120_000)


def rejected_token(walk):
    """One rejected token: the numbers stand beside it, and Why? shows its distributions."""
    expect(walk.page.locator("#sv-stage .note")).to_contain_text("Rejected: u = ")
    walk.click(walk.page.locator("#sv-stage .node.x").first)
    expect(walk.page.locator("#sv-stage .sv-bars")).to_be_visible()
    expect(walk.page.locator("#sv-stage .sv-outcome")).to_contain_text("rejected")


def drafters(walk):
    """Drafters: a recorded race of three."""
    walk.tab("Compare")
    expect(walk.page.locator("#sv-compare .node").first).to_be_visible()
    for name in ("Draft model", "Medusa heads", "EAGLE"):
        expect(walk.page.locator("#sv-compare")).to_contain_text(name)


def acceptance_vector(walk):
    """The acceptance vector of the pair."""
    walk.tab("Measure")
    expect(walk.page.get_by_role("heading", name="Acceptance by rank")).to_be_visible()


def best_tree(walk):
    """The best tree on this machine."""
    walk.tab("Measure", "Which tree pays")
    expect(walk.page.get_by_role("heading", name="Predicted speedup by tree size and depth")).to_be_visible()


def scaling(walk):
    """How Sequoia's tree scales with its size."""
    walk.tab("Learn", "Papers")
    expect(walk.page.locator(".sv-papers")).to_have_attribute("aria-busy", "false")
    entry = walk.page.locator(".sv-entry").filter(has_text="Tokens grow without end, about as the logarithm")
    expect(entry.locator(".sv-chart").first).to_be_hidden()
    walk.click(entry.locator("summary"))
    expect(entry.locator(".sv-chart").first).to_be_visible()


def exact(walk):
    """Sampling stays exact: the output distribution of a rule beside the target's."""
    walk.tab("Lab", "Verification lab")
    expect(walk.page.get_by_role("heading", name="Output distribution")).to_be_visible()
    expect(walk.page.locator(".sv-v")).to_contain_text("Equal to the target’s distribution")


def sampled(walk):
    """Is it exact? Two tokens sampled many times with speculation and with plain decoding."""
    fold = walk.page.locator("#sv-sampled")
    walk.click(fold.locator("summary"))
    walk.click(fold.locator("button:visible").first)
    expect(fold).to_contain_text("Speculation shows no deviation", timeout=120_000)


def rules(walk):
    """Two rules: what each accepts of the same distributions."""
    walk.tab("Lab", "Verification lab")
    table = walk.page.locator(".sv-v").filter(has_text="Acceptance of every rule")
    for name in ("Sequoia", "SpecInfer"):
        expect(table.get_by_text(name, exact=True).locator("visible=true").first).to_be_visible()


def chain_against_tree(walk):
    """Tree against chain: the tree is on the screen, and the chain is a preset."""
    headline = walk.page.locator(".sv-headline em")
    tree = headline.inner_text()
    walk.click(walk.page.locator("#sv-preset label").filter(has_text="Chain"))
    expect(walk.page.locator("#sv-stage .sv")).to_have_class("sv stale")
    walk.click(walk.page.locator("#sv-run"))
    expect(walk.page.locator("#sv-stage .sv-recorded")).to_be_hidden()
    expect(walk.page.locator("#sv-stage .sv-state")).to_have_attribute("data-state", "done")
    expect(walk.page.locator("#sv-stage .sv-title-line")).to_contain_text("Tree: Chain")
    expect(headline).not_to_have_text(tree)


def link(walk):
    """Save and send: a link that opens the run."""
    walk.click(walk.page.locator("#sv-stage .sv-save summary"))
    walk.click(walk.page.locator("[data-save=link]:visible"))
    expect(walk.page.locator("#sv-stage")).to_contain_text("Link copied")


@pytest.mark.parametrize(("width", "most"), [(1440, 3000), (390, 5000)])
def test_the_papers_are_an_index_that_a_link_unfolds_at_its_entry(serve, visit, width, most):
    url, ready = serve(), ".sv-papers[aria-busy=false]"
    page = visit(f"{url}?tab=papers", width=width, ready=ready, settings=False)
    for source in page.locator(".sv-papers-list button").all():
        source.click()
        page.locator(ready).wait_for()
        expect(source).to_have_attribute("aria-current", "page")
        assert page.evaluate("document.documentElement.scrollHeight") < most
    page.goto(f"{url}?tab=papers&paper=sequoia&entry=table-8")
    expect(page.locator(".sv-entry[open]")).to_have_attribute("data-name", "table-8")
    expect(page.locator(".sv-entry[open] summary")).to_be_in_viewport()
    page.get_by_role("button", name="Expand all").click()
    page.locator(".sv-entry[open] ~ .sv-entry[open] .sv-chart").first.wait_for()
    right = "box.getBoundingClientRect().right > box.closest('.sv-entry').getBoundingClientRect().right"
    found = page.locator(".sv-entry .sv-scroll, .sv-entry .sv-chart")
    assert found.evaluate_all(f"boxes => boxes.filter(box => {right}).length") == 0
