"""Sequoia's rule for children drawn without replacement (Chen et al. 2024, algorithm 2).

Unlike SpecInfer's, a refused token also leaves the draft: d loses it and is renormalised, exactly as the next child
was drawn. Once d is used up the remaining children were drawn uniformly, and are compared with that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..distributions import normalise, residual
from ..protocols import Verifier
from .walk import Walk, explain_coin, ratio


@dataclass(frozen=True)
class SequoiaRule(Verifier):
    """One coin per child, the residual and a smaller draft after each refusal."""

    name: ClassVar[str] = "sequoia"
    title: ClassVar[str] = "Sequoia"
    laws: ClassVar[tuple[str, ...]] = ("distinct",)

    def __call__(self, tree, p, rng):
        walk, node = Walk(tree), 0
        while children := tree.children[node]:
            r, d, tried = p[node], tree.draft_rows[node], []
            for child in children:
                token = tree.tokens[child]
                if walk.flip(child, ratio(r[token], d[token]), rng):
                    break
                tried.append(token)
                r, d = residual(r, d), without(d, token, tried)
            else:
                return walk.end(rng.draw(r))
            node = child
        return walk.end(rng.draw(p[node]))

    def explain(self, step, node):
        return explain_coin(step, node, "min(1, residual/remaining draft)")


def without(d: np.ndarray, token: int, tried: list[int]) -> np.ndarray:
    """The law of the next child once `token` was drawn: d without it; where d is empty, uniform on the untried."""
    d = d.copy()
    d[token] = 0.0
    if not d.any():
        d[:] = 1.0
        d[tried] = 0.0
        if not d.any():  # the whole vocabulary was tried
            return d
    return normalise(d)
