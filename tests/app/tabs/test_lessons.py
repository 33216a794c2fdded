"""The lessons without a browser: their texts, what they say about their recordings, and how these
are recorded."""

import json
import re
from dataclasses import replace
from statistics import mean

import numpy as np
import pytest

import specviz
from app.service.pair_ref import LABELS, SMOLLM2
from app.tabs import lessons, record
from app.tabs.lessons import cost, drafts, lossy_figure, markdown, race_figure
from app.tabs.lessons import lesson as parts
from app.tabs.lessons.markdown import text_of
from app.tabs.parts import recorded
from specviz.proof.bounds import race_acceptance
from specviz.sampling.distributions import residual

ALL = pytest.mark.parametrize("name", lessons.LESSONS)
WORDS = [
    " the",
    " old",
    " man",
    " sea",
    " was",
    " and",
    " ship",
    " went",
    " home",
    " with",
    " his",
    " dog",
]


class Wordy:
    """A toy pair whose tokens read like words, and which is sure of itself after every other
    word."""

    def __init__(self):
        self.toy = specviz.toy_pair(vocab=12, closeness=0.75)
        for model in (self.toy.target, self.toy.draft):
            model._row = lambda context, row=model._row: (
                row(context) * (2 if context[-1] % 2 else 0.05)
            )
        config = specviz.RunConfig("abc", temperature=0.5, max_new_tokens=200)
        written = [
            specviz.autoregress(self.toy, replace(config, seed=seed)).tokens for seed in range(20)
        ]
        self.library = [("itself.txt", self.toy.decode(tokens)) for tokens in written]

    def __getattr__(self, name):
        return getattr(self.toy, name)

    def token_text(self, token):
        return WORDS[token]

    def stream(self, context):
        return self.token_text


@pytest.fixture(scope="module")
def toy_recordings():
    """The recordings anew, with the toy pair; not those whose times matter."""
    pair, found = Wordy(), {}
    for name, lesson in lessons.LESSONS.items():
        if name != "cost":
            # Trees are planned with the stored acceptance of the lesson's pair.
            pair.info = pair.toy.info | {"name": lesson.target}
            found[name] = record.record(pair, lesson)
    return found


def shipped(name):
    recorded = lessons.read(lessons.LESSONS[name])
    return recorded, lessons.LESSONS[name].facts(*recorded)


def written(text):
    """All words of a lesson."""

    def words(parts):
        return " ".join(part if isinstance(part, str) else words(part["parts"]) for part in parts)

    folds = [f"{heading} {words(parts)}" for heading, parts in text.folds]
    blocks = map(words, (text.body, text.task, text.answer))
    return " ".join([text.title, text.sentence, *text.examples, *blocks, *folds])


@ALL
def test_a_lesson_is_short_and_whole(name):
    runs, facts = shipped(name)
    assert facts is not None, (
        "the recordings do not show the point; run: python -m app.tabs.record lessons"
    )
    text = text_of(name, facts.values)
    assert 60 < len(written(text._replace(examples=[], folds=[])).split()) < 220, (
        "one screen, one idea"
    )
    assert len(text.sentence.split()) <= 26, "it is read from ten metres"
    for example in text.examples:
        assert len(example) <= 205, "two lines of large type"
    assert text.task and text.answer, "which is shown once it is done"
    (question, answer), (heading, notes) = text.folds
    assert question.endswith("?") and answer and heading == "Notes for a lecture" and notes
    assert (
        "{" not in written(text)
        and "None" not in written(text)
        and "nan" not in written(text).split()
    )
    pictures = [*(trace.steps for trace in runs), *facts.figures]
    for place in (facts.opens, facts.shows):
        steps = pictures[place.picture]
        if place.picture < len(runs):
            assert place.node is None or place.node < len(steps[place.step].parents)


@ALL
def test_no_number_about_a_recording_is_typed(name, toy_recordings):
    """Other runs, other numbers; and every place of the text has a value that is used."""
    source = (markdown.TEXTS / f"{name}.md").read_text("utf-8")
    _, facts = shipped(name)
    assert {
        re.match(r"\w+", place)[0] for place in re.findall(r"{([^}]+)}", source)
    } == facts.values.keys()
    if name in toy_recordings and lessons.LESSONS[name].recordings:
        other = lessons.LESSONS[name].facts(*toy_recordings[name])
        assert written(text_of(name, other.values)) != written(text_of(name, facts.values))


@ALL
def test_a_lesson_travels_as_strict_json(name):
    data = json.loads(lessons.open_lesson(name))
    assert data["title"] == markdown.title_of(name) and len(lessons.open_lesson(name)) < 250_000
    messages = [picture["message"] for picture in data["pictures"] if "message" in picture]
    assert all(message["steps"] and message["head"]["recorded"] for message in messages)
    assert len({message["run"] for message in messages}) == len(messages), (
        "each starts a new history"
    )


def test_any_name_gives_a_lesson_and_older_numbers_have_one():
    first = lessons.open_lesson(next(iter(lessons.LESSONS)))
    for name in ("nothing", None, 3, [], {}, float("nan")):
        assert lessons.open_lesson(name) == first
    assert set(lessons.OLD.values()) <= set(lessons.LESSONS) and lessons.OLD["8"] == "cost"


