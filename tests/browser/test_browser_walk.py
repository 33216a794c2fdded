"""What visitors come for, each within three clicks of the page as it opens."""

import pytest
from playwright.sync_api import expect

import specviz
from app import page as built
from app.service.loading import Offer
from app.tabs.parts import own_pair
from tests.app.service.work import described
from tests.pages import Gated

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


@pytest.fixture
def walk(serve, visit):
    """A function that opens the page anew, at the first tab."""
    url = serve(specviz.toy_pair(vocab=12))
    page = visit(url, settings=False)

    def begin():
        page.get_by_role("tab", name="Explore", exact=True).click()  # where the page opens
        return Walk(page)

    return begin


def test_every_task_takes_three_clicks_at_most(walk):
    for task in (rejected_token, race, sampled, chain_against_tree, link):
        task(walk())


def test_a_pair_of_ones_own_takes_three_clicks(serve, visit, monkeypatch):
    """Toy tables stand for it; tests/app/tabs/test_own_pair.py loads real ones by the same
    events."""
    build = built.build_service

    def with_others(load):
        service = build(load)
        service.pairs.other = lambda ref: Offer("big + small", lambda ref, loading: Gated())
        return service

    monkeypatch.setattr(built, "build_service", with_others)
    monkeypatch.setattr(own_pair, "describe", described)
    walk = Walk(visit(serve(specviz.toy_pair(vocab=12)), settings=False))
    walk.click(walk.page.locator("#sv-settings-opener button"))
    walk.click(walk.page.locator("#sv-own").get_by_role("button", name="Own pair"))
    walk.page.get_by_role("textbox", name="Target").fill("models/big")
    walk.page.get_by_role("textbox", name="Draft").fill("models/small")
    walk.click(walk.page.locator("#sv-own-use"))
    expect(walk.page.locator("#sv-own-report")).to_contain_text("In use: big + small. It fits.")


def rejected_token(walk):
    """One rejected token: a sentence and a card give p, q and the draw, a click its numbers."""
    walk.click(walk.page.locator("#sv-stage .sv-phases label").last)
    expect(walk.page.locator("#sv-stage .sv-svg")).to_have_attribute("data-phase", "4")
    walk.click(walk.page.locator("#sv-stage .node.rejected .shape").first)
    expect(walk.page.locator("#sv-stage .sv-caption")).to_contain_text("rejected")
    walk.click(walk.page.get_by_role("button", name="In numbers"))
    expect(walk.page.locator("#sv-stage .sv-detail .sv-bars").first).to_be_visible()


def race(walk):
    """What a tree is good for: a recorded race at true speed."""
    walk.click(walk.page.get_by_role("tab", name="Compare", exact=True))
    for name in ("Plain decoding", "Chain of 5", "Sequoia 32"):
        expect(walk.page.locator("#sv-compare")).to_contain_text(name)


def sampled(walk):
    """Is it exact? Two tokens sampled many times with speculation and with plain decoding."""
    fold = walk.page.locator("#sv-sampled")
    walk.click(fold.locator("summary"))
    walk.click(fold.get_by_role("button", name="Sample 1,000 times"))
    expect(fold.locator(".sv-sampled-count")).to_contain_text(
        "1,000 of 1,000 runs", timeout=120_000
    )
    expect(fold).to_contain_text("Yes: speculation agrees")
    percentages = fold.locator("tbody td:last-child").all_inner_texts()
    assert abs(sum(float(text.rstrip(" %")) for text in percentages) - 100) < 1


def chain_against_tree(walk):
    """Tree against chain: the tree is on the screen, and the chain is a preset that answers at
    once."""
    headline = walk.page.locator("#sv-headline .sv-headline")
    tree = headline.inner_text()
    walk.click(walk.page.locator("#sv-preset label").filter(has_text="Chain"))
    expect(walk.page.locator("#sv-stage .sv-about-run")).to_contain_text("Tree: Chain")
    expect(headline).not_to_have_text(tree)


def link(walk):
    """Save and send: a link that opens what is seen."""
    walk.click(walk.page.locator("#sv-stage .sv-save summary"))
    walk.click(walk.page.locator("[data-save=link]:visible"))
    expect(walk.page.locator("#sv-stage")).to_contain_text("Link copied")
