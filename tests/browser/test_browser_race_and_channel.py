"""The race and the channel in headless Chromium: drag, run, step and play, by mouse and keys, and on a phone."""

import json

import pytest
from playwright.sync_api import expect

from app.tabs.labs.channel_lab import transcript
from tests.browser.test_browser_verification_lab import bar, value

pytestmark = pytest.mark.browser
PAGE, LINK, READY = ("Explore", "Lab"), "?lab=race", ".sv-r[aria-busy=false]"
DATA = json.loads(transcript())


def never():
    raise AssertionError("a model was loaded")


@pytest.fixture
def channel(serve, visit):
    """A function that opens the channel by its link."""
    url = serve(load=never)
    return lambda **more: visit(f"{url}?lab=sender", ready=".sv-c[aria-busy=false]", **more)


def settled(page):
    expect(page.locator(".sv-r")).to_have_attribute("aria-busy", "false")


def test_q_is_dragged_until_the_winners_differ_and_the_race_is_run(seen):
    verdict, won = seen.locator(".sv-r-verdict"), seen.locator(".sv-r-lane.won")
    expect(verdict).to_contain_text("“mat” wins both races")
    box = bar(seen, "q", "mat").bounding_box()
    seen.mouse.move(box["x"] + 0.33 * box["width"], box["y"] + 5)
    seen.mouse.down()
    seen.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 5)
    seen.mouse.up()
    expect(verdict).to_contain_text("“floor” wins the draft’s race, “mat” the target’s")
    settled(seen)
    expect(won).to_have_count(2)
    seen.locator(".sv-r-time").fill("0")
    expect(won).to_have_count(0)
    seen.locator(".sv-r [data-do=play]").click()
    expect(seen.locator(".sv-r [data-do=play]")).to_contain_text("Pause")
    expect(won).to_have_count(2)
    expect(seen.locator(".sv-r [data-do=play]")).to_contain_text("Run")


def test_the_race_by_keys_and_a_wrong_seed(seen):
    seen.locator(".sv-v-presets button").nth(1).click()
    settled(seen)
    bar(seen, "q", "floor").focus()
    seen.keyboard.press("PageDown")
    assert value(seen, "q", "floor") == pytest.approx(0.32, abs=1e-6)
    seen.locator(".sv-r [data-do=play]").focus()
    seen.keyboard.press("d")
    expect(seen.locator(".sv-v-seed")).to_have_value("488")
    settled(seen)
    seen.locator(".sv-v-seed").fill("-1")
    seen.locator(".sv-v-seed").press("Enter")
    expect(seen.locator(".sv-r-verdict")).to_contain_text("seed must be a whole number")
    seen.locator(".sv-v-presets button").first.click()
    expect(seen.locator(".sv-r-verdict")).to_contain_text("wins both races")


def test_reduced_motion_shows_the_end_at_once(channel):
    page = channel(reduced_motion="reduce")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".sv-c")).to_have_attribute("data-phase", "received", timeout=200)
    page.get_by_role("tab", name="Race").click()
    page.locator(".sv-r[aria-busy=false]").wait_for()
    page.locator(".sv-r-time").fill("0")
    page.locator(".sv-r [data-do=play]").click()
    expect(page.locator(".sv-r-lane.won")).to_have_count(2, timeout=500)


def test_the_channel_is_stepped_to_its_end_and_another_seed_has_another_text(channel):
    page = channel()
    words = DATA["codes"][1]["words"]
    expect(page.locator(".sv-c-where")).to_have_text(f"step 1 of {len(words)}")
    page.locator(".sv-c [data-do=next]").click()
    expect(page.locator(".sv-c")).to_have_attribute("data-phase", "received")
    expect(page.locator(".sv-c-word")).to_contain_text(words[1]["leaf"])
    expect(page.locator(".sv-c-receiver .sv-v-track")).to_have_count(words[1]["end"] - words[0]["end"])
    page.keyboard.press("End")
    whole = "".join(DATA["sender"]["pieces"]).replace("\n", "↵")
    for side in ("sender", "receiver"):
        expect(page.locator(f".sv-c-{side} .sv-c-text")).to_have_text(DATA["prompt"] + whole)
    expect(page.locator(".sv-c-verdict")).to_contain_text(f"the same {len(DATA['indices'])} tokens")
    last = words[-1]
    expect(page.locator(".sv-c-bits dt").nth(2)).to_have_text(
        f"sent so far: {last['sent']} bits for {last['end']} tokens"
    )
    page.locator(".sv-c-seed").select_option("1")
    expect(page.locator(".sv-c-verdict")).to_contain_text("differs from token")
    page.locator(".sv-c-code").select_option("0")
    expect(page.locator(".sv-c-where")).to_have_text(
        f"step {len(DATA['codes'][0]['words'])} of {len(DATA['codes'][0]['words'])}"
    )


def test_the_channel_plays_and_pauses_on_a_phone_within_its_width(channel):
    page = channel(width=390, height=844)
    page.locator(".sv-c [data-do=play]").click()
    expect(page.locator(".sv-c-where")).to_contain_text("step 2 of")
    page.locator(".sv-c [data-do=play]").click()
    expect(page.locator(".sv-c [data-do=play]")).to_contain_text("Play")
    right = "nodes => Math.max(...nodes.map(node => node.getBoundingClientRect().right))"
    assert page.locator(".sv-c *").evaluate_all(right) <= 391
