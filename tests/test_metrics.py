"""One number for one thing: what counts, that nothing else computes it, and that intervals cover
what they promise."""

import ast
import json
import re
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import specviz
from specviz.base import codec
from specviz.base.files import TRACES
from specviz.commands.cli import main
from specviz.measure import timing as turns
from specviz.record import metrics
from specviz.record.intervals import ratio_interval, wilson
from specviz.record.metrics import Counts, estimate, ratio_of_rates, t_quantile
from specviz.view import payload
from specviz.view.offline import offline_page

ROOT = Path(__file__).resolve().parent.parent
FILES = TRACES / "explore" / "tree-0.6.json", TRACES / "race" / "plain.json"
STORY, PLAIN = (specviz.Trace.from_json(path.read_text("utf-8")) for path in FILES)


# What counts.


def test_counts_are_of_all_steps_and_times_of_all_but_the_first():
    counts, later = STORY.counts, STORY.steps[1:]
    spent = sum(step.seconds.total for step in later)
    written = sum(len(step.emitted) for step in later)
    assert counts.tokens_per_pass == len(STORY.tokens) / len(STORY.steps)
    assert counts.tokens_per_s == pytest.approx(
        written / spent
    ) and counts.elapsed == pytest.approx(sum(step.seconds.total for step in STORY.steps))
    assert counts.seconds_per_step == pytest.approx(spent / len(later))
    assert sum(counts.step_parts.values()) == pytest.approx(counts.seconds_per_step)
    assert counts.speedup(PLAIN.counts) == counts.tokens_per_s / PLAIN.counts.tokens_per_s


def test_steps_in_groups_add_up_and_a_single_step_has_no_rate():
    parts = sum((Counts.of([step]) for step in STORY.steps), Counts())
    some, every = (list(payload.figures(part).values()) for part in (parts, STORY.counts))
    assert some[:4] == pytest.approx(every[:4]) and parts.guesses == STORY.counts.guesses
    one = payload.figures(Counts.of(STORY.steps[:1]))
    assert one["rate"] is None and one["per_pass"] >= 1
    assert payload.figures(Counts())["per_pass"] is None


def test_several_runs_are_a_ratio_of_sums():
    short = replace(STORY, steps=STORY.steps[:3])
    tokens = len(STORY.tokens) + len(short.tokens)
    assert (STORY.counts + short.counts).tokens_per_pass == tokens / (len(STORY.steps) + 3)
    assert estimate([(run.counts.tokens, run.counts.passes) for run in (STORY, short)])[
        0
    ] == tokens / (len(STORY.steps) + 3)


def test_a_tree_counts_all_that_its_rule_accepted():
    step = next(step for step in STORY.steps[1:] if step.path)
    ended = replace(
        step, emitted=step.emitted[:1], emitted_texts=step.emitted_texts[:1]
    )  # an end of text
    assert (
        Counts.of([ended]).tokens == 1
        and Counts.of([ended], uncut=True).tokens == len(step.path) + 1
    )


def test_probes_are_not_drafted_nodes():
    trace = specviz.run(
        specviz.toy_pair(vocab=6), specviz.RunConfig("abab", "lookahead", "race", max_new_tokens=20)
    )
    assert any("probe" in step.outcome for step in trace.steps)
    assert trace.counts.nodes == sum(step.drafted for step in trace.steps)


# One trace, everywhere.


