"""The lessons in headless Chromium: links, answers, recordings, presenting, keyboard, phone. No model is loaded."""

import json
import re

import pytest
from playwright.sync_api import expect

from app.tabs import lessons

pytestmark = pytest.mark.browser
PAGE, LINK, READY = ("Explore", "Learn"), "?lesson=1", "#sv-lessons .sv-svg .node"
OVERFLOWING = """() => [...document.querySelectorAll('.sv-lessons *')]
  .filter(node => node.offsetParent && !node.closest('svg') && !node.matches('.sv-live')
    && (node.getBoundingClientRect().right > innerWidth + 1 || node.getBoundingClientRect().left < -1))
  .map(node => node.className)"""


def never():
    raise AssertionError("a model was loaded")


@pytest.fixture
def lecture(serve, visit):
    """A function that opens the page by a lesson's link; the page and its address without parameters."""
    url = serve(load=never)
    return lambda link, **more: (visit(f"{url}{link}", ready="#sv-lessons .sv-lessons[aria-busy=false]", **more), url)


@pytest.fixture
def turned(seen):
    """A function that turns to a lesson by the list; the page that the tests share."""

    def turn_to(number):
        seen.bring_to_front()
        seen.locator(".sv-lessons-list button").nth(number).click()
        return seen

    return turn_to


def data_of(number):
    return json.loads(lessons.lesson(number))


def opened(page, number):
    """Wait until a lesson and its picture are there; the lesson's own data."""
    lesson, look = data_of(number), data_of(number)["opens"]
    expect(page.locator(".sv-lessons h2")).to_have_text(f"{number}. {lesson['title']}", timeout=30_000)
    if lesson["view"]:
        expect(page.locator(".sv-view")).to_have_attribute("data-step", str(look["step"]))
        return lesson
    step = lesson["runs"][look["recording"]]["message"]["steps"][look["step"]]
    svg = page.locator("#sv-lessons .sv-svg")
    expect(svg).to_have_attribute("data-step", str(look["step"]))
    expect(svg).to_have_attribute("data-nodes", str(len(step["parents"])))
    expect(svg.locator(".node").first).to_be_visible()
    return lesson


def test_each_lesson_opens_with_its_tree_and_has_a_link(lecture):
    page, _ = lecture("?lesson=10")
    for number in (10, *(n for n in range(len(lessons.LESSONS)) if n != 10)):
        if number != 10:
            page.locator(".sv-lessons-list button").nth(number).click()
        lesson = opened(page, number)
        for text in lesson["text"]:
            expect(page.locator(".sv-lesson-body")).to_contain_text(text.replace("**", ""))
        expect(page.locator(".sv-lesson-try p")).to_have_text(lesson["task"])
        expect(page.locator(".sv-lessons-list [aria-current]")).to_have_accessible_name(
            re.compile(re.escape(lesson["title"]))
        )
        expect(page.locator(".sv-lesson-question details div")).to_be_hidden()
        if lesson["opens"]["node"] and not lesson["view"]:
            expect(page.locator("#sv-lessons .node.selected")).to_have_count(1)
        assert page.url.endswith(f"?lesson={number}")


@pytest.mark.parametrize(("link", "number"), [("99", len(lessons.LESSONS) - 1), ("%3Cscript%3E", 1), ("5%20", 5)])
def test_any_link_opens_a_lesson(lecture, link, number):
    page, _ = lecture(f"?lesson={link}")
    opened(page, number)
    assert page.url.endswith(f"?lesson={number}")


def test_the_question_reveals_its_answer_and_show_me_leads_there(turned):
    page = turned(3)
    lesson = opened(page, 3)
    answer = page.locator(".sv-lesson-question details div")
    page.get_by_text("Show the answer").click()
    expect(answer).to_be_visible()
    expect(answer).to_contain_text(lesson["answer"][0])
    page.keyboard.press("a")
    expect(answer).to_be_hidden()
    page.get_by_role("button", name="Show me").click()
    expect(page.locator("#sv-lessons .sv-svg")).to_have_attribute("data-step", str(lesson["shows"]["step"]))
    expect(page.locator("#sv-lessons .sv-outcome")).to_have_text("accepted")
    page.get_by_role("button", name="next lesson").click()
    opened(page, 4)
    expect(answer).to_be_hidden()


def test_show_me_unfolds_what_was_never_reached(turned):
    page = turned(2)
    opened(page, 2)
    page.get_by_role("button", name="Show me").click()
    expect(page.locator("#sv-lessons .sv-outcome")).to_have_text("not visited")
    expect(page.locator("#sv-lessons .node.selected")).to_be_visible()
    page.get_by_role("button", name="next lesson").click()
    opened(page, 3)
    expect(page.locator("#sv-lessons .sv-expand")).to_have_attribute("aria-pressed", "false")


def test_the_recordings_of_a_lesson_can_be_switched(turned):
    page = turned(7)
    lesson = opened(page, 7)
    texts = set()
    for run in lesson["runs"]:
        button = page.get_by_role("button", name=run["label"], exact=True)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#sv-lessons .sv-where")).to_contain_text(f"of {len(run['message']['steps'])}")
        texts.add(page.locator("#sv-lessons .sv-ribbon").inner_text())
        expect(page.locator(".sv-lesson-runs [aria-pressed=true]")).to_have_count(1)
    assert len(texts) == 1, "same seed, same text"


