"""Plain decoding: nothing is drafted or verified, and the target's own token is written.

The token is argmin E / p with noise E keyed by its position, the most probable one at temperature 0: the text that
rules with shared noise (`race`, keyed `target-match`) promise to write again.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..randomness import first_arrivals
from .base import Verifier
from .walk import ROOT, Walk


class PlainRule(Verifier):
    """One token of the target per pass."""

    name: ClassVar[str] = "plain"
    title: ClassVar[str] = "Plain decoding"
    reads_draft: ClassVar[bool] = False
    shared_noise: ClassVar[bool] = True
    alone: ClassVar[bool] = True

    def __call__(self, tree, p, rng):
        row = p[0]
        if p.sampling.temperature == 0:
            return Walk(tree).end(int(np.argmax(row)))
        return Walk(tree).end(first_arrivals(row, rng.noise(tree.position(0), len(row)), 1)[0])

    def explain(self, step, node):
        return ROOT