def test_the_same_numbers_stand_everywhere(monkeypatch, capsys, tmp_path):
    figures, speedup = payload.figures(STORY.counts), STORY.counts.speedup(PLAIN.counts)
    assert [figures["per_pass"], figures["rate"]] == codec.json_data(
        [STORY.tokens_per_pass, STORY.tokens_per_s]
    )
    words = (
        f"{figures['per_pass']:.2f} per pass, {STORY.counts.acceptance:.0%} of compared tokens "
        "accepted, "
    )
    words += f"{figures['rate']:.0f}"

    assert main(["replay", str(FILES[0])]) == 0 and words in capsys.readouterr().out
    loads = types.SimpleNamespace(load_pair=lambda *args, **options: specviz.toy_pair())
    monkeypatch.setitem(sys.modules, "specviz.models.pair", loads)
    monkeypatch.setattr(
        "specviz.commands.generate.speculate", lambda pair, config: iter(STORY.steps)
    )
    monkeypatch.setattr("specviz.commands.generate.trace_of", lambda pair, config, steps: STORY)
    main(["generate", "--prompt", STORY.prompt_text])
    assert words in capsys.readouterr().out

    sent = json.loads(payload.recorded_message(STORY))
    assert sent["figures"] == payload.figures(STORY.counts, STORY.speedup)
    assert sent["speedup"] == codec.json_data(STORY.speedup)
    table = {name: (value, note) for name, value, note in sent["figures"]["table"]}
    assert table["tokens per second"][0] == f"{STORY.speedup.tokens_per_s:.1f}"
    assert table["speedup vs. plain decoding"][0] == f"{STORY.speedup.speedup:.2f}×"
    page = tmp_path / "run.html"
    main(["replay", str(FILES[0]), "--html", str(page)])
    offline = json.loads(re.search(r'id="run">(.*?)</script>', page.read_text("utf-8"))[1])
    assert page.read_text("utf-8") == offline_page(STORY) and offline["figures"] == sent["figures"]

    monkeypatch.setattr(turns, "speculate", lambda *_, **__: iter(PLAIN.steps))
    monkeypatch.setattr(turns, "LONGEST", float("inf"))  # the recorded run takes longer
    *_, against = turns.measure_speedup(None, STORY.config, STORY.counts, rounds=1)
    assert (against.speedup, against.tokens_per_s) == pytest.approx((speedup, STORY.tokens_per_s))
    assert against.plain_tokens_per_s == pytest.approx(PLAIN.counts.tokens_per_s)


def test_compare_and_the_endpoint_say_the_same_as_the_recorded_run(monkeypatch):
    from app import api
    from app.service import decoding
    from app.service.queued_run import Turn
    from app.tabs.compare import messages
    from app.tabs.compare.entry import Entry

    figures, speedup = payload.figures(STORY.counts), STORY.counts.speedup(PLAIN.counts)
    # Without rounds that were timed, which give a comparison other rates than the run's own.
    untimed = replace(STORY, speedup=None)
    board = json.loads(
        messages.of_traces([Entry("A", STORY.config), Entry("B", PLAIN.config)], [untimed, PLAIN])
    )
    rows = {row["name"]: [value for value, _ in row["cells"]] for row in board["table"]}
    assert rows["tokens per target pass"] == [f"{figures['per_pass']:.2f}", "1.00"]
    assert float(rows["tokens per second"][0]) == pytest.approx(figures["rate"], abs=0.06)
    seconds, tokens = board["updates"][0]["clock"][-1]
    assert tokens == len(STORY.tokens)
    assert seconds == pytest.approx(tokens / figures["rate"], rel=1e-3)

    monkeypatch.setattr(decoding, "speculate", lambda *_, **__: iter(STORY.steps))
    monkeypatch.setattr(turns, "speculate", lambda *_, **__: iter(PLAIN.steps))
    monkeypatch.setattr(turns, "LONGEST", float("inf"))  # the recorded run takes longer
    *_, (_, _, trace) = api.answers(Turn(specviz.toy_pair()), STORY.config, rounds=1)
    found = json.loads(trace)["speedup"]
    assert found["speedup"] == pytest.approx(speedup, rel=1e-5)
    assert found["tokens_per_s"] == pytest.approx(figures["rate"], rel=1e-5)


# Nothing else computes them.

COUNTED = re.compile(
    r"emitted|\.(tokens|steps|passes|accepted|compared|total|elapsed|tokens_per_s)\b|_rate\b|rate\("
)
SCRIPT = re.compile(
    r"(?<!text)(?<!\.)/ *[\w.?]*(tokens|passes|steps\.length|compared|rate|plain)\b"
    r"|(rate|tokens_per_s) */|seconds\.reduce"
)


def test_no_other_file_divides_counts_of_runs_or_makes_an_interval():
    files = [*ROOT.glob("specviz/**/*.py"), *ROOT.glob("app/**/*.py")]
    for path in sorted(files):
        if (
            path == Path(metrics.__file__) or path.parent.name == "doctor"
        ):  # which reads the counts of other engines
            continue
        text = path.read_text(encoding="utf-8")
        assert (
            not re.search(r"1\.96|ddof=1|jackknife(?!_margin)", text)
            or path.parent.name == "training"
        ), path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                assert not COUNTED.search(ast.unparse(node)), (
                    f"{path}: {ast.unparse(node)} belongs to metrics"
                )


def test_the_browser_divides_no_counts():
    for path in (ROOT / "assets/web").rglob("*.js"):
        if "tests" not in path.parts:
            found = SCRIPT.search(
                re.sub(
                    r"^import .*|//.*|/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.M
                )
            )
            assert not found, f"{path}: {found and found[0]}"


# Intervals.


