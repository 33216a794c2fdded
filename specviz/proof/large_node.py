"""The exact output distribution of one node at full size: a vocabulary of hundreds of tokens and up to 128 children.

Enumeration over small trees proves the mathematics of a rule; this proves its arithmetic at the size that users run.
The rule's own code is asked, and no chance is left to sampling where it can be summed:

- Given the children, the distribution of the first token written is a product of the rule's own coins: child i is
  accepted once those before it were rejected, and after the last a token is drawn from what the rule has left over.
- Independent children: a coin depends on the child's place and token only. Every token is put in every place, and the
  distribution is summed over all of them.
- Children without replacement: one more child must not change the distribution. Some are drawn with a fixed seed; the
  distribution given them is compared with its mean over all tokens that the next one can be.
- Rules without coins: the distribution is the same whatever the children are.
- Keyed rules have no distribution to sum: what is written must be argmin E / p.

Beside that whole drawings, children and coins from a fixed seed, are counted and compared with p by a chi-square.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..distributions import Distributions, Sampling, total_variation
from ..randomness import Randomness, Seeded
from ..sampling import draw_children
from ..strategy import REGISTRIES
from ..tree import TokenTree
from ..verifiers.base import Verdict, Verifier
from .hard_distributions import KINDS, distributions_of_kind
from .lossless import Row

SIZES = ((200, 128), (1000, 16))  # tokens V and children k
DRAWINGS = 200  # of children and coins, that are counted on each kind of distributions
FARTHEST = 5.0  # standard deviations that a chi-square may be off: by chance once in a million
BINS = 40  # tokens are counted together until a bin expects this part of all drawings


@dataclass(frozen=True)
class NodeResult:
    """The result of a rule at one size.

    Attributes:
        error: the largest total variation between the exact distribution of a node and the target, over all kinds of
            distributions; None for keyed rules.
        runs: how often the rule was asked.
        difference: what is wrong with the counted drawings, or None.
    """

    error: float | None
    runs: int
    difference: str | None


@dataclass(frozen=True)
class Large:
    """A rule, a sampling scheme and a size to be proven; see `one_large_node`."""

    rule: Verifier
    scheme: str
    vocab: int
    k: int
    drawings: int = DRAWINGS

    @property
    def strategies(self) -> tuple[Verifier]:
        """The rule alone."""
        return (self.rule,)

    def prove(self) -> Row:
        """What is declared and what is found."""
        rule, one = self.rule, one_large_node(self.rule, self.scheme, self.vocab, self.k, self.drawings)
        return Row(
            f"V = {self.vocab}, k = {self.k}", rule.name, self.scheme, 0.0 if rule.greedy_only else 1.0, rule.lossless,
            True, one.error, "one large node", one.runs, f"Distributions that are {', '.join(KINDS)}.", one.difference,
        )  # fmt: skip


def cases(
    verifiers: Sequence[str] | None = None, sizes: Sequence[tuple[int, int]] = SIZES, drawings: int = DRAWINGS
) -> Iterator[Large]:
    """Each rule with each sampling scheme it supports at each size.

    Args:
        verifiers: menu names; None means all.
        sizes: tokens V and children k; drawings: how many are counted on each kind of distributions.
    """
    for name in verifiers or (name for name, cls in REGISTRIES["verifier"].items() if not cls.alone):
        rule = REGISTRIES["verifier"][name]()
        for scheme in rule.schemes[:1] if rule.chain_only else rule.schemes:
            for vocab, k in sizes:
                yield Large(rule, scheme, vocab, 1 if rule.chain_only else k, drawings)


def one_large_node(rule: Verifier, scheme: str, vocab: int, k: int, drawings: int = DRAWINGS) -> NodeResult:
    """Prove or refute a rule on one node, on every kind of distributions.

    Args:
        rule: the rule.
        scheme: how the children are drawn; vocab: V.
        k: how many children; 1 for rules that verify chains.
        drawings: how many are counted.
    """
    errors, runs, difference = [], 0, None
    for kind in KINDS:
        p, q = distributions_of_kind(kind, vocab, seed=0)
        if rule.greedy_only:  # at temperature 0 all mass is on one token
            p = np.eye(vocab)[p.argmax()]
        node = Node(rule, p, q, scheme)
        if not rule.shared_noise:
            errors.append(error_of_node(node, k))
        if rule.lossless and not rule.greedy_only:
            difference = difference or count(node, k, drawings)
        runs += node.runs
    return NodeResult(None if rule.shared_noise else float(np.max(errors)), runs, difference)


class Node:
    """One node under a rule: distributions p and q, and children that the caller chooses.

    Attributes:
        runs: how often the rule was asked.
    """

    def __init__(self, rule: Verifier, p: np.ndarray, q: np.ndarray, scheme: str) -> None:
        self.rule, self.p, self.q, self.scheme = rule, p, q, scheme
        self.runs = 0

    def verdict(self, children: Sequence[int], rng, start: int = 0) -> Verdict:
        """What the rule decides about these children, tokens in drawing order."""
        tree = TokenTree(0, start=start, scheme=self.scheme)
        for token in children:
            tree.add(0, token)
        tree.draft_distributions[0] = self.q
        self.runs += 1
        return self.rule(tree, SameEverywhere(self.p), rng)

    def rejections(self, children: Sequence[int]) -> tuple[np.ndarray, np.ndarray | None]:
        """The chance that each child's coin falls, given that those before it did not, [k], and what is drawn from once
        none did, [V]. A child that is not tried has chance 0; None where the rule threw no coin."""
        rng = _Rejecting()
        verdict = self.verdict(children, rng)
        tossed = [verdict.coin[child] is not None for child in range(1, len(children) + 1)]
        if children and not any(tossed):
            return np.zeros(len(children)), None
        chances = [verdict.accept_prob[child + 1] if tossed[child] else 0.0 for child in range(len(children))]
        return np.array(chances, dtype=float), rng.kept

    def distribution_given(self, children: Sequence[int]) -> np.ndarray:
        """The exact distribution of the first token written, given the children, float64 [V]."""
        written = np.zeros(len(self.p))
        chances, left = self.rejections(children)
        if left is None:
            return self._distribution_of_draws(children, written)
        reached = 1.0
        for token, chance in zip(children, chances, strict=True):
            written[token] += reached * chance
            reached *= 1 - chance
        return written + reached * left

    def _distribution_of_draws(self, children: Sequence[int], written: np.ndarray) -> np.ndarray:
        """The same for a rule without coins, by every answer to the first token it draws."""
        rng = _Rejecting()
        verdict = self.verdict(children, rng)
        if rng.probs is None:  # nor draws
            written[_first_token(verdict, children)] = 1.0
            return written
        left = rng.kept
        for token in np.flatnonzero(left):
            written[_first_token(self.verdict(children, _Rejecting(int(token))), children)] += left[token]
        return written


def error_of_node(node: Node, k: int) -> float:
    """The total variation between the exact distribution of a node with k children and the target."""
    children = draw_children(node.q, k, node.scheme, Seeded(1), 1)
    if node.rejections(children)[1] is None or node.scheme in ("top", "race"):
        return total_variation(node.distribution_given(children), node.p)
    return independent(node, k) if node.scheme == "iid" else one_more(node, children)


def independent(node: Node, k: int) -> float:
    """The error of the distribution summed over all k independent children and all coins."""
    tokens = np.flatnonzero(node.q)
    chances = np.zeros((k, len(node.q)))
    leftovers: list[np.ndarray] = []
    for turn in range(len(tokens)):
        children = np.roll(tokens, -turn)[np.arange(k) % len(tokens)]
        chances[np.arange(k), children], left = node.rejections(children.tolist())
        if left is not None:
            leftovers.append(left)
    mixed = draw_children(node.q, k, "iid", Seeded(1), 1)  # neither other tokens nor their order may matter
    apart = np.abs(node.rejections(mixed)[0] - chances[np.arange(k), mixed]).max()
    written, reached = np.zeros(len(node.q)), 1.0
    for chance in chances:
        written += reached * node.q * chance
        reached *= 1 - float(node.q @ chance)
    written += reached * np.mean(leftovers, axis=0)
    return max(total_variation(written, node.p), float(apart), float(reached * np.ptp(leftovers, axis=0).max()))


def one_more(node: Node, children: Sequence[int]) -> float:
    """The error that the first, the middle and the last child bring: how far each moves the distribution."""
    errors = []
    for place in sorted({0, len(children) // 2, len(children) - 1}):
        before = list(children[:place])
        following = _Rejecting(*before)  # answers the draws of those before, and keeps what the next is drawn from
        draw_children(node.q, place + 1, node.scheme, following, 1)
        left = following.kept
        after = sum(left[token] * node.distribution_given([*before, int(token)]) for token in np.flatnonzero(left))
        errors.append(total_variation(after, node.distribution_given(before) if place else node.p))
    return float(np.max(errors))


def count(node: Node, k: int, drawings: int) -> str | None:
    """What is wrong with `drawings` first tokens, children and coins drawn with fixed seeds; None where nothing is."""
    counts, rng = np.zeros(len(node.p)), Seeded(2)
    for place in range(drawings):
        children = draw_children(node.q, k, node.scheme, rng, place + 1)
        token = _first_token(node.verdict(children, rng, start=place), children)
        if node.rule.shared_noise:
            with np.errstate(divide="ignore"):
                winner = int((rng.noise(place + 1, len(node.p)) / node.p).argmin())
            if token != winner:
                return f"position {place + 1}: token {token} was written, and {winner} arrives first"
        counts[token] += 1
    off = far_off(counts, node.p) if drawings else 0.0
    return f"a chi-square over {drawings} drawings is {off:.1f} standard deviations off" if off > FARTHEST else None


def far_off(counts: np.ndarray, p: np.ndarray) -> float:
    """How many standard deviations too large a chi-square of counted tokens is (Wilson and Hilferty 1931).

    Args:
        counts: of each token, [V].
        p: the distribution that they should have.
    """
    order = np.argsort(-p, kind="stable")
    mass = np.cumsum(p[order])
    bins = np.minimum((mass - p[order] / 2) * BINS, BINS - 1).astype(int)
    wanted, drawn = (np.bincount(bins, each[order], BINS) for each in (p * counts.sum(), counts))
    if drawn[wanted == 0].any():
        return np.inf
    drawn, wanted = drawn[wanted > 0], wanted[wanted > 0]
    freedom = len(wanted) - 1
    if freedom == 0:
        return 0.0
    square = float(((drawn - wanted) ** 2 / wanted).sum())
    spread = 2 / (9 * freedom)
    return ((square / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5


def _first_token(verdict: Verdict, children: Sequence[int]) -> int:
    return int(children[verdict.path[0] - 1]) if verdict.path else int(verdict.bonus)


class _Rejecting(Randomness):
    """Randomness in which no coin falls; draws are answered in turn, and what the first unanswered draws from is kept.

    Args:
        answers: tokens for the first draws; where there are none, the likeliest token is the answer.
    """

    def __init__(self, *answers: int) -> None:
        self.answers = list(answers)
        self.probs: np.ndarray | None = None

    @property
    def kept(self) -> np.ndarray:
        """The distribution of the first draw that was not answered, as probabilities [V]."""
        if self.probs is None:
            raise ValueError("rule must draw a token after all tries are rejected; it drew none.")
        return self.probs / self.probs.sum()

    def flip(self, prob: float) -> tuple[bool, float]:
        return False, 1.0

    def draw(self, probs: np.ndarray) -> int:
        if self.answers:
            return self.answers.pop(0)
        if self.probs is None:
            self.probs = np.array(probs)
        return int(np.argmax(probs))

    def noise(self, position: int, size: int) -> np.ndarray:
        raise ValueError("rule must not use keyed noise in this proof. Count its draws instead.")


class SameEverywhere(Distributions):
    """Distributions of the target that are the same after every node."""

    sampling = Sampling()  # of distributions that are made already

    def __init__(self, p: np.ndarray) -> None:
        self.p = p

    def __getitem__(self, node: int) -> np.ndarray:
        return self.p
