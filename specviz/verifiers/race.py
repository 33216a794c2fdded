"""Exponential races shared by draft and target (Kobus and Gündüz 2025, algorithms 2 and 5).

Unlike every rule with coins the target's token does not depend on the tree at all: it is argmin E / p, with noise E
keyed by the position in the text, and a child is accepted where it is that token. Where the draft ran the same race
with q in place of p, its first arrivals are the likeliest winners. Target match with keyed noise is this rule on
trees that were not raced.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np

from ..randomness import first_arrivals
from ..tree import Chart
from .base import Verifier
from .walk import Walk, explain_match, follow

SHOWN = 5


class Race(Verifier):
    """The token that arrives first under p is written, whatever was drafted: the seed alone determines the text."""

    name: ClassVar[str] = "race"
    title: ClassVar[str] = "Race"
    schemes: ClassVar[tuple[str, ...]] = ("race", "top", "distinct", "iid")
    reads_draft: ClassVar[bool] = False
    shared_noise: ClassVar[bool] = True

    def __call__(self, tree, p, rng):
        walk = Walk(tree)

        def winner(node: int) -> int:
            noise = rng.noise(tree.position(node), len(p[node]))
            arrivals = first_arrivals(p[node], noise, SHOWN)
            walk.show(node, race=partial(_columns, noise, arrivals, p[node], tree.draft_distributions.get(node)))
            return arrivals[0]

        return follow(walk, tree, winner)

    def explain(self, step, node):
        return explain_match(step, node, "it won the target's race", "another token won the target's race")


def _columns(noise: np.ndarray, arrivals: np.ndarray, p: np.ndarray, q: np.ndarray | None) -> dict[str, Chart]:
    """The first racers and their arrival times, under the target and under the draft where there is one."""
    rows = {"target": (arrivals, p)}
    if q is not None:
        rows["draft"] = (first_arrivals(q, noise, SHOWN), q)
    return {
        name: Chart(tuple(tokens.tolist()), {"times": tuple((noise[tokens] / row[tokens]).tolist())})
        for name, (tokens, row) in rows.items()
    }
