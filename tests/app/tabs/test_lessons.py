"""The lessons without a browser: their recordings, what they say about them, and the command that records them."""

import json
import re
from dataclasses import replace
from statistics import mean

import numpy as np
import pytest

import specviz
from app import record_traces
from app.tabs import lessons
from app.tabs.compare import runs
from app.tabs.lessons import residual
from specviz.distributions import residual as left_over
from specviz.files import WEB

ALL = pytest.mark.parametrize("module", lessons.LESSONS, ids=lambda module: module.__name__.rpartition(".")[2])
LAST = len(lessons.LESSONS) - 1
VIEWS = (WEB / "lessons" / "views.js").read_text("utf-8")
WORDS = [" the", " old", " man", " sea", " was", " and", " ship", " went", " home", " with", " his", " dog"]


class Wordy:
    """A toy pair whose tokens read like words, and which is sure of itself after every other word."""

    def __init__(self):
        self.toy = specviz.toy_pair(vocab=12, closeness=0.75)
        for model in (self.toy.target, self.toy.draft):
            model._row = lambda context, row=model._row: row(context) * (2 if context[-1] % 2 else 0.05)
        config = specviz.RunConfig("abc", temperature=0.5, max_new_tokens=200)
        written = [specviz.autoregress(self.toy, replace(config, seed=seed)).tokens for seed in range(20)]
        self.library = [("itself.txt", self.toy.decode(tokens)) for tokens in written]

    def __getattr__(self, name):
        return getattr(self.toy, name)

    def piece(self, token):
        return WORDS[token]

    def stream(self, context):
        return self.piece


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Every lesson's recordings anew, with the toy pair."""
    pair = Wordy()
    return {module: record_traces.record(pair, module) for module in lessons.LESSONS}


def read_and_written(module):
    traces = lessons.read(module)
    return traces, module.write_lesson(*traces)


def numbers(text):
    return [float(number) for number in re.findall(r"\d+\.\d+", text)]


def test_no_two_lessons_have_one_title():
    assert len(lessons.LESSONS) == len({module.TITLE for module in lessons.LESSONS}) > 1


@ALL
def test_a_lesson_is_short_and_whole(module):
    found, lesson = read_and_written(module)
    traces = found[: len(module.RECORDINGS)]
    assert lesson is not None, "the recordings do not show the point; run: python -m app.record_traces"
    assert 40 < len(" ".join(lesson.text).split()) < 170, "one screen, one idea"
    assert all(record_traces.FEWEST <= len(trace.steps) <= 32 for trace in traces)
    for text in (*lesson.text, lesson.task, lesson.question, *lesson.answer):
        assert text.strip() and text.count("**") % 2 == 0 and "None" not in text and "{" not in text
        assert text[0].isupper() or text.startswith("**")
    assert lesson.question.endswith("?")


@ALL
def test_a_lesson_opens_at_a_place_that_exists(module):
    traces, lesson = read_and_written(module)
    for look in (lesson.opens, lesson.shows):
        if lesson.view:
            assert 0 <= look.step < len(lesson.shown[look.recording].steps)
            continue
        step = traces[look.recording].steps[look.step]
        assert look.node in (None, "last") or 0 <= look.node < len(step.parents)


@ALL
def test_what_a_lesson_says_follows_its_recordings(module, recorded):
    """Other runs, other numbers: nothing about a recording is typed."""
    _, lesson = read_and_written(module)
    other = module.write_lesson(*recorded[module])
    assert other is not None
    assert (lesson.text, lesson.answer) != (other.text, other.answer)
    assert lesson.question == other.question or re.sub(r"\d+", "", lesson.question) == re.sub(
        r"\d+", "", other.question
    )


@ALL
def test_a_lesson_travels_as_strict_json(module):
    number = lessons.LESSONS.index(module)
    data = json.loads(lessons.lesson(number))
    assert data["number"] == number and data["title"] == module.TITLE
    assert len(lessons.lesson(number)) < 250_000
    if data["view"]:
        assert f"{data['view']} }}" in VIEWS or f"{data['view']}," in VIEWS
        return
    assert [run["label"] for run in data["runs"]] == [recording.label for recording in module.RECORDINGS]
    assert all(run["message"]["steps"] and run["message"]["head"]["recorded"] for run in data["runs"])
    assert len({run["message"]["run"] for run in data["runs"]}) == len(data["runs"]), "each starts a new history"


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (0, 0),
        (-3, 0),
        (99, LAST),
        (8.0, 8),
        (float("inf"), LAST),
        (float("nan"), 1),
        ("3", 1),
        (None, 1),
        ([], 1),
        ({}, 1),
    ],
)
def test_any_number_asked_for_gives_a_lesson(asked, given):
    assert json.loads(lessons.lesson(asked))["number"] == given


