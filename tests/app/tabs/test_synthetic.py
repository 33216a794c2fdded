"""Rows made from a vector: their mean, and trees grown on them, by enumeration of every answer chance could give."""

import numpy as np
import pytest

from app.tabs.labs.synthetic import Source, grow
from specviz import BUILDERS
from specviz.acceptance.vectors import expected_tokens
from specviz.proof.enumerate import distribution_of
from specviz.randomness import Seeded

FALLING = (0.5, 0.2, 0.1)
STATIC = [
    BUILDERS["chain"](depth=2), BUILDERS["k-sequences"](width=2, depth=2), BUILDERS["k-ary"](width=2, depth=2),
    BUILDERS["batch"](width=5), BUILDERS["sequoia"](size=5, depth=3, acceptance=FALLING),
]  # fmt: skip


def mean_tokens(builder, acceptance, spread):
    """Expected tokens of the first position, exactly."""
    outcomes = distribution_of(lambda rng: round(next(grow(builder, acceptance, spread, 1, rng)).tokens, 12))
    return sum(tokens * chance for tokens, chance in outcomes.items())


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("acceptance", [FALLING, (0.65,), (1.0,), (0.4, 0.4, 0.2), (0.0,)])
def test_the_rows_average_to_the_vector_and_never_rise(acceptance, spread):
    rows = distribution_of(lambda rng: tuple(Source(acceptance, spread, rng).row()))
    mean = sum(np.array(row) * chance for row, chance in rows.items())
    assert mean[: len(acceptance)] == pytest.approx(acceptance, abs=1e-12) and mean.sum() == pytest.approx(1)
    for row in rows:
        assert sum(row) == pytest.approx(1) and min(row) >= 0
        assert list(row[: len(acceptance)]) == sorted(row[: len(acceptance)], reverse=True)
    assert (len(rows) == 1) == (spread == 0 or acceptance in ((1.0,), (0.0,)))


@pytest.mark.parametrize("spread", [0.0, 0.5])
@pytest.mark.parametrize("builder", STATIC, ids=lambda builder: builder.name)
def test_a_static_tree_expects_its_closed_form_whatever_the_spread(builder, spread):
    assert mean_tokens(builder, FALLING, spread) == pytest.approx(expected_tokens(builder.shape, FALLING), abs=1e-9)


def test_rows_that_never_differ_leave_nothing_to_look_at():
    """A tree that knows every row is the best static one where all rows are the same, and a better one where not."""
    knowing = BUILDERS["eagle2"](size=6, depth=4, width=4)
    static = BUILDERS["sequoia"](size=6, depth=4, acceptance=FALLING)
    best = expected_tokens(static.shape, FALLING)
    assert mean_tokens(knowing, FALLING, 0.0) == pytest.approx(best, abs=1e-12)
    small = BUILDERS["eagle2"](size=3, depth=2, width=2)
    best = expected_tokens(BUILDERS["sequoia"](size=3, depth=2, acceptance=FALLING).shape, FALLING)
    assert mean_tokens(small, FALLING, 0.5) > best + 0.01


def test_a_length_that_follows_the_run_follows_this_one():
    sure = [len(tree.shape) - 1 for tree in grow(BUILDERS["heuristic"](depth=2), (1.0,), 0.5, 4, Seeded(0))]
    never = [len(tree.shape) - 1 for tree in grow(BUILDERS["heuristic"](depth=3), (0.0,), 0.5, 4, Seeded(0))]
    assert (sure, never) == ([2, 4, 6, 8], [3, 2, 1, 1])


def test_draft_passes_are_counted():
    (tree,) = grow(BUILDERS["k-ary"](width=2, depth=3), FALLING, 0.5, 1, Seeded(0))
    assert tree.passes == 3 and len(tree.shape) == 15 and tree.chance[0] == 1.0
    (tree,) = grow(BUILDERS["dyspec"](size=8, batch=1), FALLING, 0.0, 1, Seeded(0))
    assert tree.passes == sum(bool(children) for children in tree.shape.children)


def test_a_vector_that_rises_is_averaged_first():
    assert Source((0.2, 0.4), 0.5, Seeded(0)).vector == pytest.approx((0.3, 0.3))


@pytest.mark.parametrize(
    ("builder", "acceptance", "spread", "words"),
    [("dyspec", (0.9, 0.2), 0.5, "sum to at most 1"), ("dyspec", FALLING, 1.5, "spread must be a number from 0 to 1"),
     ("dyspec", FALLING, float("nan"), "spread must be"), ("prompt-lookup", FALLING, 0.5, "has no synthetic tree")],
)  # fmt: skip
def test_what_cannot_be_grown_gets_a_sentence(builder, acceptance, spread, words):
    with pytest.raises(ValueError, match=words):
        next(grow(BUILDERS[builder](), acceptance, spread, 1, Seeded(0)))
