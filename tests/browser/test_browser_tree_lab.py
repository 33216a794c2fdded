"""The Tree lab in headless Chromium: trees at once, typed and loaded vectors, papers' trees, masks, keyboard."""

import json

import pytest
from playwright.sync_api import expect

import specviz
from specviz.acceptance import calibration as vectors
from specviz.acceptance.on_text import Acceptance
from specviz.theory.mask_order import ORDERS, count_blocks
from tests.growing import BUILDERS

PATIENT = 20_000  # milliseconds: what a busy machine may need to grow every tree


pytestmark = pytest.mark.browser
PAGE = ("Explore", "Lab")


def opened(page, width=1400):
    page.get_by_role("tab", name="Lab", exact=True).click()
    expect(page.locator(".sv-lab-card[aria-pressed=true]")).to_have_count(1, timeout=30_000)
    page.set_viewport_size({"width": width, "height": 1000})
    return page


def card(page, name):
    return page.locator(f'.sv-lab-card[data-name="{name}"]')


def says(page, text):
    expect(page.locator("#sv-lab-status .text")).to_contain_text(text, timeout=PATIENT)


def number(page, label, value):
    box = page.get_by_label(f"number input for {label}").locator("visible=true")
    box.fill(str(value))
    box.press("Tab")


def choose(page, menu, option):
    page.locator(menu).locator("input").click()
    page.get_by_role("option", name=option).click()


def sequoia(**parameters):
    return specviz.BUILDERS["sequoia"](**parameters).shape


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_it_opens_with_every_tree_and_no_model(serve, visit, width, scheme):
    def never():
        raise AssertionError("a model was loaded")

    page = opened(visit(f"{serve(load=never)}?__theme={scheme}", color_scheme=scheme), width)
    assert page.locator(".sv-lab-card").count() == len(BUILDERS)
    for name, builder in BUILDERS.items():
        expect(card(page, name)).to_contain_text(builder.title, timeout=PATIENT)
    for name in ("prompt-lookup", "lookahead"):  # they have no tree before they have read a text
        expect(card(page, name)).to_be_disabled()
    says(page, "published in Chen et al., Sequoia")
    assert page.locator(".sv-lab-mask svg title").count() == 3
    expect(page.locator("#sv-figure-blocks .js-plotly-plot .main-svg").first).to_be_visible(timeout=30_000)
    for part in (".sv-lab-tree", ".sv-lab-mask svg", ".sv-lab-card svg"):
        box = page.locator(part).first.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width and box["height"] > 60, part
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_typed_numbers_change_the_trees_and_what_is_wrong_gets_a_sentence(serve, visit):
    page = opened(visit(serve()))
    box = page.locator("#sv-lab-box textarea")
    box.fill("0.5, 0.25")
    says(page, "Custom: typed here; 2 ranks, sum 0.75.")
    expect(card(page, "batch")).to_contain_text("1.75 tokens per target pass", timeout=PATIENT)
    expect(page.locator("#sv-lab-stored input")).to_have_value("Custom", timeout=PATIENT)
    box.fill("0.5, ${window.hacked=1}")
    says(page, 'Number 2 of the acceptance vector must be from 0 to 1; got "${window.hacked=1}".')
    expect(card(page, "batch")).to_contain_text("1.75 tokens per target pass", timeout=PATIENT)
    expect(box).to_have_value("0.5, ${window.hacked=1}", timeout=PATIENT)
    box.fill("0.9, 0.9")
    says(page, "got 1.8")
    box.fill("0.5 0.25")
    says(page, "2 ranks")
    page.locator("#sv-lab-branching textarea, #sv-lab-branching input").fill("3, many")
    says(page, "Children per level must be whole numbers")
    choose(page, "#sv-lab-stored", "Custom")
    expect(box).to_have_value("0.5 0.25", timeout=PATIENT)
    page.locator("#sv-lab-branching textarea, #sv-lab-branching input").fill("3, 1")
    expect(card(page, "branching")).to_contain_text("7 nodes", timeout=PATIENT)
    choose(page, "#sv-lab-stored", "Sequoia, T 0.8, embedded pair")
    says(page, "measured on the embedded pair")
    choose(page, "#sv-lab-stored", "Custom")
    expect(box).to_have_value("0.5 0.25", timeout=PATIENT)
    says(page, "2 ranks")


def test_a_click_shows_a_tree_large_and_its_blocks_are_the_library_s(serve, visit):
    page = opened(visit(serve()))
    shape = sequoia(
        size=64, depth=12, acceptance=specviz.acceptance.vectors.published()["llama3-8b-70b-cnn"]["acceptance"]
    )
    expect(page.locator(".sv-lab-tree")).to_have_attribute("data-nodes", "64", timeout=PATIENT)
    for title, name in zip(page.locator(".sv-lab-mask svg title").all(), list(ORDERS)[1:], strict=True):
        wanted = f"{name} order: {count_blocks(shape, ORDERS[name](shape), 8)} of 36 blocks"
        assert wanted in title.text_content()
    page.get_by_label("rows and columns of a block").select_option("16")
    expect(page.locator(".sv-lab-bound")).to_contain_text("16 × 16 in the lower triangle: 10.", timeout=PATIENT)
    card(page, "k-ary").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".sv-lab-name")).to_have_text("k-ary", timeout=PATIENT)
    expect(card(page, "k-ary")).to_be_focused()
    expect(card(page, "k-ary")).to_have_attribute("aria-pressed", "true", timeout=PATIENT)
    expect(page.locator(".sv-lab-bound")).to_contain_text("16 × 16", timeout=PATIENT)
    card(page, "dyspec").click()
    expect(page.locator(".sv-lab-mask")).to_have_count(4, timeout=PATIENT)
    expect(page.locator(".sv-lab-about")).to_contain_text("synthetic positions", timeout=PATIENT)


