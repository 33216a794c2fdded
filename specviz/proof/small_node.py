"""The exact output distribution of a rule on one small node, or on a short chain with the same rows at every level.

The rule is run under every random outcome, children included. p = target, q = draft.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from ..randomness import Randomness
from ..sampling import draw_children
from ..tree import TokenTree
from ..verifiers.base import Verifier
from .enumerate import distribution_of


@dataclass(frozen=True)
class Shape:
    """The tree: `children` below the root, or a chain of `levels`."""

    children: int = 1
    levels: int = 1


@dataclass(frozen=True)
class Outcome:
    """What a rule accepts and writes on a node.

    Attributes:
        accepted: the expected number of accepted tokens.
        texts: the distribution of the first `levels` tokens, text -> probability.
        wanted: the target's own.
        runs: how many outcomes were enumerated.
    """

    accepted: float
    texts: dict[tuple[int, ...], float]
    wanted: dict[tuple[int, ...], float]
    runs: int

    @property
    def worst(self) -> tuple[int, ...]:
        """The text whose probability differs most; the first of them."""
        return max(self.texts, key=lambda text: abs(self.texts[text] - self.wanted[text]))

    @property
    def deviation(self) -> float:
        """The largest difference."""
        return float(np.max([abs(self.texts[text] - self.wanted[text]) for text in self.texts]))  # which keeps a NaN


def enumerate_node(rule: Verifier, p: np.ndarray, q: np.ndarray, shape: Shape, scheme: str) -> Outcome:
    """Run a rule on a node under every random outcome.

    Args:
        rule: the rule; one that is keyed cannot be enumerated.
        p, q: the target's and the draft's row, float64 [V].
        shape: of the tree.
        scheme: how children are drawn.
    """
    rows = [reduce(np.multiply.outer, [p] * level, np.ones(())) for level in range(shape.levels + 1)]
    found, accepted, runs = np.zeros_like(rows[-1]), 0.0, 0

    def program(rng: Randomness) -> tuple[int, tuple[int, ...]]:
        nonlocal runs
        runs += 1
        return _attempt(rule, p, q, shape, scheme, rng)

    for (length, text), weight in distribution_of(program).items():
        accepted += length * weight
        found[text] += weight * rows[shape.levels - len(text)]  # what is not written yet follows the target
    texts = list(product(range(len(p)), repeat=shape.levels))
    law, own = ({text: float(law[text]) for text in texts} for law in (found, rows[-1]))
    return Outcome(accepted, law, own, runs)


def _attempt(
    rule: Verifier, p: np.ndarray, q: np.ndarray, shape: Shape, scheme: str, rng: Randomness
) -> tuple[int, tuple[int, ...]]:
    """Draft and verify once: how many tokens were accepted, and the first `levels` of what was written."""
    tree, leaves = TokenTree(0, scheme=scheme), [0]
    for level in range(shape.levels):
        tree.draft_distributions[leaves[0]] = q
        leaves = [tree.add(level, token) for token in draw_children(q, shape.children, scheme, rng, level + 1)]
    # After a leaf a row of one token: what would follow is not looked at, so chance need not be asked for it.
    rows: Any = {i: p if i < shape.levels else np.eye(len(p))[0] for i in range(len(tree))}
    verdict = rule(tree, rows, rng)
    written = [*(tree.tokens[i] for i in verdict.path), verdict.bonus]
    return len(verdict.path), tuple(written[: shape.levels])
