"""The lessons in headless Chromium: links, pictures, presenting by keyboard, a phone. No model is
loaded."""

import json

import pytest
from playwright.sync_api import expect

from app.tabs import lessons
from tests.pages import crowded, present, resize

pytestmark = pytest.mark.browser
PAGE = ("Explore", "Lessons")
LINK = "?lesson=one-pass"
READY = "#sv-lessons .sv-lessons[aria-busy=false]"
NAMES = list(lessons.LESSONS)
TREE = "const svg = document.querySelector('#sv-lessons .sv-svg');"
CLIPPED = f"""() => {{ {TREE} const box = svg.parentElement.getBoundingClientRect();
  const marks = [...svg.querySelectorAll('.node')].map(node => node.getBoundingClientRect());
  return marks.filter(at => at.right > box.right + 1 || at.bottom > box.bottom + 1
    || at.left < box.left - 1 || at.top < box.top - 1).length; }}"""
SMALLEST = f"""() => {{ {TREE} const texts = [...svg.querySelectorAll('.node > text')];
  const sizes = texts.map(text => parseFloat(getComputedStyle(text).fontSize));
  return Math.min(...sizes) * svg.getScreenCTM().a; }}"""


@pytest.fixture
def book(serve, visit):
    """A function that opens the lessons by a link."""
    url = serve()
    return lambda link, **more: visit(f"{url}?{link}", ready=READY, **more)


def opened(page, name):
    """Wait until a lesson and its picture are there; the lesson's own data."""
    lesson = json.loads(lessons.open_lesson(name))
    expect(page.locator(".sv-lessons h2")).to_have_text(lesson["title"], timeout=30_000)
    if "message" in lesson["pictures"][lesson["opens"]["picture"]]:
        step = str(lesson["opens"]["step"])
        expect(page.locator("#sv-lessons .sv-svg")).to_have_attribute("data-step", step)
    else:
        expect(page.locator(".sv-lesson-figure").locator("svg, table, li").first).to_be_visible()
    return lesson


@pytest.fixture
def page(seen):
    """The page that tests share; each opens lessons from its list."""
    seen.keyboard.press("Escape")  # what is presented
    seen.set_viewport_size({"width": 1280, "height": 800})
    return seen


def choose(page, name):
    """Open a lesson from the list, as it opens; its own data."""
    for shown in (NAMES[NAMES.index(name) - 1], name):  # it may be open, at another step
        page.locator(".sv-lessons-list button").nth(NAMES.index(shown)).click()
        lesson = opened(page, shown)
    return lesson


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_every_lesson_opens_its_pictures_and_none_is_clipped(page, every):
    """By day every third lesson."""
    for name in NAMES if every else NAMES[::3]:
        page.locator(".sv-lessons-list button").nth(NAMES.index(name)).click()
        lesson = opened(page, name)
        assert page.evaluate(CLIPPED) == 0, name
        assert page.url.endswith(f"lesson={name}")
        for i, picture in enumerate(lesson["pictures"] if len(lesson["pictures"]) > 1 else []):
            page.locator(".sv-lesson-pictures button").nth(i).click()
            if "message" in picture:
                steps = len(picture["message"]["steps"])
                expect(page.locator("#sv-lessons .sv-where")).to_have_text(f"step 1 of {steps}")
            else:
                expect(
                    page.locator(".sv-lesson-figure").locator("svg, table, li").first
                ).to_be_visible()
        page.get_by_role("button", name="Show me").click()
        question = page.locator(".sv-lesson-folds details").first
        expect(question.locator("p").first).to_be_hidden()
        question.locator("summary").click()
        expect(question.locator("p").first).to_be_visible()


def test_the_dial_of_the_race_runs_it_again(book):
    page = book("lab=race")  # the page that the lesson took the place of
    opened(page, "races")
    page.get_by_role("button", name="The race", exact=True).click()
    result, exercise = page.locator(".sv-race-result"), page.locator(".sv-lesson-exercise")
    expect(result).to_contain_text("equal in 100%")
    page.get_by_label("How wrong the draft is").fill("10")
    expect(result).not_to_contain_text("equal in 100%")
    expect(exercise).not_to_have_attribute("data-done", "true")
    step = json.loads(lessons.open_lesson("races"))["shows"]["step"]
    page.get_by_label("How wrong the draft is").fill(str(step))
    expect(result).to_contain_text("rejected")
    expect(exercise).to_have_attribute("data-done", "true")


