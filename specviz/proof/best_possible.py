"""How near each rule comes to the best that any lossless rule can do with the same drafts.

One node with k children is enumerated for random rows; the most possible is `sampling.ceiling`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..config.strategy import VERIFIERS
from ..sampling.ceiling import ceiling
from ..tree import Topology
from .enumerate import enumerate_tree

PAIRS = 20
TOKENS = 4


@dataclass(frozen=True)
class Gap:
    """The acceptance of a rule at one node, the mean over random rows.

    Attributes:
        rule, scheme: menu name of the rule, and how the children are drawn.
        children: how many there are.
        acceptance, best: the chance that one is accepted, and the largest possible one.
    """

    rule: str
    scheme: str
    children: int
    acceptance: float
    best: float


def random_rows() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows p and q of the target and the draft, float64 [V]; q is p with noise."""
    # Rows with a few likely tokens, and a draft that is wrong by a factor here and there.
    generator = np.random.default_rng(0)
    for _ in range(PAIRS):
        p = generator.dirichlet(np.full(TOKENS, 0.6))
        q = p * np.exp(0.7 * generator.standard_normal(TOKENS))
        yield p, q / q.sum()


def gaps(counts: Sequence[int] = (2, 3)) -> Iterator[Gap]:
    """Every lossless rule for trees, with each number of children, in the order of the menu."""
    for name, cls in VERIFIERS.items():
        rule = cls()
        left_out = rule.greedy_only or rule.chain_only or rule.shared_noise or rule.autoregressive
        if left_out or not rule.lossless:
            continue
        scheme = rule.schemes[0]
        for k in counts:
            shape = Topology((-1, *[0] * k))
            accepted = []
            best = []
            for p, q in random_rows():  # the same rows for every rule
                outcome = enumerate_tree(rule, shape, p[None], q[None], scheme)
                accepted.append(outcome.accepted)
                best.append(ceiling(p, q, k, scheme))
            yield Gap(name, scheme, k, float(np.mean(accepted)), float(np.mean(best)))