def test_a_value_is_never_taken_for_markup(tmp_path, monkeypatch):
    monkeypatch.setattr(markdown, "TEXTS", tmp_path)
    (tmp_path / "one.md").write_text(
        "# A\n\n> B {x}\n>\n> C\n\nSee **{x}** and [{x}](?lab=tree).\n\n"
        "| a | b |\n| --- | --- |\n| {x} | 1 |\n\n"
        "## Try it\n\nT\n\nU\n\n## Why?\n\nW\n\n## Notes\n\nN\n",
        "utf-8",
    )
    hostile = "**<b>|${1}"
    text = text_of("one", {"x": hostile})
    assert (text.sentence, text.examples) == (f"B {hostile}", ["C"])
    assert (text.task, text.answer, text.folds[0][0]) == (["T"], ["U"], "Why?")
    assert text.body[0]["parts"] == [
        "See ",
        {"tag": "strong", "attrs": {}, "parts": [hostile]},
        " and ",
        {"tag": "a", "attrs": {"href": "?lab=tree"}, "parts": [hostile]},
        ".",
    ]
    assert text.body[1]["parts"][1]["parts"][0]["parts"][0]["parts"] == [hostile]


# ---- what the lessons say, computed a second time ----


def test_one_pass():
    (trace,), facts = shipped("one-pass")
    values = facts.values
    assert values["alone"] == sum(len(step.emitted) == 1 for step in trace.steps)
    assert values["tokens"] == len(trace.tokens) and trace.config.temperature == 0
    miss = trace.steps[values["miss"] - 1]
    assert (
        miss.corrected
        and miss.outcome[values["place"]] == "rejected"
        and "unreached" in miss.outcome
    )


def test_accept():
    (trace,), facts = shipped("accept")
    step, node, values = trace.steps[facts.opens.step], facts.opens.node, facts.values
    assert step.outcome[node] == "rejected" and values["coin"] >= values["prob"]
    assert values["prob"] == pytest.approx(values["p"] / values["q"], rel=1e-3)
    assert values["left"] == 0, "the residual after the rejection, not the row before it"
    accepted = trace.steps[facts.shows.step]
    assert accepted.coin[facts.shows.node] < accepted.accept_prob[facts.shows.node] < 1


def test_the_example_of_the_answer_on_residuals():
    p, q = np.array([0.7, 0.3]), np.array([0.5, 0.5])
    accepted = np.minimum(p, q)
    rejected = 1 - accepted.sum()
    answer = (markdown.TEXTS / "accept.md").read_text("utf-8")
    assert f"{accepted[0]:g} + {rejected:g} × {p[0]:g} = {(accepted + rejected * p)[0]:g}" in answer
    right = accepted + rejected * residual(p, q)
    assert right == pytest.approx(p) and f"{accepted[0]:g} + {rejected:g} = {right[0]:g}" in answer


def test_trees():
    (trace,), facts = shipped("trees")
    roots = [
        [node for node, parent in enumerate(step.parents) if parent == 0] for step in trace.steps
    ]
    first = sum(
        step.outcome[nodes[0]] == "accepted" for step, nodes in zip(trace.steps, roots, strict=True)
    )
    assert facts.values["first"] == first
    step = trace.steps[facts.opens.step]
    assert step.outcome[roots[facts.opens.step][0]] == "rejected" and len(step.path) > 1


def test_sequoia():
    (tree, specinfer, dyspec), facts = shipped("sequoia")
    assert (
        len({step.parents for step in tree.steps})
        == 1
        < len({step.parents for step in dyspec.steps})
    )
    assert facts.values["expected"] == pytest.approx(sum(tree.steps[0].keys[1:], 1.0), abs=0.006)
    for name, trace in (("sequoia", tree), ("specinfer", specinfer)):
        again = 0
        for step in trace.steps:
            wrong = [
                (step.parents[node], step.tokens[node])
                for node in parts.nodes_with(step, "rejected")
            ]
            again += len(wrong) - len(set(wrong))
        assert facts.values[f"{name}_repeated"] == again and (again == 0) == (name == "sequoia")


def test_races():
    (tree, chain, alone), facts = shipped("races")
    assert (
        tree.text == chain.text == alone.text
        and len({trace.config.seed for trace in (tree, chain, alone)}) == 1
    )
    values = facts.values
    assert (
        values["tree_passes"] < values["chain_passes"] < values["plain_passes"] == values["tokens"]
    )


def test_the_answer_to_the_exercise_on_races_is_what_the_dial_shows():
    _, facts = shipped("races")
    (figure,) = facts.figures
    differ = [draft["winner"] != 0 for draft in figure.data["drafts"]]
    step = facts.shows.step
    assert figure.steps == step == differ.index(True) > 0
    assert figure.data["drafts"][step]["error"] == facts.values["error"]


