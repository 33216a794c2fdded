"""Counterexamples of two levels, and what is known of a plugin's declaration before and after it was tried."""

from typing import ClassVar

import pytest

import specviz
from specviz.proof.counterexample import smallest
from specviz.proof.status import Status, prove, status
from specviz.strategy import REGISTRIES
from specviz.verifiers.base import Verifier
from specviz.verifiers.walk import Walk, ratio


class Behind(Verifier):
    """Speculative sampling whose last token comes from the row of the node before."""

    name: ClassVar[str] = "behind"
    title: ClassVar[str] = "Behind"
    schemes: ClassVar[tuple[str, ...]] = ("iid",)
    chain_only: ClassVar[bool] = True

    def __call__(self, tree, p, rng):
        walk, row, node = Walk(tree), p[0], 0
        while tree.children[node]:
            (child,), q, row = tree.children[node], tree.draft_distributions[node], p[node]
            if not walk.flip(child, ratio(row[tree.tokens[child]], q[tree.tokens[child]]), rng):
                return walk.end(rng.draw(specviz.distributions.residual(row, q)))
            node = child
        return walk.end(rng.draw(row))


class Copy(specviz.VERIFIERS["naive"]):
    name: ClassVar[str] = "copy"
    title: ClassVar[str] = "Copy"


@pytest.fixture
def registered():
    yield [specviz.register(cls)() for cls in (Behind, Copy)]
    for cls in (Behind, Copy):
        REGISTRIES["verifier"].pop(cls.name)


def test_a_rule_that_mixes_up_levels_gets_the_smallest_tree_that_shows_it():
    found = smallest(Behind())
    assert (found.shape.children, found.shape.levels, len(found.p), len(found.q)) == (1, 1, 2, 1)
    assert found.p[0] != found.p[1] and len(found.text) == 2 and found.link == ""
    assert "depth 1" in str(found) and found.to_dict()["p"] == [[str(part) for part in row] for row in found.p]


def test_a_plugin_is_only_declared_until_it_was_tried(registered):
    wrong, right = registered
    assert status(wrong) == status(right) == status(specviz.VERIFIERS["block"](), right) == Status.DECLARED
    assert prove(wrong) == status(wrong) == status(right, wrong) == Status.REFUTED
    assert prove(right) == status(right) == status(specviz.BUILDERS["chain"](), right) == Status.PROVEN
    assert prove(specviz.VERIFIERS["block"]()) == Status.PROVEN
