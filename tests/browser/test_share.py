"""Links, saving and opening in headless Chromium, and the page that plays offline."""

import re
from html import unescape
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

import specviz
from app import page as built
from app.service import limits
from app.service.loading import Offer
from app.service.pair_ref import TALES
from app.service.pairs import Pairs
from app.service.process import Process, Requests
from app.service.service import RunService
from app.tabs import explore
from specviz.view.offline import offline_page
from tests.pages import STAGE, Gated, counts_add_up, offline, open_file, save, state, steps, to_step

pytestmark = pytest.mark.browser
PAGE = ("Explore",)


def copy_link(page):
    page.locator(f"{STAGE} .sv-save summary").click()
    page.locator(f"{STAGE} [data-save=link]").click()
    expect(page.locator(f"{STAGE} .sv-kept")).to_contain_text("Link copied")
    return page.evaluate("navigator.clipboard.readText()")


def test_a_link_opens_the_recording_that_was_seen(serve, visit):
    url = serve()
    page = visit(url, settings=False)
    page.locator(".sv-choice label", has_text="Large tree").click()
    expect(page.locator(f"{STAGE} .sv-svg")).to_have_attribute(
        "data-of", "recorded-smollm2-large-tree-0.6"
    )
    to_step(page, 2)
    headline = page.locator("#sv-headline").inner_text()
    link = copy_link(page)
    other = visit(link, settings=False)
    expect(other.locator(f"{STAGE} .sv-svg")).to_have_attribute(
        "data-of", "recorded-smollm2-large-tree-0.6"
    )
    expect(other.locator(f"{STAGE} .sv-svg")).to_have_attribute("data-step", "2")
    assert other.locator("#sv-headline").inner_text() == headline
    expect(other.locator("#sv-headline")).not_to_contain_text("press Run")


def test_a_link_and_a_last_run_may_set_the_prompt_alone(serve, visit):
    page = visit(serve(), settings=False)
    page.get_by_role("button", name="Story").click()
    story = "recorded-smollm2-story-tree-0.6"
    expect(page.locator(f"{STAGE} .sv-svg")).to_have_attribute("data-of", story)
    other = visit(copy_link(page), settings=False)
    expect(other.locator(f"{STAGE} .sv-svg")).to_have_attribute("data-of", story)
    page.locator(f"{STAGE} .sv-history button").first.click()
    expect(page.locator("#sv-prompts [aria-pressed=true]")).to_have_text("Explain")
    for one in (other, page):
        expect(one.locator("#sv-headline")).not_to_contain_text("press Run")


@pytest.fixture
def on_disk_too(monkeypatch):
    """The page has a pair with the name of the embedded one, in memory and on disk."""

    def build_service(load):
        only = Offer(TALES, lambda ref, loading: Gated(), has_disk=True)
        return RunService(Pairs({TALES: only}), Requests(Process(limits.SECONDS), limits.QUEUE))

    monkeypatch.setattr(built, "build_service", build_service)


@pytest.mark.parametrize(
    ("label", "weights", "name"),
    [
        pytest.param("in memory", "memory", "recorded-tree-0.6", marks=pytest.mark.nightly),
        ("on disk", "disk", "recorded-tree-0.6-disk"),
    ],
)
def test_links_and_a_reload_show_the_same_again_recorded_and_own(
    serve, visit, on_disk_too, label, weights, name
):
    url = serve()
    page = visit(url, settings=False)
    page.locator(".sv-weights label", has_text=label).first.click()
    expect(page.locator(f"{STAGE} .sv-svg")).to_have_attribute("data-of", name)
    opened = visit(copy_link(page), settings=False)
    expect(opened.locator(f"{STAGE} .sv-svg")).to_have_attribute("data-of", name)
    expect(opened.locator("#sv-headline")).not_to_contain_text("press Run")
    address = page.url
    page.locator("#sv-prompt textarea").fill('a & b = "c"; 100 % # ü')
    page.locator("#sv-run").click()
    state(page, "done")
    expect(page).not_to_have_url(address)
    link, text = copy_link(page), page.locator(f"{STAGE} .sv-ribbon").inner_text()
    own = visit(link, settings=False)
    page.reload()  # its address is a link to the run as well
    for other in (own, page):
        state(other, "done")
        expect(other.locator(f"{STAGE} .sv-state")).to_have_text("Same text as the shared run.")
        assert other.locator(f"{STAGE} .sv-ribbon").inner_text() == text
    for other in (opened, own, page):
        checked = other.locator(".sv-weights input:checked").first
        expect(checked).to_have_value(weights)
        expect(other.locator("#sv-explore-link .text")).to_be_empty()