def test_a_lesson_is_presented_by_keyboard_alone(lecture):
    page, _ = lecture("?lesson=2", width=1280, height=720)
    opened(page, 2)
    html, svg = page.locator("html"), page.locator("#sv-lessons .sv-svg")
    page.keyboard.press("f")
    expect(html).not_to_have_class(re.compile("sv-present"))  # letters ask for the focus
    page.locator(".sv-lessons h2").focus()
    page.keyboard.press("f")
    expect(html).to_have_class(re.compile("sv-present"))
    expect(page.locator("footer")).to_be_hidden()
    page.keyboard.press("PageDown")
    opened(page, 3)
    page.keyboard.press("PageDown")
    lesson = opened(page, 4)
    page.keyboard.press("a")
    expect(page.locator(".sv-lesson-question details div")).to_be_in_viewport(ratio=0.95)
    step = lesson["opens"]["step"]
    page.keyboard.press("ArrowLeft" if step else "ArrowRight")  # it may open on the last one
    expect(svg).to_have_attribute("data-step", str(step - 1 if step else 1))
    page.keyboard.press("PageDown")
    opened(page, 5)
    page.keyboard.press("Escape")
    expect(html).not_to_have_class(re.compile("sv-present"))
    assert page.evaluate("document.fullscreenElement") is None
    assert page.url.endswith("?lesson=5")
    page.keyboard.press("PageUp")  # then the page scrolls again
    opened(page, 5)


def test_on_a_phone_the_next_lesson_begins_with_its_text(lecture):
    page, _ = lecture("?lesson=1", width=390, height=844)
    opened(page, 1)
    page.get_by_role("button", name="next lesson").click()
    opened(page, 2)
    expect(page.locator(".sv-lessons h2")).to_be_in_viewport()
    expect(page.locator(".sv-lesson-body p").first).to_be_in_viewport()


def test_the_list_of_lessons_by_keyboard(turned):
    page = turned(1)
    opened(page, 1)
    page.locator(".sv-lessons-list button").nth(1).focus()
    page.keyboard.press("ArrowRight")
    opened(page, 2)
    expect(page.locator(".sv-lessons-list button").nth(2)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    opened(page, 3)
    assert page.locator(".sv-lessons-count").inner_text() == f"Lesson 3 of {len(lessons.LESSONS) - 1}"


def test_the_address_is_the_lesson_s_only_while_it_is_shown(turned):
    page = turned(6)
    opened(page, 6)
    page.get_by_role("tab", name="Explore").click()
    expect(page.locator("#sv-stage .sv-svg")).to_be_visible()
    page.wait_for_url(lambda address: "lesson" not in address)
    page.get_by_role("tab", name="Learn", exact=True).click()
    page.wait_for_url(lambda address: address.endswith("lesson=6"))
    assert page.locator(".sv-lessons-link").get_attribute("href").endswith("?lesson=6")


def test_a_lesson_that_does_not_arrive_gets_a_sentence(lecture):
    page, _ = lecture("?lesson=1", fresh=True)
    opened(page, 1)
    page.route("**/component_server**", lambda route: route.abort())
    page.get_by_role("button", name="next lesson").click()
    expect(page.locator(".sv-lesson-body")).to_contain_text("could not be loaded")
    page.unroute("**/component_server**")
    page.locator(".sv-lessons-list button").nth(2).click()
    opened(page, 2)


@pytest.mark.parametrize(
    ("width", "height", "scheme"), [(1400, 900, "light"), (390, 844, "dark"), (1024, 768, "light")]
)
def test_every_width_and_scheme_fits(lecture, width, height, scheme):
    page, _ = lecture(f"?lesson=8&__theme={scheme}", width=width, height=height, color_scheme=scheme)
    for number in (8, 4, 9):
        page.locator(".sv-lessons-list button").nth(number).click()
        opened(page, number)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OVERFLOWING) == []
        page.keyboard.press("f")
        assert page.evaluate(OVERFLOWING) == []
        page.keyboard.press("Escape")


def test_a_lesson_s_link_leads_to_the_step_on_the_screen(lecture):
    page, _ = lecture("?lesson=6&recording=1&step=3&node=1")
    lesson = page.locator("#sv-lessons")
    expect(lesson.locator(".sv-where")).to_contain_text("step 3 of")
    expect(lesson.locator(".sv-lesson-runs button").nth(1)).to_have_attribute("aria-pressed", "true")
    lesson.locator(".sv-forward").click()
    lesson.locator(".sv-lessons-link").hover()
    expect(lesson.locator(".sv-lessons-link")).to_have_attribute("href", re.compile(r"\?lesson=6&recording=1&step=4$"))


@pytest.mark.parametrize("module", [lessons.pipeline, lessons.top_k, lessons.mistakes, lessons.machines])
def test_a_view_goes_by_keys_slider_and_buttons(turned, module):
    number = lessons.LESSONS.index(module)
    page = turned(number)
    lesson = opened(page, number)
    view, (where, said) = page.locator(".sv-view"), lesson["runs"][0]["steps"][2]
    expect(page.locator("#sv-lessons .sv-svg")).to_be_hidden()
    page.locator(".sv-view-step").fill("1")
    page.locator(".sv-lessons h2").focus()
    page.keyboard.press("ArrowRight")
    expect(view).to_have_attribute("data-step", "2")
    expect(page.locator(".sv-view-at")).to_have_text(where)
    expect(page.locator(".sv-view-said")).to_contain_text(said)
    page.locator(".sv-lesson-runs button").nth(1).click()
    expect(view).to_have_attribute("data-step", "2")
    assert page.locator(".sv-view-picture > *").count() > 0
    page.get_by_role("button", name="Show me").click()
    expect(view).to_have_attribute("data-step", str(lesson["shows"]["step"]))
