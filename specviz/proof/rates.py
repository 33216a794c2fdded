"""What a rule accepts among the children of one node, by running the rule itself while every coin
rejects.

Under such randomness a rule shows the acceptance probability of every child and, at last, the
residual distribution that it draws from. p = target and q = draft, float64 [V].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..sampling.children import draw_children
from ..sampling.distributions import Distributions, Sampling
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from ..verifiers.base import Verdict, Verifier


class AlwaysReject(Randomness):
    """Randomness under which every coin rejects.

    Args:
        rng: makes the draws and the noise.
        answer: the token that the first draw returns; None to leave it to `rng`.

    Attributes:
        flips: how many coins were asked for; weights: what the first draw was from, [V], or None.
    """

    def __init__(self, rng: Randomness, answer: int | None = None) -> None:
        self._rng = rng
        self._answer = answer
        self.flips = 0
        self.weights: np.ndarray | None = None

    def flip(self, prob: float) -> tuple[bool, float]:
        self.flips += 1
        return False, 1.0

    def draw(self, probs: np.ndarray) -> int:
        if self.weights is None:
            self.weights = probs.copy()
            if self._answer is not None:
                return self._answer
        return self._rng.draw(probs)

    def noise(self, position: int, size: int) -> np.ndarray:
        return self._rng.noise(position, size)


class SameRow(Distributions):
    """The same row of the target after every node."""

    sampling = Sampling()  # of rows that are probabilities already

    def __init__(self, p: np.ndarray) -> None:
        self.p = p

    def __getitem__(self, node: int) -> np.ndarray:
        return self.p


@dataclass(frozen=True)
class NodeTries:
    """One node under a rule whose every coin rejects.

    Attributes:
        verdict: the rule's; flips: how many coins it asked for.
        accept_prob: the chance of each child once those before it were rejected, [k]; 0 where it
            has no coin.
        residual: what the first draw was from, as probabilities [V]; None where nothing was drawn.
    """

    verdict: Verdict
    flips: int
    accept_prob: np.ndarray
    residual: np.ndarray | None

    @property
    def acceptance(self) -> np.ndarray:
        """The chance of each child to be the accepted one, [k]: by its coin, or 1 for the one a
        rule took without."""
        if self.flips:
            # A child is reached if those before it were rejected.
            reached = np.cumprod(np.append(1.0, 1 - self.accept_prob))[:-1]
            return reached * self.accept_prob
        accepted = np.zeros(len(self.accept_prob))
        accepted[[child - 1 for child in self.verdict.path[:1]]] = 1.0
        return accepted


def try_children(
    rule: Verifier,
    p: np.ndarray,
    q: np.ndarray,
    children: Sequence[int],
    scheme: str,
    rng: Randomness,
    start: int = 0,
    answer: int | None = None,
) -> NodeTries:
    """Run a rule on one node with the given children while every coin rejects.

    Args:
        rule: the rule.
        p, q: the target's and the draft's row, [V].
        children: tokens in drawing order; scheme: how they were drawn.
        rng, answer: as for `AlwaysReject`.
        start: absolute position of the node, for noise that is keyed by position.
    """
    tree = TokenTree(0, start=start, scheme=scheme)
    tree.draft_distributions[0] = q
    for token in children:
        tree.add(0, token)
    # No coin accepts, so the rule shows the chance of every child and what it draws from at last.
    rejecting = AlwaysReject(rng, answer)
    verdict = rule(tree, SameRow(p), rejecting)
    chances = np.zeros(len(children))
    for child, coin in enumerate(verdict.coin[1:]):
        if coin is not None:
            chances[child] = verdict.accept_prob[child + 1] or 0.0
    weights = rejecting.weights
    if weights is not None:
        weights = weights / weights.sum()
    return NodeTries(verdict, rejecting.flips, chances, weights)


def accepted_within(
    rule: Verifier,
    p: np.ndarray,
    q: np.ndarray,
    widths: Sequence[int],
    rng: Randomness,
    position: int,
) -> np.ndarray:
    """The chance that one of the first k children is accepted, [widths]; nan where a rule takes
    fewer children.

    It is an expectation over the rule's coins, or over its first draw where it throws none. The
    children are drawn as the rule asks for.

    Args:
        rule, p, q: as for `try_children`.
        widths: rising numbers of children.
        rng: where children and noise come from.
        position: absolute position of the children.
    """
    scheme = rule.schemes[0]
    children = draw_children(q, 1 if rule.chain_only else widths[-1], scheme, rng, position)

    def acceptance(count: int) -> np.ndarray:
        first = children[:count]
        if scheme == "top-draw":  # fewer children are no part of more
            first = draw_children(q, count, scheme, rng, position)
        return _acceptance(rule, p, q, first, scheme, rng, position - 1)

    counts = np.array(widths)
    if rule.depends_on_siblings or not rule.lossless:
        # What becomes of a child depends on those after it.
        within = np.array([acceptance(width).sum() for width in widths])
    else:
        accepted = np.cumsum(acceptance(len(children)))
        within = accepted[np.minimum(counts, len(accepted)) - 1]
    if rule.chain_only:
        return np.where(counts > 1, np.nan, within)
    return within


def _acceptance(
    rule: Verifier,
    p: np.ndarray,
    q: np.ndarray,
    children: Sequence[int],
    scheme: str,
    rng: Randomness,
    start: int,
) -> np.ndarray:
    """The chance of each child to be the accepted one, [k]; of a rule that looks for its first
    draw, over all draws."""
    tries = try_children(rule, p, q, children, scheme, rng, start)
    if tries.flips or tries.residual is None or rule.shared_noise or not rule.lossless:
        return tries.acceptance
    # The mean over the target's first draw; a token that is no child accepts nothing.
    accepted = np.zeros(len(children))
    for token in set(children):
        tries = try_children(rule, p, q, children, scheme, rng, start, token)
        accepted += p[token] * tries.acceptance
    return accepted
