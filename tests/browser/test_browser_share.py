"""Links, saving and opening in headless Chromium, and the page that plays offline."""

import json
from itertools import islice
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from pages import Gated, choose, state, steps, to_step
from playwright.sync_api import expect

import specviz
from specviz.decode import collect, speculate
from specviz.player.offline import offline_page
from tests.browser.test_browser_runs import HOSTILE

pytestmark = pytest.mark.browser
PAGE = ("Explore",)
STAGE = "#sv-stage"


def never():
    raise AssertionError("a model was loaded")


def controls(page):
    """The visible controls."""
    return page.locator(":is(.sv-ask, .sv-opts, #sv-settings)").locator("input:visible, textarea:visible")


def held(page):
    """What the visible controls hold."""
    return controls(page).evaluate_all("all => all.map(one => one.type === 'checkbox' ? one.checked : one.value)")


def save(page, kind, folder):
    """Choose an entry of the menu; the file that it saves."""
    page.locator(f"{STAGE} .sv-save summary").click()
    with page.expect_download() as download:
        page.locator(f"{STAGE} [data-save={kind}]").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def offer(page, path):
    page.locator(f"{STAGE} .sv-open-file").set_input_files(str(path))


# ---- links ----


def test_a_link_fills_in_the_controls_and_waits_for_run(serve, visit):
    query = {
        "prompt": "Hello\n<b>you</b>", "temperature": "0.45", "seed": "7", "top_k": "30",
        "builder": "k-ary:width=3", "verifier": "specinfer",
    }  # fmt: skip
    page = visit(f"{serve(load=never)}?{urlencode(query)}")
    expect(page.locator("#sv-link")).to_contain_text("Opened from a link. Press Run to start.")
    expect(page.get_by_role("textbox", name="Prompt")).to_have_value("Hello\n<b>you</b>")
    expect(page.get_by_label("Tree builder", exact=True)).to_have_value("k-ary")
    expect(page.get_by_label("number input for Branching", exact=True)).to_have_value("3")
    expect(page.get_by_label("number input for Tree size (nodes)")).to_be_hidden()
    expect(page.get_by_label("number input for Temperature")).to_have_value("0.45")
    expect(page.get_by_label("Seed")).to_have_value("7")
    expect(page.locator("#sv-notice")).to_contain_text("SpecInfer")
    expect(page.locator(f"{STAGE} .sv-recorded")).to_be_visible()


def test_a_page_without_a_link_asks_the_server_for_nothing(serve, visit):
    asked, url = [], serve(load=never)
    page = visit(url, fresh=True)
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    page.reload()
    page.locator(f"{STAGE} .sv-svg .node").first.wait_for()
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#sv-link")).to_contain_text("in the address bar")
    assert len(asked) == 1, "this one"


