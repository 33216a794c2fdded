"""Passes over a shape that was known before: planned once, and read as any other."""

import numpy as np
import pytest

from specviz.passes import slots
from specviz.tree import TokenTree, Topology
from tests.passes.test_huggingface import V, alone, along, make

pytestmark = pytest.mark.adapter
SHAPES = [Topology((-1, 0, 0, 0, 1, 1, 2, 4)), Topology((-1, 0, 1, 2)), Topology((-1,))]


def filled(shape, context, rng, planned=True):
    tree = TokenTree(context[-1], start=len(context) - 1)
    tree.plan = shape if planned else None
    for parent in shape.parents[1:]:
        tree.add(parent, int(rng.integers(V)))
    return tree


def test_a_plan_is_made_once_and_few_are_kept(monkeypatch):
    monkeypatch.setattr(slots, "MAX_PLANS", 2)
    model, rng = make(), np.random.default_rng(0)
    context, plans = [3, 1, 4, 1, 5], []
    session = model.open(context)
    for shape in (SHAPES[0], SHAPES[0], SHAPES[0], SHAPES[1], SHAPES[2]):
        tree = filled(shape, context, rng)
        session.forward(tree, range(len(tree)))
        session.commit(tree, (), [7])
        context = [*context, 7]
        plans.append(list(model.plans.values()))
    assert [len(kept) for kept in plans] == [0, 1, 1, 2, 1]  # the first pass reads the prompt as well
    assert plans[1][0] is plans[2][0]


def test_a_pass_that_is_planned_anew_follows_those_that_were_not():
    """Its nodes see their own ancestors, not what an unplanned tree left in those slots."""
    model, rng = make(), np.random.default_rng(0)
    context = [3, 1, 4, 1, 5]
    session = model.open(context)
    wide, chain = Topology((-1, 0, 0, 1, 2)), Topology((-1, 0, 1, 2))
    two = ([0], [1, 2])
    for shape, levels in ((wide, two), (wide, two), (chain, ([0, 1, 2, 3],)), (wide, (*two, [3, 4]))):
        tree = filled(shape, context, rng, planned=shape is wide)
        rows = [session.forward(tree, nodes) for nodes in levels][-1]
        for node, row in zip(levels[-1], rows, strict=True):
            expected = alone(model, context + along(tree, node))
            np.testing.assert_allclose(row, expected, atol=2e-4 * np.abs(expected).max())
        session.commit(tree, (), [7])
        context = [*context, 7]