def test_presented_the_answers_about_four_rules_come_one_by_one(page):
    lesson = choose(page, "lossy")
    verdicts = [[*rule["verdicts"].values()][-1] for rule in lesson["pictures"][0]["data"]]
    present(page)
    rules = page.locator(".sv-lesson-lossy li p")
    for i, verdict in enumerate(verdicts):
        page.keyboard.press("ArrowRight")
        expect(rules.nth(i)).to_have_text(f"It is {verdict}")
        for other in range(i + 1, len(verdicts)):
            expect(rules.nth(other)).to_be_empty()
    page.keyboard.press("Escape")
    choose(page, "lossy")
    expect(page.locator(".sv-lesson-exercise")).not_to_have_attribute("data-done", "true")
    for button in page.get_by_role("button", name="exact", exact=True).all():
        button.click()
    expect(rules.nth(1)).to_have_text(f"No, it is {verdicts[1]}")
    page.get_by_label("The tree").select_option("one guess")
    expect(rules.nth(1)).to_contain_text("No, it is lossy, though right on this tree: choose “two ")
    expect(page.locator(".sv-lesson-exercise")).to_have_attribute("data-done", "true")


def test_a_lecture_by_arrow_keys(page):
    page.set_viewport_size({"width": 1280, "height": 720})
    lesson = choose(page, "trees")
    present(page)
    expect(page.locator(".sv-lessons-sentence")).to_have_text(lesson["sentence"])
    expect(page.locator(".sv-lessons-list")).to_be_hidden()
    expect(page.locator(".sv-lessons-example")).to_have_text(lesson["examples"][0])
    for part in (".sv-legend", ".sv-where", ".sv-lessons-example"):
        expect(page.locator(f"#sv-lessons {part}")).to_be_in_viewport(ratio=0.99)
    assert page.evaluate(SMALLEST) >= 24 and page.evaluate(CLIPPED) == 0
    size = page.locator(".sv-lessons-sentence").evaluate(
        "line => parseFloat(getComputedStyle(line).fontSize)"
    )
    assert (
        size >= 28 and page.locator("#sv-lessons .sv-scroll").bounding_box()["height"] > 720 * 0.6
    )
    svg = page.locator("#sv-lessons .sv-svg")
    svg.dispatch_event("pointerdown")  # of a swipe, which is an arrow key: no step is left out
    for phase in "1234":  # first the parts of the step
        page.keyboard.press("ArrowRight")
        for part in (".sv-caption", ".sv-lessons-sentence"):
            expect(page.locator(f"#sv-lessons {part}")).to_be_in_viewport(ratio=0.99)
        expect(svg).to_have_attribute("data-phase", phase)
    page.keyboard.press("ArrowRight")
    expect(svg).to_have_attribute("data-step", str(lesson["opens"]["step"] + 1))
    page.keyboard.press("PageDown")
    lesson = opened(page, "sequoia")
    expect(page.locator(".sv-lessons-sentence")).to_have_text(lesson["sentence"])
    page.keyboard.press("PageUp")
    opened(page, "trees")
    page.locator("#sv-lessons .sv-scrub").evaluate(
        "bar => { bar.value = bar.max; bar.dispatchEvent(new Event('input')); }"
    )
    for _ in range(5):  # from the sentence through the parts of the last step
        page.keyboard.press("ArrowRight")
    opened(page, "sequoia")
    page.keyboard.press("Escape")
    expect(page.locator("html")).not_to_have_id("sv-present")


OUTSIDE = """() => { const svg = document.querySelector('.sv-lesson-times svg');
  const frame = svg.getBoundingClientRect();
  const isOut = at => at.left < frame.left - 1 || at.right > frame.right + 1 ||
    at.top < frame.top - 1 || at.bottom > frame.bottom + 1;
  return [...svg.querySelectorAll('text')]
    .filter(text => isOut(text.getBoundingClientRect())).map(text => text.textContent); }"""
CHART_TYPE = """() => { const text = document.querySelector('.sv-lesson-times text');
  return parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a; }"""


SCREENS = [  # width, height, whether it is presented, the least and the most of a chart's type
    (1920, 1080, True, 28, 50),
    (1280, 720, True, 28, 40),
    (1280, 800, False, 15, 24),
    (390, 844, False, 8.5, 17),
]


def test_the_charts_of_a_lesson_have_the_type_of_the_page_and_stay_in_their_frame(page):
    choose(page, "cost")
    for width, height, is_presented, least, most in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        for name in ("Time by nodes", "Speed by nodes"):
            case = (name, width, height)
            page.locator(".sv-lesson-pictures button", has_text=name).click()
            if is_presented:
                present(page)
            expect(page.locator(".sv-lesson-times .best").first).to_be_visible()
            assert crowded(page, 5) == [], case
            assert page.evaluate(OUTSIDE) == [], case
            assert least <= page.evaluate(CHART_TYPE) <= most, case
            if is_presented:
                present(page)