def test_a_damaged_recording_is_rejected(monkeypatch, tmp_path):
    module = lessons.LESSONS[0]
    text = lessons.path(module, module.RECORDINGS[0]).read_text("utf-8")
    monkeypatch.setattr(lessons, "FOLDER", tmp_path)
    monkeypatch.setattr(lessons, "VIEWS", tmp_path)
    lessons.path(module, module.RECORDINGS[0]).write_text(text.replace('"accepted"', '"assumed"', 1), "utf-8")
    with pytest.raises(ValueError, match="damaged"):
        lessons.read(module)


# ---- the numbers, one lesson after the other ----


def test_one_pass():
    (trace,), lesson = read_and_written(lessons.one_pass)
    alone = sum(len(step.emitted) == 1 for step in trace.steps)
    assert f"{alone} of {len(trace.steps)} steps" in lesson.answer[-1]
    assert f"{len(trace.tokens)} tokens in {len(trace.steps)} passes" in lesson.answer[-1]
    assert trace.config.temperature == 0 and len(trace.steps[lesson.opens.step].emitted) > 2


def test_chain():
    (trace,), lesson = read_and_written(lessons.chain)
    step = trace.steps[lesson.opens.step]
    assert step.outcome[lesson.shows.node] == "unreached" and step.corrected
    first = sum(step.outcome[1] == "accepted" for step in trace.steps)
    assert f"guess 1 was accepted in {first} of {len(trace.steps)}" in lesson.answer[-1]


def test_residual():
    (trace,), lesson = read_and_written(lessons.residual)
    step, node = trace.steps[lesson.opens.step], lesson.opens.node
    q, p, prob, coin, *_ = numbers(lesson.text[1])
    assert step.outcome[node] == "rejected" and coin >= prob
    assert prob == pytest.approx(p / q, rel=0.01)
    assert (step.draft_prob[node], step.target_prob[node]) == pytest.approx((q, p), abs=1e-4)
    bars = step.detail[step.parents[node]].after
    assert bars.rows["residual"][bars.tokens.index(step.tokens[node])] == 0, "nothing is left of what was rejected"
    kept = trace.steps[lesson.shows.step]
    assert kept.coin[lesson.shows.node] < kept.accept_prob[lesson.shows.node] < 1


def test_residual_s_example():
    p, q = np.array(residual.P), np.array(residual.Q)
    kept = np.minimum(p, q)
    wrong, right = (kept + (1 - kept.sum()) * row for row in (p, left_over(p, q)))
    assert right == pytest.approx(p)
    assert f"{100 * wrong[0]:.0f} %" in residual.example()[1] and f"{100 * right[0]:.0f} %" in residual.example()[1]


def test_trees():
    (trace,), lesson = read_and_written(lessons.trees)
    roots = [[node for node, parent in enumerate(step.parents) if parent == 0] for step in trace.steps]
    first = sum(step.outcome[nodes[0]] == "accepted" for step, nodes in zip(trace.steps, roots, strict=True))
    later = sum(bool(step.path) for step in trace.steps) - first
    assert (
        f"{first} of {len(trace.steps)} steps" in lesson.answer[0]
        and f"accepted in {later} of them" in lesson.answer[1]
    )
    step = trace.steps[lesson.opens.step]
    assert step.outcome[roots[lesson.opens.step][0]] == "rejected" and len(step.path) > 1
    assert step.draft_passes == 4 and trace.steps[0].draft_prob[-1] is not None


def test_sequoia():
    (trace,), lesson = read_and_written(lessons.sequoia)
    step = trace.steps[lesson.opens.step]
    promised, brought = numbers(lesson.text[2])
    assert promised == pytest.approx(sum(step.keys[1:], 1.0), abs=0.006)
    assert brought == pytest.approx(len(trace.tokens) / len(trace.steps), abs=0.006)
    assert len({step.parents for step in trace.steps}) == 1


def test_looking():
    (dyspec, svip), lesson = read_and_written(lessons.looking)
    sizes = {len(dyspec.steps[look.step].parents) for look in (lesson.opens, lesson.shows)}
    assert len(sizes) == 1, "both trees have the same number of nodes"
    lengths = [len(step.parents) - 1 for step in svip.steps]
    assert f"{min(lengths)} to {max(lengths)} tokens" in lesson.text[2]
    for step in svip.steps:  # it stops after the first token drawn in doubt, and only there
        h = svip.config.builder.parameters["h"]
        assert all(uncertainty <= h for uncertainty in step.keys[1:-1])
        assert step.keys[-1] > h or len(step.parents) - 1 == svip.config.builder.parameters["depth"]


