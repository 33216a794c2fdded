"""Predictions against measurement on exact toy models."""

from dataclasses import replace

import numpy as np
import pytest

import specviz
from specviz.acceptance.text_units import Window
from specviz.benchmarks.agreement import Agreement, agreement, tokens_with_room
from specviz.benchmarks.trials import whole_steps
from specviz.metrics import estimate

PAIR = specviz.toy_pair(vocab=8, seed=2, closeness=0.7)
CONFIG = specviz.RunConfig("ab", temperature=1.0, max_new_tokens=80)
CALIBRATION = [f"{a}{b}" for a in "abcdefgh" for b in "ace"]
PROMPTS = [f"{a}{b}" for a in "abcdefgh" for b in "bdf"]


@pytest.mark.parametrize(
    ("builder", "verifier", "temperature"),
    [
        (specviz.BUILDERS["chain"](depth=4), "speculative-sampling", 1.0),
        (specviz.BUILDERS["k-ary"](width=2, depth=2), "specinfer", 1.0),
        (specviz.BUILDERS["sequoia"](size=8, depth=3, acceptance=(0.6, 0.2, 0.1)), "sequoia", 0.6),
        (specviz.BUILDERS["branching"](widths=(3, 1)), "exact-match", 0.0),
    ],
)
def test_predictions_come_true(builder, verifier, temperature):
    config = replace(CONFIG, temperature=temperature)
    *_, half, last = agreement(PAIR, builder, specviz.VERIFIERS[verifier](), config, CALIBRATION, PROMPTS)
    found = last.known
    assert last.done == last.of == half.done + 1 and half.known.prompts[1] == len(PROMPTS) - 1
    assert found.nodes == len(builder.shape) and found.steps > 300
    assert found.by_level == pytest.approx(found.measured, abs=max(0.06 * found.measured, 3 * found.margin))
    assert found.by_vector == pytest.approx(found.measured, abs=max(0.12 * found.measured, 3 * found.margin))
    assert 1 <= found.measured <= builder.shape.depth.max() + 1


def test_a_wrong_prediction_is_called_one():
    row = Agreement("chain", "block", 1.0, 5, 2.4, 2.0, None, 2.05, 0.01, (9, 9), 100)
    assert row.holds and not row.close(row.by_vector)
    assert not replace(row, by_level=2.3).holds and not replace(row, by_text=2.3).holds
    assert replace(row, by_level=2.3, margin=0.4).holds


def test_only_steps_with_room_count_and_texts_are_the_unit_of_the_margin():
    trace = specviz.run(PAIR, replace(CONFIG, builder=specviz.BUILDERS["chain"](depth=4)))
    whole = [len(step.path) + 1 for step in trace.steps if len(step.parents) == 5]
    assert len(whole) < len(trace.steps)  # the last step had less room
    mean, error, steps = tokens_with_room([trace], 4)
    assert (mean, error, steps) == (pytest.approx(sum(whole) / len(whole)), None, len(whole))
    other = specviz.run(PAIR, replace(CONFIG, builder=specviz.BUILDERS["chain"](depth=4), seed=5, prompt="b"))
    more = [len(step.path) + 1 for step in other.steps if len(step.parents) == 5]
    mean, error, _ = tokens_with_room([trace, other], 4)
    assert (mean, error) == pytest.approx(estimate([(sum(whole), len(whole)), (sum(more), len(more))]))
    windows = [replace(one, config=replace(one.config, prompt=Window("b", "a"))) for one in (trace, other)]
    assert tokens_with_room(windows, 4)[1] is None, "two windows of one text"
    with pytest.raises(ValueError, match="max_new_tokens"):
        tokens_with_room([trace], 99)


@pytest.mark.parametrize("drafter", [
    "retrieval",
    pytest.param("cascade:first=retrieval,at=1", marks=pytest.mark.nightly),
])  # fmt: skip
def test_steps_at_which_a_drafter_had_little_to_say_count(drafter):
    """They come at hard places: whole trees alone would bring more than the drafter does."""
    builder, rule = specviz.BUILDERS["k-ary"](width=3, depth=2), specviz.VERIFIERS["target-match"]()
    config = replace(CONFIG, builder=builder, verifier=rule, drafter=drafter)
    runs = [specviz.run(PAIR, replace(config, prompt=prompt)) for prompt in PROMPTS]
    steps = [step for trace in runs for step in trace.steps if 80 - (step.start - 2) > 2 + 1]
    assert sum(len(step.parents) < len(builder.shape) for step in steps) > len(steps) / 20
    tokens, _, counted = tokens_with_room(runs, 2)
    assert (tokens, counted) == (np.mean([len(step.path) + 1 for step in steps]), len(steps))
    whole = [len(step.path) + 1 for step in steps if len(step.parents) == len(builder.shape)]
    assert not whole or np.mean(whole) > tokens
    assert sum(len(whole_steps(trace)) for trace in runs) == len(steps) - len(runs)
    *_, last = agreement(PAIR, builder, rule, config, CALIBRATION, PROMPTS)
    found = last.known
    assert found.by_level == pytest.approx(found.measured, abs=max(0.06 * found.measured, 1.5 * found.margin))


def test_what_cannot_be_run_gets_a_sentence():
    with pytest.raises(ValueError, match="defined for chains"):
        next(agreement(PAIR, specviz.BUILDERS["batch"](), specviz.VERIFIERS["block"](), CONFIG, ["a"], ["b"]))
    tree, rule = specviz.BUILDERS["chain"](depth=40), specviz.VERIFIERS["speculative-sampling"]()
    with pytest.raises(ValueError, match="allow a tree of 40 levels"):
        list(agreement(PAIR, tree, rule, replace(CONFIG, max_new_tokens=20), ["a"], ["b"]))