def test_the_numbers_of_a_node_open_in_a_lesson(page):
    choose(page, "accept")  # which opens with a node selected
    # The sentence says what the node is, and no card covers it or the tree.
    expect(page.locator("#sv-lessons .node.selected")).to_be_visible()
    expect(page.locator("#sv-lessons .sv-node-card")).to_be_hidden()
    page.locator("#sv-lessons .sv-why-fold summary").click()
    expect(page.locator("#sv-lessons .sv-detail")).to_contain_text("probability q")


def test_presented_no_card_covers_the_tree_and_every_rule_of_the_lossy_lesson_is_on_the_screen(
    page,
):
    page.set_viewport_size({"width": 1280, "height": 720})
    choose(page, "accept")  # which opens with a node selected
    present(page)
    expect(page.locator("#sv-lessons .node.selected")).to_be_visible()
    expect(page.locator("#sv-lessons .sv-node-card")).to_be_hidden()
    page.keyboard.press("ArrowRight")  # the draft alone, of which nothing is rejected yet
    expect(page.locator("#sv-lessons .sv-svg")).to_have_attribute("data-phase", "1")
    expect(page.locator("#sv-lessons .node.selected")).to_have_count(0)
    expect(page.locator("#sv-lessons .sv-caption")).not_to_contain_text("rejected")
    page.keyboard.press("Escape")  # leaves the presentation, not only the selected node
    expect(page.locator("html")).not_to_have_id("sv-present")
    page.locator(".sv-lessons-list button").nth(NAMES.index("lossy")).click()
    opened(page, "lossy")
    for button in page.get_by_role("button", name="exact", exact=True).all():
        button.click()
    present(page)
    for part in page.locator(".sv-lesson-lossy p").all():
        expect(part).to_be_in_viewport(ratio=0.99)
        expect(part).not_to_be_empty()


def test_on_a_phone_the_picture_stays_in_view_beside_the_text_that_speaks_of_it(page):
    choose(page, "trees")
    resize(page, {"width": 390, "height": 844})
    close_numbers(page)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    for part in (".sv-lesson-exercise > .sv-plain", ".sv-caption", ".sv-scroll", ".sv-forward"):
        expect(page.locator(f"#sv-lessons {part}")).to_be_in_viewport(ratio=0.99)


# The steps, of a run of so many, of which something is cut.
CUT = """async steps => { const stage = document.querySelector('.sv-lesson-stage');
  const box = stage.querySelector('.sv-scroll'), scrub = stage.querySelector('.sv-scrub');
  const drawn = () => new Promise(requestAnimationFrame);
  const cut = [];
  for (let step = 0; step < steps; step++) {
    scrub.value = step;
    scrub.dispatchEvent(new Event('input'));
    await drawn();
    await drawn();
    const scrolls = box.scrollWidth > box.clientWidth + 20 ||
      box.scrollHeight > box.clientHeight + 20;  // more than the space around it
    if (stage.scrollHeight > stage.clientHeight + 1 || scrolls)
      cut.push([step, stage.scrollHeight, stage.clientHeight, scrolls]);
  }
  return cut; }"""


def close_numbers(page):
    """As a phone has them from the start, and a wider page does not."""
    page.locator("#sv-lessons .sv-why-fold").evaluate("fold => { fold.open = false; }")


def test_on_a_phone_no_step_of_a_lesson_is_cut_where_its_picture_stays_in_view(page):
    resize(page, {"width": 390, "height": 844})
    close_numbers(page)
    for name in ("cost", "drafts", "sequoia", "exact"):
        lesson = choose(page, name)
        # the second run of the lesson on Sequoia has eight children in a column
        for run in range(2):
            page.locator(".sv-lesson-pictures button").nth(run).click()
            cut = page.evaluate(CUT, len(lesson["pictures"][run]["message"]["steps"]))
            assert cut == [], f"{name}, run {run + 1}"
    specinfer = page.locator("#sv-lessons .sv-scroll")
    choose(page, "sequoia")
    page.get_by_role("button", name="SpecInfer’s rule").first.click()
    assert specinfer.evaluate("box => box.scrollHeight <= box.clientHeight"), "all of the tree"


def test_on_a_phone_the_numbers_of_a_node_are_one_tap_away_and_whole(book):
    page = book("lesson=accept", width=390, height=844)
    opened(page, "accept")
    page.locator("#sv-lessons .sv-why-fold summary").click()
    expect(page.locator("#sv-lessons .sv-detail")).to_contain_text("probability q")
    stage = page.locator("#sv-lessons .sv-lesson-stage")
    assert stage.evaluate("part => part.scrollHeight <= part.clientHeight + 1")


