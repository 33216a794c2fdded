"""Counterexamples of two levels."""

from typing import ClassVar

import specviz
from specviz.proof.counterexample import smallest
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


def test_a_rule_that_mixes_up_levels_gets_the_smallest_tree_that_shows_it():
    found = smallest(Behind())
    assert (found.children, found.levels, len(found.p), len(found.q)) == (1, 1, 2, 1)
    assert found.p[0] != found.p[1] and len(found.text) == 2 and found.link == ""
    assert "depth 1" in str(found) and found.to_dict()["p"] == [[str(part) for part in row] for row in found.p]