def test_a_copied_link_brings_everything_back(serve, visit):
    url = serve(load=never)
    page = visit(url, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("textbox", name="Prompt").fill('a & b = "c"; 100 % # ü\n🌳')
    choose(page, "Tree builder", "DySpec")
    page.get_by_label("number input for Tree size (nodes)", exact=True).fill("48")
    page.get_by_label("Seed").fill("12")
    page.get_by_label("Seed").press("Tab")
    to_step(page, 4)
    page.locator(f"{STAGE} .sv-svg .node.a").first.click()
    token = page.locator(f"{STAGE} .sv-token").inner_text()
    expect(page.locator("#sv-notice")).not_to_be_empty()
    before = held(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#sv-link")).to_contain_text("Link copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url and link.startswith(url)
    page = visit(link)
    expect(page.locator("#sv-link")).to_contain_text("Opened from a link.")
    expect(page.get_by_label("Seed")).to_have_value("12")
    expect(controls(page)).to_have_count(len(before))  # the builder's own controls follow, one after the other
    assert held(page) == before
    expect(page.locator(f"{STAGE} .sv-svg")).to_have_attribute("data-step", "4")
    expect(page.locator(f"{STAGE} .sv-token")).to_have_text(token)


def test_a_hostile_link_is_text_and_one_sentence(serve, visit):
    script = "<img src=x onerror=window.hacked=1>${window.hacked=1}"
    query = {"prompt": script, "builder": script, script: script, "seed": script, "temperature": "1e99"}
    page = visit(f"{serve(load=never)}?{urlencode(query)}&{'a=1&' * 50}")
    expect(page.get_by_role("textbox", name="Prompt")).to_have_value(script)
    notice = page.locator("#sv-link .text")
    for part in (
        "from 0 to 2; “1e99” was set to 2",
        "Seed must be a number",
        "Tree builder “<img src=x",
        "2 more changes.",
    ):
        expect(notice).to_contain_text(part)
    assert page.locator("#sv-link img").count() == 0


def test_a_flood_of_parameters_is_rejected_in_a_sentence(serve, visit):
    page = visit(f"{serve(load=never)}?{'seed=1&' * 300}")
    expect(page.locator("#sv-link")).to_contain_text("The link was not opened: it has more than 200 parameters.")
    expect(page.get_by_label("Seed")).to_have_value("2")


def test_a_link_to_a_step_of_a_run_stops_there(serve, visit):
    page = visit(f"{serve()}?seed=5&step=3&node=last")
    expect(page.locator("#sv-link")).to_contain_text("Press Run")
    page.locator("#sv-run").click()
    state(page, "done")
    assert steps(page) > 3
    expect(page.locator(f"{STAGE} .sv-svg")).to_have_attribute("data-step", "2")
    expect(page.locator(f"{STAGE} .sv-outcome")).to_have_text(
        "bonus" if page.locator(".sv-svg .node.bonus").count() else "correction"
    )
    expect(page.locator("#sv-link .text")).to_have_text("")


def test_a_place_out_of_range_is_brought_into_it(serve, visit):
    url = f"{serve(load=never)}?picture=recorded"
    page = visit(f"{url}&step=4")
    svg, last = page.locator(f"{STAGE} .sv-svg"), steps(page) - 1
    expect(svg).to_have_attribute("data-step", "3")
    for asked, step in [("step=999&node=777", last), ("step=-5", 0), ("step=2&node=%3Cb%3E", 1)]:
        page.goto(f"{url}&{asked}")
        expect(svg).to_have_attribute("data-step", str(step))
        assert page.locator(f"{STAGE} .node.selected").count() == 0


# ---- saving ----


def test_the_recorded_run_can_be_saved_in_every_form(serve, visit, tmp_path):
    page = visit(serve(load=never))
    trace = specviz.Trace.from_json(save(page, "json", tmp_path).read_text("utf-8"))
    assert len(trace.steps) == steps(page)
    html = save(page, "html", tmp_path)
    assert html.name == "specviz-run.html" and html.read_text("utf-8") == offline_page(trace)
    index = int(page.locator(f"{STAGE} .sv-svg").get_attribute("data-step"))
    svg = save(page, "svg", tmp_path)
    assert svg.name == f"specviz-step-{index + 1}.svg"
    png = save(page, "png", tmp_path).read_bytes()
    root = ElementTree.fromstring(svg.read_bytes())
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    size = [int.from_bytes(png[at : at + 4], "big") for at in (16, 20)]
    assert size == [2 * float(root.get(side)) for side in ("width", "height")]


def test_a_saved_picture_needs_nothing_but_itself(serve, visit, tmp_path, chromium):
    page = visit(serve(Gated(pieces=HOSTILE)))
    page.locator("#sv-run").click()
    state(page, "done")
    page.locator(".sv-svg").focus()
    page.keyboard.press("e")
    svg = save(page, "svg", tmp_path)
    root = ElementTree.fromstring(svg.read_bytes())
    names = {node.tag.partition("}")[2] for node in root.iter()}
    assert names <= {"svg", "title", "g", "path", "rect", "text"}
    assert not {
        name
        for node in root.iter()
        for name in node.attrib
        if name.startswith("on") or "href" in name or name in ("class", "style")
    }
    shown = page.locator(f"{STAGE} .sv-svg .node text").all_inner_texts()
    drawn = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert set(filter(None, shown)) <= set(drawn)
    assert root.find("{*}rect").get("fill") == "rgb(255, 255, 255)"
    context = chromium.new_context(offline=True)
    viewer = context.new_page()
    viewer.goto(svg.as_uri())
    assert viewer.evaluate("document.documentElement.localName") == "svg"
    outside = """[...document.querySelectorAll('text')].filter(text => {
      const box = text.getBoundingClientRect(), page = document.documentElement.getBoundingClientRect();
      return box.left < page.left || box.right > page.right || box.top < page.top || box.bottom > page.bottom;
    }).map(text => text.textContent)"""
    assert viewer.evaluate(outside) == []
    context.close()


def test_what_a_stopped_run_had_decoded_can_be_saved(serve, visit, step_by_step, tmp_path):
    pair = Gated(permits=3)
    page = visit(serve(pair))
    page.locator("#sv-run").click()
    expect(page.locator(f"{STAGE} .sv-where")).to_have_text("step 3 of 3")
    assert len(specviz.Trace.from_json(save(page, "json", tmp_path).read_text("utf-8")).steps) == 3
    page.locator("#sv-stop").click()
    state(page, "stopped")
    pair.gate.release()  # the pass that was under way
    trace = specviz.Trace.from_json(save(page, "json", tmp_path).read_text("utf-8"))
    shown = page.locator(f"{STAGE} .sv-ribbon").evaluate("box => box.textContent")
    assert trace.stop == "stopped" and (trace.prompt_text + trace.text).startswith(
        shown
    )  # a pass may have been under way
    assert 3 <= len(trace.steps) <= 4
    pair.gate.release(10**6)


def test_what_a_failed_run_had_decoded_can_be_saved(serve, visit, tmp_path, caplog):
    page = visit(serve(Gated(fail_at=4)))
    page.locator("#sv-run").click()
    state(page, "error")
    trace = specviz.Trace.from_json(save(page, "json", tmp_path).read_text("utf-8"))
    assert len(trace.steps) == 3 == steps(page)


def test_the_menu_works_from_the_keyboard(serve, visit):
    page = visit(serve(load=never), fresh=True)
    page.on("filechooser", lambda chooser: None)  # heard early: a key may overtake the wish to hear of a chooser
    menu = page.locator(f"{STAGE} .sv-save")
    menu.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(menu.locator("[data-save=json]")).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu.locator("[data-save=json]")).to_be_hidden()
    expect(menu.locator("summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(menu.locator("[data-save=json]")).to_be_visible()
    page.keyboard.press("Tab")
    expect(menu.locator("[data-save=json]")).to_be_focused()
    with page.expect_download(timeout=30_000) as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "specviz-run.json"
    expect(menu.locator("summary")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(f"{STAGE} .sv-open")).to_be_focused()
    with page.expect_file_chooser():
        page.keyboard.press("Enter")


# ---- opening ----


@pytest.fixture
def hostile_trace():
    """A run of toy models whose every text is hostile."""
    trace = specviz.run(Gated(pieces=HOSTILE), specviz.RunConfig(prompt="abc", max_new_tokens=30))
    data = json.loads(trace.to_json())
    data["prompt_text"] = data["pair"]["name"] = "".join(HOSTILE)
    return data


def test_a_file_is_opened_and_played_like_a_recorded_run(serve, visit, tmp_path, hostile_trace):
    page = visit(serve(load=never))
    path = tmp_path / "run.json"
    path.write_text(json.dumps(hostile_trace), encoding="utf-8")
    offer(page, path)
    expect(page.locator(f"{STAGE} .sv-recorded")).to_have_text("opened from a file")
    assert steps(page) == len(hostile_trace["steps"])
    for index in range(steps(page)):
        to_step(page, index)
    ribbon = page.locator(f"{STAGE} .sv-ribbon").evaluate("box => box.textContent")
    assert ribbon == hostile_trace["prompt_text"] + hostile_trace["text"]
    assert page.locator(f"{STAGE} :is(img, script)").count() == 0
    again = specviz.Trace.from_json(save(page, "json", tmp_path).read_text("utf-8"))
    assert again.text == hostile_trace["text"]


def test_a_file_can_be_dragged_in(serve, visit, hostile_trace):
    page = visit(serve(load=never))
    held = page.evaluate_handle(
        "text => { const held = new DataTransfer(); held.items.add(new File([text], 'run.json')); return held; }",
        json.dumps(hostile_trace),
    )
    page.dispatch_event("body", "dragover", {"dataTransfer": held})
    expect(page.locator(".dropping .sv-canvas")).to_be_visible()
    page.dispatch_event("body", "drop", {"dataTransfer": held})
    expect(page.locator(f"{STAGE} .sv-recorded")).to_have_text("opened from a file")
    expect(page.locator(".dropping")).to_have_count(0)


def test_a_bad_file_gets_a_sentence_and_the_picture_stays(serve, visit, tmp_path):
    page = visit(serve(load=never), fresh=True)
    before = page.locator(f"{STAGE} .sv-ribbon").inner_text()
    notice, path = page.locator(f"{STAGE} .sv-kept"), tmp_path / "run.json"
    sent = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    for content, part in [
        (b'{"schema": 1', "This file was not opened. Trace is not valid JSON"),
        (b"\xff\xfe\x00<img src=x onerror=window.hacked=1>", "not valid JSON"),
        (b'{"schema": "<img src=x onerror=window.hacked=1>"}', "Trace has schema '<img src=x onerror="),
    ]:
        path.write_bytes(content)
        offer(page, path)
        expect(notice).to_contain_text(part)
    assert len(sent) == 3
    path.write_bytes(b" " * 10_000_000)
    offer(page, path)
    expect(notice).to_contain_text("This file has 10.0 MB; the limit is 4 MB.")
    assert len(sent) == 3, "a large file is not even sent"
    expect(page.locator(f"{STAGE} .sv-recorded")).to_have_text("recorded run")
    assert page.locator(f"{STAGE} .sv-ribbon").inner_text() == before
    assert page.locator(f"{STAGE} img").count() == 0


def test_a_run_under_way_is_not_replaced(serve, visit, step_by_step, tmp_path, hostile_trace):
    pair = Gated(permits=2)
    page = visit(serve(pair))
    page.locator("#sv-run").click()
    expect(page.locator(f"{STAGE} .sv-where")).to_have_text("step 2 of 2")
    path = tmp_path / "run.json"
    path.write_text(json.dumps(hostile_trace), encoding="utf-8")
    offer(page, path)
    expect(page.locator(f"{STAGE} .sv-kept")).to_contain_text("A run is in progress.")
    pair.gate.release(10**6)
    state(page, "done")
    offer(page, path)
    expect(page.locator(f"{STAGE} .sv-recorded")).to_have_text("opened from a file")
    page.locator("#sv-run").click()
    state(page, "done")


# ---- the page that plays offline ----


def test_a_run_of_64_steps_plays_with_the_network_off(chromium, tmp_path):
    pair = specviz.toy_pair(vocab=40)
    config = specviz.RunConfig("abc", specviz.BUILDERS["sequoia"](size=33), temperature=0.7, max_new_tokens=500)
    trace = collect(pair, config, islice(speculate(pair, config), 64))
    path = tmp_path / "run.html"
    path.write_text(offline_page(trace), encoding="utf-8")
    assert len(trace.steps) == 64 and {len(step.parents) for step in trace.steps} == {33}
    assert path.stat().st_size < 1_000_000

    context = chromium.new_context(viewport={"width": 1400, "height": 1000}, offline=True)
    page, asked, said = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    page.locator(".sv-svg .node").first.wait_for()
    assert page.locator(".sv-ribbon").evaluate("box => box.textContent") == "abc" + trace.text
    assert steps(page) == 64
    to_step(page, 0)
    page.locator(".sv-speed").select_option("15")
    page.locator(".sv-play").click()
    expect(page.locator(".sv-where")).to_have_text("step 64 of 64", timeout=30_000)
    expect(page.locator(".sv-play")).to_have_attribute("aria-label", "play")
    to_step(page, 31)
    page.keyboard.press("e")
    expect(page.locator(".sv-svg .pill")).to_have_count(0)
    assert page.locator(".sv-svg .node:not(.bonus, .correction)").count() == 33
    page.locator(".sv-ribbon [data-step='40']").last.click()
    expect(page.locator(".sv-svg")).to_have_attribute("data-step", "40")
    page.locator(".sv-save summary").click()
    expect(page.locator("[data-save=json]")).to_be_hidden()
    for kind in ("svg", "png"):
        with page.expect_download() as download:
            page.locator(f"[data-save={kind}]").click()
        assert download.value.suggested_filename == f"specviz-step-41.{kind}"
        page.locator(".sv-save summary").click()
    assert asked == [path.as_uri()] or all(url.startswith(("file:", "blob:", "data:")) for url in asked)
    assert said == []
    context.close()