def test_presented_another_run_of_a_lesson_is_named(page):
    choose(page, "sequoia")
    page.get_by_role("button", name="SpecInfer’s rule").first.click()
    present(page)
    expect(page.locator(".sv-lessons-example")).to_have_text("SpecInfer’s rule")


def test_older_numbers_lead_to_their_lesson(book):
    page = book("lesson=8")
    opened(page, "cost")
    page.get_by_role("tab", name="Explore").click()
    page.wait_for_url(lambda address: "lesson" not in address)


def test_a_lesson_that_does_not_arrive_gets_a_sentence(book):
    page = book("lesson=one-pass")
    page.route("**/component_server**", lambda route: route.abort())
    page.locator(".sv-lesson-next").click()
    expect(page.locator(".sv-lesson-body")).to_contain_text("could not be loaded")
    page.unroute("**/component_server**")
    page.locator(".sv-lessons-list button").nth(2).click()
    opened(page, "trees")


def test_what_the_text_names_is_a_button_and_the_exercise_knows_that_it_was_done(page):
    choose(page, "accept")
    svg, exercise = page.locator(".sv-lessons .sv-svg"), page.locator(".sv-lesson-exercise")
    step = page.locator(".sv-lesson-body .sv-mention", has_text="step").first
    page.locator(".sv-lessons .sv-forward").click()
    step.click()
    index = int(step.inner_text().split()[1]) - 1
    expect(svg).to_have_attribute("data-step", str(index))
    token = page.locator(".sv-lesson-body .sv-mention", has_text="“").first
    token.click()
    expect(page.locator(".sv-lessons .node.selected")).to_contain_text(
        token.inner_text().strip("“”")
    )
    expect(exercise).not_to_have_attribute("data-done", "true")
    answer = page.locator(".sv-lesson-done")
    expect(answer).to_be_hidden()
    page.get_by_role("button", name="Show me").click()
    expect(exercise).to_have_attribute("data-done", "true")
    expect(answer).to_contain_text("is below")
    choose(page, "drafts")  # a step that is named after a picture is one of that picture
    for name, picture in (("“Heads”", 1), ("step", 2)):
        page.locator(".sv-lesson-body .sv-mention", has_text=name).last.click()
        expect(page.locator(".sv-lesson-pictures button").nth(picture)).to_have_attribute(
            "aria-pressed", "true"
        )


def test_all_lessons_stand_in_one_row_and_the_numbers_of_a_node_fit(page):
    choose(page, "drafts")
    resize(page, {"width": 1280, "height": 800})
    tops = page.locator(".sv-lessons-list button").evaluate_all(
        "all => all.map(one => one.offsetTop)"
    )
    assert len(tops) == len(NAMES) and len(set(tops)) == 1
    fold = page.locator("#sv-lessons .sv-why-fold")
    fold.evaluate("fold => { fold.open = true; }")
    assert crowded(page, 5) == []
    bars = fold.locator(".sv-bars .drawn").evaluate_all("all => all.map(one => one.clientWidth)")
    assert bars and min(bars) >= 30, "a bar has room beside three numbers"
    fold.evaluate("fold => { fold.open = false; }")


WIDE = f"""() => {{ {TREE} const box = svg.parentElement.getBoundingClientRect();
  return svg.getBoundingClientRect().width / box.width; }}"""


def test_presented_even_a_chain_fills_the_screen_with_its_text_below(page):
    page.set_viewport_size({"width": 1280, "height": 720})
    lesson = choose(page, "one-pass")
    present(page)
    for part in (".sv-legend", ".sv-where", ".sv-ribbon"):
        expect(page.locator(f"#sv-lessons {part}")).to_be_in_viewport(ratio=0.99)
    steps = len(lesson["pictures"][0]["message"]["steps"])
    expect(page.locator("#sv-lessons .sv-where")).to_have_text(
        f"step {lesson['opens']['step'] + 1} of {steps}"
    )
    assert page.evaluate(WIDE) > 0.75 and page.evaluate(CLIPPED) == 0


def test_every_exercise_is_done_where_show_me_leads_and_no_card_covers_it(page):
    for name in NAMES:
        choose(page, name)
        exercise = page.locator(".sv-lesson-exercise")
        exercise.get_by_role("button", name="Show me").click()
        expect(exercise).to_have_attribute("data-done", "true")
        expect(page.locator("#sv-lessons .sv-node-card")).to_be_hidden()