def test_a_link_is_shown_as_a_code_for_a_class(seen):
    page = seen
    page.locator(f"{STAGE} .sv-save summary").click()
    page.locator(f"{STAGE} [data-save=qr]").click()
    code = page.locator("dialog.sv-qr img")
    expect(code).to_be_visible()
    expect(code).to_have_attribute("alt", re.compile(r"^http://.*picture=recorded"))
    page.keyboard.press("Escape")
    expect(code).not_to_be_visible()


def test_a_hostile_link_is_text_and_one_sentence(serve, visit):
    script = "<img src=x onerror=window.hacked=1>${window.hacked=1}"
    query = {"prompt": script, "builder": script, "seed": script, "temperature": "1e99"}
    query |= {"models": "org/x|org/y", "run": "01234567"}
    page = visit(f"{serve(Gated())}?{urlencode(query)}")
    expect(page.get_by_role("textbox", name="Prompt")).to_have_value(script)
    notice = page.locator("#sv-explore-link .text")
    expect(notice).to_contain_text("<img src=x")
    expect(notice).to_contain_text("Model “org/x|org/y” is not offered by this page")
    assert page.locator("#sv-explore-link img").count() == 0
    # With the page's own pair: a link alone loads no other.
    state(page, "done")
    expect(page.locator(f"{STAGE} .sv-state")).to_contain_text("Not the text of the shared run")


def test_the_recorded_run_can_be_saved_in_every_form(seen, tmp_path):
    page = seen
    trace = specviz.Trace.from_json(save(page, "json", tmp_path).read_text("utf-8"))
    assert trace == explore.recordings.opening(weights="memory").trace()
    saved = save(page, "html", tmp_path).read_text("utf-8")
    link = unescape(re.search('<a href="([^"]+)">Open it again', saved)[1])
    assert saved == offline_page(trace, link) and "picture=recorded" in link
    svg, png = save(page, "svg", tmp_path), save(page, "png", tmp_path).read_bytes()
    root = ElementTree.fromstring(svg.read_bytes())
    size = [int.from_bytes(png[at : at + 4], "big") for at in (16, 20)]
    assert png.startswith(b"\x89PNG") and size == [
        2 * float(root.get(side)) for side in ("width", "height")
    ]


def test_a_file_is_opened_and_dragged_in_and_a_bad_one_leaves_the_picture(seen, tmp_path):
    """The last test of the page that some share."""
    page = seen
    run = specviz.run(
        specviz.toy_pair(vocab=12), specviz.RunConfig("abc", max_new_tokens=30, seed=4)
    )
    before = steps(page)
    for name, text, sentence in (
        ("a", "{", "not valid JSON"),
        ("b", '{"runs": []}', "was not opened"),
    ):
        path = tmp_path / f"{name}.json"
        path.write_text(text, encoding="utf-8")
        open_file(page, path)
        expect(page.locator(f"{STAGE} .sv-kept")).to_contain_text(sentence)
        assert steps(page) == before
    drop = """([place, text]) => { const data = new DataTransfer();
      data.items.add(new File([text], 'run.json', { type: 'application/json' }));
      for (const kind of ['dragover', 'drop']) document.querySelector(place).dispatchEvent(
        new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true })); }"""
    page.evaluate(drop, [f"{STAGE} .sv-canvas", run.to_json()])
    expect(page.locator(f"{STAGE} .sv-about-run")).to_contain_text("opened from a file")
    assert steps(page) == len(run.steps)
    expect(page.get_by_role("spinbutton", name="Seed")).to_have_value("4")


def test_an_exported_page_plays_with_the_network_off(browser, tmp_path):
    context = browser.new_context(offline=True)
    page, broken = context.new_page(), []
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.on(
        "request",
        lambda request: (
            request.url.startswith(("file:", "blob:", "data:")) or broken.append(request.url)
        ),
    )
    run = offline(page, tmp_path)
    assert steps(page) == len(run)
    page.locator(".sv-phases label").last.click()
    expect(page.locator(".sv-svg")).to_have_attribute("data-phase", "4")
    counts_add_up(page)
    page.locator(".sv-play").click()
    expect(page.locator(".sv-where")).to_have_text(f"step {len(run)} of {len(run)}", timeout=60_000)
    context.close()
    assert broken == []