def test_the_dial_of_the_race():
    drafts = race_figure.races()
    for draft in drafts:
        exact = race_acceptance(race_figure.P, race_figure.draft_row(draft["error"]))
        share = int(re.search(r"(\d+)%", draft["equal"])[1]) / 100
        assert share == pytest.approx(exact, abs=0.05)  # counted over 1000 seeds
    assert "100%" in drafts[0]["equal"] and drafts[0]["row"].tolist() == race_figure.P.tolist()


def test_cost():
    (tree, chain, alone), facts = shipped("cost")

    def seconds(trace):
        return mean(step.seconds.total for step in trace.steps[1:])

    def tokens(trace):
        return mean(len(step.emitted) for step in trace.steps[1:])

    for name, trace in (("tree", tree), ("chain", chain)):
        speedup = tokens(trace) / seconds(trace) * seconds(alone)
        assert facts.values[f"{name}_speedup"] == pytest.approx(speedup)
        assert facts.values[f"{name}_tokens"] == pytest.approx(tokens(trace))
    assert facts.values["tree_speedup"] < 1
    assert facts.values["model"] == LABELS[SMOLLM2]
    assert all(LABELS[SMOLLM2] in figure.data["y"] for figure in facts.figures)
    picture = facts.shows.picture - len(cost.LESSON.recordings)
    assert facts.figures[picture].label == "Speed by nodes", "which answers the exercise"
    # A place of the weights has one colour in both pictures, which follows from its position.
    labels = [[curve["label"] for curve in figure.data["curves"]] for figure in facts.figures]
    assert labels[0] == labels[1]
    examples = text_of("cost", facts.values).examples
    assert len(set(examples)) == len(facts.figures), "each picture is presented with its own"
    # As Measure: the best trees, and how fast they are.
    for weights, table in recorded.read().costs.items():
        best = recorded.predict(table, cost.WARM).best
        assert facts.values[f"{weights}_best"] == best.size
        assert facts.values[f"{weights}_speedup"] == best.speedup
    assert facts.values["disk_best"] > facts.values["memory_best"], "on disk larger trees pay"


def test_drafts():
    (mixed, heads, block), facts = shipped("drafts")
    for key, drafter in (("model", "model"), ("library", "retrieval")):
        own = [
            outcome
            for step in mixed.steps
            for whose, outcome in zip(step.drafter, step.outcome, strict=True)
            if whose == drafter and outcome != "unreached"
        ]
        assert (facts.values[f"{key}_right"], facts.values[f"{key}_tried"]) == (
            own.count("accepted"),
            len(own),
        )
    # It opens where the text begins, and the exercise is answered in the same run.
    opens = facts.opens
    assert (opens.picture, opens.step + 1) == (0, facts.values["step"])
    node = mixed.steps[opens.step].texts[opens.node]
    assert parts.quote(node) == facts.values["token"]
    assert facts.shows.picture == 0
    assert all(step.draft_passes == 0 for step in heads.steps)
    assert max(step.draft_passes for step in block.steps) == 1
    assert facts.values["after_first"] != facts.values["after_second"]
    assert drafts.first_pair(heads, equal=True)[3:] == (facts.values["again"],) * 2


def test_exact():
    (tree, alone), facts = shipped("exact")
    assert (
        tree.text == alone.text
        and tree.config.temperature == 0
        and len(tree.steps) < len(alone.steps)
    )
    exact, lossy, p = (
        [facts.values[f"{name}_{token}"] for token in range(3)] for name in ("exact", "lossy", "p")
    )
    assert exact == pytest.approx(p) and lossy != pytest.approx(p)


def test_two_of_four_rules_are_lossy_and_one_guess_does_not_show_it():
    rules = lossy_figure.judged()
    assert [rule["exact"] for rule in rules] == [True, False, True, False]
    wrong_on = ["", "two guesses", "", "a guess after a guess"]
    for rule, tree in zip(rules, wrong_on, strict=True):
        verdicts = rule["verdicts"]
        assert list(verdicts) == list(lossy_figure.TREES)
        if rule["exact"]:
            assert all(text.startswith("exact on all 4 trees") for text in verdicts.values())
            continue
        assert verdicts["one guess"] == f"lossy, though right on this tree: choose “{tree}”."
        for shows in (tree, list(verdicts)[-1]):
            assert verdicts[shows].startswith("lossy: on this tree it writes “")


# ---- the recorder ----


def test_the_recorder_writes_what_the_lessons_read(monkeypatch, tmp_path, toy_recordings, capsys):
    monkeypatch.setattr(parts, "RUNS", tmp_path)

    for name, runs in toy_recordings.items():
        for recording, trace in zip(lessons.LESSONS[name].recordings, runs, strict=True):
            record.write(lessons.LESSONS[name].path(recording), trace)
        assert lessons.LESSONS[name].facts(*lessons.read(lessons.LESSONS[name])) is not None


def test_the_recorder_says_when_no_seed_suits(monkeypatch):
    monkeypatch.setattr(record, "SEEDS", range(1, 2))
    lesson = replace(lessons.LESSONS["trees"], facts=lambda *_: None)
    with pytest.raises(SystemExit, match="trees"):
        record.record(Wordy(), lesson)