def test_students_t_is_the_table_of_every_textbook():
    assert [round(t_quantile(freedom), 3) for freedom in (1, 2, 3, 4, 9, 10, 30)] == [
        12.706,
        4.303,
        3.182,
        2.776,
        2.262,
        2.228,
        2.042,
    ]


def test_a_mean_is_its_standard_error_times_t_and_one_text_has_no_interval():
    values = np.array([2.0, 3.0, 7.0])
    mean, margin = estimate(np.stack([values, np.ones(3)], -1))
    assert mean == 4.0 and margin == pytest.approx(t_quantile(2) * values.std(ddof=1) / 3**0.5)
    assert estimate([(3, 2)]) == (1.5, None) and estimate([(3, 2), (4, 2)], texts=["a", "a"]) == (
        1.75,
        None,
    )
    assert ratio_interval([1], [4]) is None
    assert ratio_interval([1, 2, 0], [4, 4, 0]) == ratio_interval([1, 2], [4, 4]), (
        "a text without tries"
    )


def test_rows_of_one_text_count_as_one_text():
    alone = metrics.estimate([[12, 4], [18, 8], [3, 2]])
    assert metrics.estimate(
        [[6, 1], [6, 3], [9, 4], [9, 4], [3, 2]], texts=list("aabbc")
    ) == pytest.approx(alone)


def test_what_slows_a_whole_round_says_nothing_about_a_speedup():
    rounds = [(10.0, slow, 4.0, slow) for slow in (1.0, 3.0, 2.0)]
    assert estimate(rounds, ratio_of_rates) == pytest.approx((2.5, 0), abs=1e-12)
    assert estimate([(10.0, slow, 4.0, 1.0) for slow in (1.0, 3.0, 2.0)], ratio_of_rates)[1] > 1


def test_texts_are_the_unit_of_a_share():
    """A hundred texts that are each all easy or all hard: a hundred trials, however many tokens
    they have."""
    hits = [40.0 * (turn % 4 > 0) for turn in range(100)]
    found, wrong = ratio_interval(hits, [40] * 100), wilson(0.75, 4000, 1.96)
    assert found == pytest.approx(wilson(0.75, 99, t_quantile(99)), abs=1e-12)
    assert found[1] - found[0] > 6 * (wrong[1] - wrong[0])
    assert wilson(1.0, 10, 1.959964)[0] == pytest.approx(0.7225, abs=1e-4), (
        "the textbook's 10 of 10"
    )


@pytest.mark.parametrize(
    "texts", [3, *(pytest.param(n, marks=pytest.mark.nightly) for n in (2, 5, 10, 20))]
)
def test_intervals_of_95_percent_cover_as_much_over_few_texts(texts):
    """5 000 repetitions, of which 93 % must be covered; the standard error of the share is 0.3
    %."""
    rng, repeats = np.random.default_rng(texts), 5000
    covered = {}

    def cover(name, found, truth):
        value, margin = found
        covered[name] = np.mean(np.abs(value - truth) <= margin)

    shape = (repeats, texts)
    values = rng.normal(3, 1, shape)
    cover("mean", estimate(np.stack([values, np.ones(shape)], -1)), 3)
    each = np.exp(rng.normal(0, 0.25, shape))  # tokens per pass of a text; every one writes 48
    expected = np.exp(0.25**2 / 2)
    cover(
        "tokens per pass",
        estimate(np.stack([np.full(shape, 48.0), 48 / (2.5 * each)], -1)),
        2.5 / expected,
    )
    ours, plain = (48 * np.exp(rng.normal(0, 0.15, shape)) for _ in range(2))
    rows = np.stack([np.full(shape, 48.0), ours / each, np.full(shape, 48.0), 1.8 * plain], -1)
    cover("speedup", estimate(rows, ratio_of_rates), 1.8 / expected)
    for share, alike in (
        (0.01, np.inf),
        (0.01, 60.0),
        (0.1, 60.0),
        (0.7, 60.0),
    ):  # alike: of a beta over texts
        chance = (
            rng.beta(share * alike, (1 - share) * alike, shape)
            if alike < np.inf
            else np.full(shape, share)
        )
        for way, hits in (("counted", rng.binomial(64, chance)), ("expected", 64 * chance)):
            low, high = ratio_interval(hits, np.full(texts, 64))
            covered[f"{share} {way}, {alike}"] = np.mean(
                (low <= share + 1e-12) & (share - 1e-12 <= high)
            )
    assert min(covered.values()) >= 0.93, covered


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_an_interval_holds_its_share_whatever_rounding_does(share):
    for tries in range(1, 2000):
        low, high = wilson(share, 1.37 * tries, t_quantile(6))
        assert low <= share <= high
