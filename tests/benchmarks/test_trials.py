"""Timed trials, promises and contests on toy models; nothing is asserted about how long anything took."""

import json
from dataclasses import replace

import pytest

import specviz
from specviz.acceptance.on_text import acceptance_vector, own_texts
from specviz.acceptance.progress import whole
from specviz.acceptance.text_units import sources
from specviz.benchmarks import predictions as speedup_predictions
from specviz.benchmarks import trials as timing
from specviz.benchmarks.agreement import prompts_like
from specviz.benchmarks.trials import PLAIN, results, trials, whole_steps
from specviz.commands.cli import main
from specviz.metrics import PARTS, Counts
from specviz.planning import choose
from specviz.planning.cost_table import flat_up_to, machine
from specviz.planning.forecast import forecast, predict

PAIR = specviz.toy_pair(vocab=8, seed=2, closeness=0.7)
RULE = specviz.VERIFIERS["sequoia"]()
CONFIG = specviz.RunConfig(temperature=1.0, max_new_tokens=40)
VECTOR = (0.6, 0.2, 0.1)
TREES = {"chain": specviz.BUILDERS["chain"](depth=3), "batch": specviz.BUILDERS["batch"](width=3)}


def counts(tokens, seconds):
    """Of steps that wrote so many tokens, a step each two; all of the time is the target's."""
    parts = tuple(seconds if part == "target" else 0.0 for part in PARTS)
    return Counts(tokens=tokens, passes=tokens // 2, timed_tokens=tokens, timed_passes=tokens // 2, seconds=parts)


def test_speedup_is_tokens_over_time_against_plain_decoding():
    """Two texts by hand: 2 and 4 times plain, 3 together; each is left out once, and t is 12.7 for two."""
    counted = {PLAIN: [counts(10, 10.0), counts(10, 10.0)], "chain": [counts(6, 3.0), counts(12, 3.0)]}
    (found,) = results(counted, ["a", "b"])
    assert (found.speedup, found.low, found.high) == pytest.approx((3, 2, 4))
    assert found.margin == pytest.approx(12.706, abs=1e-3)
    assert (found.tokens_per_pass, found.steps) == (2, 9) and found.step_s == pytest.approx(6 / 9)
    assert found.parts == {"draft": 0, "target": pytest.approx(6 / 9), "verify": 0, "other": 0}
    halves = {
        PLAIN: 4 * [counts(10, 10.0)],
        "chain": [counts(6, 3.0), counts(6, 3.0), counts(12, 3.0), counts(12, 3.0)],
    }
    (windows,) = results(halves, ["a", "a", "b", "b"])  # two texts in four windows
    assert (windows.speedup, windows.margin) == pytest.approx((found.speedup, found.margin))


def test_only_whole_trees_after_the_first_step_count():
    trace = specviz.run(PAIR, replace(CONFIG, builder=TREES["chain"]))
    kept = whole_steps(trace)
    assert {len(step.parents) for step in kept} == {4} and trace.steps[0] not in kept
    assert len(kept) < len(trace.steps) - 1  # the last ones had less room


def test_every_way_is_run_on_every_prompt_in_turning_order(monkeypatch):
    ran, run = [], specviz.run
    monkeypatch.setattr(timing, "run", lambda pair, config: ran.append(config) or run(pair, config))
    news = list(trials(PAIR, TREES, RULE, CONFIG, ["ab", "ba", "cc"]))
    assert [(config.builder.name, config.prompt) for config in ran[1:]] == [  # the first sets up the models
        ("plain", "ab"), ("chain", "ab"), ("batch", "ab"), ("chain", "ba"), ("batch", "ba"), ("plain", "ba"),
        ("batch", "cc"), ("plain", "cc"), ("chain", "cc"),
    ]  # fmt: skip
    assert [one.done for one in news] == list(range(1, 10)) and news[-1].of == 9
    assert [len(one.known) for one in news] == 3 * [0, 0, 2]
    assert [trial.name for trial in news[-1].known] == ["chain", "batch"]


def test_a_promise_puts_tokens_along_texts_over_the_costs_of_the_machine():
    first, second, (done, of, known) = speedup_predictions.predictor(PAIR, RULE, CONFIG, ["ab", "ca", "bd"], width=3)
    assert done == of == 3 and [len(one.shares) for one in (first.known, second.known, known)] == [1, 2, 3]
    assert known.vector == acceptance_vector(PAIR, RULE, own_texts(PAIR, ["ab", "ca", "bd"], CONFIG), CONFIG, 3)
    cost = flat_up_to(4, 0.1)
    cell = known.predict(TREES["chain"].shape, cost)
    assert cell.speedup == pytest.approx(known.tokens(TREES["chain"].shape) / (1 + 3 * 0.1))
    without = replace(known, shares=None).predict(TREES["chain"].shape, cost)
    assert without == predict(TREES["chain"].shape, known.vector.acceptance, cost)
    *_, (done, of, rows) = speedup_predictions.speedup_predictions(PAIR, TREES, RULE, CONFIG, known, cost, ["dd", "ef"])
    assert done == of == 6 and [row.name for row in rows] == ["chain", "batch"]
    assert rows[0].ratio == pytest.approx(rows[0].measured.speedup / rows[0].predicted.speedup)
    assert replace(rows[0], measured=replace(rows[0].measured, speedup=1.14 * cell.speedup)).holds
    assert not replace(rows[0], measured=replace(rows[0].measured, speedup=0.8 * cell.speedup)).holds
    assert list(speedup_predictions.trees_of([4, 8], known, cost)) == [
        f"sequoia {size} x {best(known.vector.acceptance, cost, size).depth}" for size in (4, 8)
    ]


def best(vector, cost, size):
    return max(filter(None, forecast(vector, cost, [size]).cells[0]), key=lambda cell: cell.speedup)


# Choosing.


def test_the_first_candidate_is_the_best_of_all_shapes():
    cost = machine("a100")
    ranked = choose.candidates(VECTOR, cost, CONFIG)
    speeds = [one.predicted.speedup for one in ranked]
    assert speeds == sorted(speeds, reverse=True) and {one.builder.name for one in ranked} == {
        "sequoia", "chain", "k-sequences",
    }  # fmt: skip
    assert speeds[0] == pytest.approx(forecast(VECTOR, cost).best.speedup)
    for one in ranked[:3]:
        assert one.predicted.speedup == pytest.approx(predict(one.builder.shape, VECTOR, cost).speedup)


def test_a_choice_that_is_a_chain_is_called_one():
    found = choose.best_candidate((0.8,), flat_up_to(8), CONFIG)
    assert found.builder == specviz.BUILDERS["chain"](depth=found.predicted.depth) and found.name.startswith(
        "chain:depth="
    )
    tree = choose.best_candidate(VECTOR, flat_up_to(64), CONFIG)
    assert tree.builder.name == "sequoia" and len(tree.builder.shape) == tree.predicted.size


def test_a_choice_is_lossless_with_the_drafter_where_some_tree_is():
    config = replace(
        CONFIG,
        verifier=specviz.VERIFIERS["spectr"](),
        drafter=specviz.DRAFTERS["several"](drafters=("model", "early-exit")),
    )
    assert not specviz.compatible(replace(config, builder=specviz.BUILDERS["sequoia"]())).lossless
    found = choose.best_candidate(VECTOR, flat_up_to(64), config)
    assert found.builder.is_chain and specviz.compatible(replace(config, builder=found.builder)).lossless


def test_a_rule_that_leads_is_costed_with_itself():
    vectors = {"sequoia": (0.6, 0.1), "race": (0.62, 0.1), "dyspec": (0.3,)}
    dear, cheap, asked = flat_up_to(1, 0.5), flat_up_to(64, 0.05), []

    def cost_of(name, race):
        asked.append(name)
        return race if name == "race" else cheap

    rule, best, cost = choose.best_rule(vectors, CONFIG, lambda name: cost_of(name, dear))
    assert rule == "sequoia" and cost == cheap and asked == ["sequoia", "race"]
    assert best == choose.best_candidate(vectors["sequoia"], cheap, CONFIG)
    rule, best, cost = choose.best_rule(vectors, CONFIG, lambda name: cost_of(name, cheap))
    assert rule == "race" and cost == cheap


# The commands, with a toy pair in place of the embedded one.


@pytest.fixture
def toy(monkeypatch):
    import types

    import specviz.models

    loads = types.SimpleNamespace(load_pair=lambda *args, **options: specviz.toy_pair(vocab=8, seed=2, closeness=0.7))
    monkeypatch.setitem(__import__("sys").modules, "specviz.models.pair", loads)
    monkeypatch.setattr(specviz.models, "pair", loads, raising=False)


def test_calibrate_keeps_what_was_measured_when_it_is_interrupted(toy, capsys, monkeypatch):
    from specviz.commands import calibrate

    measured, progress = calibrate.measured, []

    def interrupted(*arguments):
        for one in measured(*arguments):
            progress.append(one)
            yield one
            if len(progress) == 3:
                raise KeyboardInterrupt

    monkeypatch.setattr(calibrate, "measured", interrupted)
    assert main(["calibrate", "--positions", "500", "--width", "4", "--json"]) == 130
    printed = capsys.readouterr()
    assert json.loads(printed.out)["positions"] == progress[-1].done < 500 and "stopped: results of" in printed.err
    monkeypatch.setattr(calibrate, "measured", measured)
    assert main(["calibrate", "--positions", "150", "--width", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["positions"] == 150


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bench", "--same-text", "--temperature", "1"], "omit --temperature"),
        (["bench", "--same-text", "--verifier", "race"], "omit --verifier"),
    ],
)
def test_bad_values_get_one_sentence(capsys, arguments, words):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


def test_prompts_are_cut_from_continuations_where_there_are_too_few():
    *_, before, (done, of, found) = prompts_like(PAIR, ["abc", "bca"], 9, seed=3)
    assert done == of == 9 > before.done == len(before.known) and before.known == found[: before.done]
    assert found[:2] == ["abc", "bca"] and len(found) == 9 and len(set(found)) > 5
    assert whole(prompts_like(PAIR, ["abc", "bca"], 1)) == ["abc"]
    assert set(sources(found)) == {"abc", "bca"}, "windows of what follows a prompt are its text"
    ends = specviz.toy_pair(vocab=8, seed=2)
    ends.eos_ids = frozenset(range(8))
    with pytest.raises(ValueError, match="Give more prompts"):
        whole(prompts_like(ends, ["abc"], 3))