def test_same_seed():
    (tree, chain, plain), lesson = read_and_written(lessons.same_seed)
    assert tree.text == chain.text == plain.text and tree.config.seed == chain.config.seed == plain.config.seed
    passes = [len(trace.steps) for trace in (tree, chain, plain)]
    assert passes == [int(number) for number in re.findall(r"\d+", lesson.text[2])][:3]
    assert passes == sorted(passes) and passes[-1] == len(plain.tokens)


def test_not_paying():
    (tree, chain, plain), lesson = read_and_written(lessons.not_paying)

    def cost(trace):
        return mean(step.seconds.total for step in trace.steps[1:]) / mean(
            step.seconds.total for step in plain.steps[1:]
        )

    def gain(trace):
        return mean(len(step.emitted) for step in trace.steps[1:])

    assert numbers(lesson.text[1])[1:3] == pytest.approx([gain(tree), cost(tree)], abs=0.006)
    assert numbers(lesson.text[2])[:2] == pytest.approx([gain(chain), cost(chain)], abs=0.006)
    assert gain(tree) < cost(tree) and "slower" in lesson.text[1]


def test_who_drafts():
    (both, library), lesson = read_and_written(lessons.who_drafts)
    for name in ("model", "retrieval"):
        mine = [outcome for step in both.steps for whose, outcome in zip(step.drafter, step.outcome, strict=True)
                if whose == name and outcome != "unreached"]  # fmt: skip
        assert f"{mine.count('accepted')} of {len(mine)} of the" in lesson.text[2]
    step, node = both.steps[lesson.opens.step], lesson.opens.node
    assert step.drafter[node] == "retrieval" and step.outcome[node] == "accepted"
    assert step.growth.guesses[node]["where"] in lesson.text[1]
    assert f"{library.tokens_per_pass:.2f}" in lesson.answer[0] and {None, "retrieval"} == {
        whose for step in library.steps for whose in step.drafter
    }


def test_heads():
    (heads, model), lesson = read_and_written(lessons.heads)
    assert all(step.draft_passes == 0 for step in heads.steps) and model.steps[-1].draft_passes > 0
    step, node = heads.steps[lesson.opens.step], lesson.opens.node
    twins = [other for other, token in enumerate(step.tokens) if token == step.tokens[node]]
    depths = {other: sum(1 for _ in above(step, other)) for other in twins}
    same = [other for other in twins if depths[other] == depths[node]]
    assert len({step.parents[other] for other in same}) > 1, "one row for a whole level"
    first = sum(len(step.path) > 0 for step in heads.steps) / len(heads.steps)
    assert f"In {100 * first:.0f} % of the steps a guess of the first level was accepted" in lesson.text[3]


def above(step, node):
    while node > 0:
        yield node
        node = step.parents[node]


# ---- the recorder ----


def test_one_command_writes_every_recording(monkeypatch, tmp_path, capsys, recorded):
    assets = tmp_path / "assets"
    monkeypatch.setattr(record_traces, "TRACES", assets / "traces")
    monkeypatch.setattr(lessons, "FOLDER", assets / "traces" / "lessons")
    monkeypatch.setattr(lessons, "VIEWS", assets / "views")
    monkeypatch.setattr(runs, "TRACES", assets / "traces")
    monkeypatch.setattr(record_traces, "default_pair", Wordy)
    monkeypatch.setattr(record_traces, "record", lambda pair, module: recorded[module])  # what it makes is tested above
    monkeypatch.setattr("sys.argv", ["app.record_traces", "--max-new-tokens", "20"])
    record_traces.main()
    for name in ("story", "plain"):
        specviz.Trace.from_json((assets / "traces" / f"{name}.json").read_text("utf-8"))
    for module in lessons.LESSONS:
        assert module.write_lesson(*lessons.read(module)) is not None
    for drafter in runs.RUNNERS:
        specviz.Trace.from_json((assets / "traces" / "race" / f"{drafter}.json").read_text("utf-8"))
    assert len(capsys.readouterr().out.splitlines()) == 3 + len(runs.RUNNERS) + sum(
        len(module.RECORDINGS) + hasattr(module, "observe") for module in lessons.LESSONS
    )


def test_the_recorder_says_when_no_seed_suits(monkeypatch):
    monkeypatch.setattr(record_traces, "SEEDS", range(1, 2))
    module = lessons.LESSONS[1]
    monkeypatch.setattr(module, "write_lesson", lambda *_: None)
    with pytest.raises(SystemExit, match=module.TITLE):
        record_traces.record(Wordy(), module)