def test_keys_walk_the_tree_and_mark_its_row(serve, visit):
    page = opened(visit(serve()))
    tree, described = page.locator(".sv-lab-tree"), page.locator(".sv-lab-node")
    tree.focus()
    page.keyboard.press("ArrowRight")
    expect(described).to_contain_text("The root", timeout=PATIENT)
    page.keyboard.press("ArrowRight")
    expect(described).to_contain_text(
        "Node 1: child 1 of the root, level 1. Accepted with probability 0.77, 0.77 given that the root is."
    )
    page.keyboard.press("ArrowDown")
    expect(described).to_contain_text("Node 2: child 2 of the root", timeout=PATIENT)
    expect(page.locator(".sv-lab-mask .row").first).to_have_attribute("y", "2", timeout=PATIENT)
    page.keyboard.press("ArrowLeft")
    expect(described).to_contain_text("The root", timeout=PATIENT)
    before = page.locator(".sv-lab-tree .spot").nth(1).get_attribute("transform")
    page.keyboard.press("+")
    assert page.locator(".sv-lab-tree .spot").nth(1).get_attribute("transform") != before
    page.keyboard.press("0")
    assert page.locator(".sv-lab-tree .spot").nth(1).get_attribute("transform") == before
    page.keyboard.press("Escape")
    expect(described).to_contain_text("Click a node", timeout=PATIENT)
    page.locator('.sv-lab-tree .spot[data-node="3"]').click()
    expect(described).to_contain_text("Node 3: child 3 of the root", timeout=PATIENT)
    page.locator(".sv-lab-mask svg").first.hover(position={"x": 10, "y": 10})
    expect(page.locator(".sv-lab-pair")).to_contain_text("their block holds", timeout=PATIENT)


def test_papers_trees_and_large_ones(serve, visit):
    page = opened(visit(serve()))
    choose(page, "#sv-lab-preset", "Sequoia figure 5")
    expect(page.locator(".sv-lab-card")).to_have_count(6, timeout=PATIENT)
    expect(page.locator(".sv-lab-where")).to_contain_text("appendix E, figure 5", timeout=PATIENT)
    expect(card(page, "figure-5-64")).to_contain_text("64 nodes, 16 levels", timeout=PATIENT)
    choose(page, "#sv-lab-preset", "DySpec table 5")
    card(page, "random-1024").click()
    expect(page.locator(".sv-lab-tree")).to_have_attribute("data-nodes", "1024", timeout=PATIENT)
    expect(page.locator(".sv-lab-mask")).to_have_count(4, timeout=PATIENT)
    choose(page, "#sv-lab-preset", "Every builder")
    number(page, "Tree size (nodes)", 768)
    expect(card(page, "sequoia")).to_contain_text("768 nodes", timeout=PATIENT)
    expect(page.locator(".sv-lab-bound")).to_contain_text("32 × 32 in the lower triangle: 300.", timeout=PATIENT)


def test_vectors_are_loaded_and_trees_are_saved(serve, visit, tmp_path):
    page = opened(visit(serve()))
    low, high = (0.3, 0.1), (0.7, 0.4)
    brought = Acceptance((0.5, 0.25), low, high, 100, "counted", "sequoia", "distinct", 0.8, None)
    good, bad = tmp_path / "vectors.json", tmp_path / "bad.json"
    good.write_text(vectors.to_text((brought, brought)), encoding="utf-8")
    bad.write_text(good.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    with page.expect_file_chooser() as picked:
        page.locator("#sv-lab-load").click()
    picked.value.set_files(bad)
    says(page, "The file is not JSON")
    with page.expect_file_chooser() as picked:
        page.locator("#sv-lab-load").click()
    picked.value.set_files(good)
    says(page, "Sequoia, T 0.8, loaded: from a file, counted over 100 positions; 2 ranks, sum 0.75.")
    expect(page.locator("#sv-lab-box textarea")).to_have_value("0.5, 0.25", timeout=PATIENT)
    choose(page, "#sv-lab-stored", "Sequoia, T 0.8, loaded again")
    says(page, "loaded again")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV of: Comparison of trees").click()
    lines = download.value.path().read_text().splitlines()
    assert lines[0].startswith("name,title,kind") and len(lines) == 1 + sum(
        cls.reads_draft for cls in BUILDERS.values()
    )
    with page.expect_download() as download:
        page.get_by_role("button", name="Download JSON of: Comparison of trees").click()
    trees = {tree["name"]: tree for tree in json.loads(download.value.path().read_text())}
    assert trees["sequoia"]["parents"] == list(sequoia(size=64, depth=12, acceptance=(0.5, 0.25)).parents)
