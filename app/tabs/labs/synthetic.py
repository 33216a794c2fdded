"""Dynamic trees when only an acceptance vector is known.

A static shape needs the vector alone. A dynamic one looks at rows, so rows are made: a position is a blend of the
vector itself and of a number of equally likely tokens, and that number is drawn so that the blends average to the
vector. The target agrees with the draft on the tokens of the vector and takes its own draw (target-match on the most
probable children), so a token is accepted with exactly its probability in the row. What the vector leaves is spread
over tokens that the target never takes.

Nothing of this is measured. It shows what looking at rows is worth when they differ by so much, and that it is worth
nothing when they do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from specviz.builders.base import TreeBuilder
from specviz.builders.optimal import falling
from specviz.randomness import Randomness
from specviz.tree import TokenTree, Topology
from specviz.verifiers.base import Verdict

REST = 1024  # tokens that share what the vector leaves
ROOM = 1024  # tokens that the text may still grow by: more than any tree is deep


class Grown(NamedTuple):
    """A tree of one position: its shape, each node's chance to be accepted, [n], and the draft passes it took."""

    shape: Topology
    chance: tuple[float, ...]
    passes: int

    @property
    def tokens(self) -> float:
        """Expected tokens of the pass, the target's own included."""
        return sum(self.chance)


class Source:
    """Rows whose mean is an acceptance vector.

    Args:
        acceptance: P[k], numbers from 0 to 1 with a sum of at most 1; where it rises, neighbours are averaged.
        spread: from 0, where every distribution is the vector, to 1, where each is uniform over some number of tokens.
        rng: where chance comes from.

    Attributes:
        vector: the mean of the rows over the tokens that can be accepted.

    Raises:
        ValueError: if the vector sums to more than 1 or `spread` is out of range.
    """

    def __init__(self, acceptance: tuple[float, ...], spread: float, rng: Randomness) -> None:
        if not 0 <= spread <= 1:
            raise ValueError(f"spread must be a number from 0 to 1; got {spread!r}.")
        if sum(acceptance) > 1 + 1e-6:
            raise ValueError(f"acceptance must sum to at most 1; got {sum(acceptance):g}.")
        self.spread, self.rng, self.vector = spread, rng, falling(acceptance)
        head = np.array(self.vector)
        left = max(0.0, 1 - head.sum())
        ranks = np.arange(1, len(head) + 1)
        # A falling vector is a blend of "the first k tokens, equally likely", with these weights; the last is the rest.
        self.weights = np.append(ranks * (head - np.append(head[1:], 0.0)), left).clip(0)
        self.mean = np.concatenate([head, np.full(REST, left / REST)])

    def row(self) -> np.ndarray:
        """The draft's distribution at a new position, float64 [V]."""
        if self.spread == 0:
            return self.mean.copy()
        kind, ranks = self.rng.draw(self.weights), len(self.vector)
        few = slice(0, kind + 1) if kind < ranks else slice(ranks, None)
        row = (1 - self.spread) * self.mean
        row[few] += self.spread / len(row[few])
        return row


class Draft:
    """A draft session over such rows; `passes` counts how often it was asked."""

    sparse = False

    def __init__(self, source: Source) -> None:
        self.source, self.tree, self.passes = source, TokenTree(0, scheme="top"), 0
        self.context: Sequence[int] = (0,)

    def expand(self, nodes):
        """Synthetic rows after `nodes`."""
        self.passes += 1
        for node in nodes:
            self.tree.draft_distributions[node] = self.source.row()
        return [self.tree.draft_distributions[node] for node in nodes]

    def plain(self, node, q):
        """The row itself: a synthetic draft has temperature 1."""
        return q


def grow(
    builder: TreeBuilder, acceptance: tuple[float, ...], spread: float, steps: int, rng: Randomness
) -> Iterator[Grown]:
    """The trees of a run, position after position.

    Args:
        builder: any that reads the draft; what it learns from step to step it learns here as well.
        acceptance, spread, rng: as for `Source`.
        steps: how many positions.

    Raises:
        ValueError: as for `Source`, and for a builder that reads no distributions.
    """
    if not builder.reads_draft:
        raise ValueError(f"{builder.title} does not read the draft's distributions, so it has no synthetic tree.")
    source = Source(acceptance, spread, rng)
    state = builder.start()
    for _ in range(steps):
        draft = Draft(source)
        tree = builder(draft, rng, "top", ROOM, state)
        accepted = _accepted(tree, len(source.vector))
        yield Grown(tree.topology, _chances(tree, accepted), draft.passes)
        path = _walk(tree, accepted, rng)
        state = builder.learn(state, tree, Verdict(path, 0, (), (), ()))


def _accepted(tree: TokenTree, ranks: int) -> list[float]:
    """The chance of each node once its parent is accepted, [n]."""
    probs = tree.draft_prob()
    below = zip(probs[1:], tree.tokens[1:], strict=True)
    return [1.0, *(q if q is not None and token < ranks else 0.0 for q, token in below)]


def _chances(tree: TokenTree, accepted: list[float]) -> tuple[float, ...]:
    chances = [1.0]
    for node, parent in enumerate(tree.parents[1:], 1):
        chances.append(chances[parent] * accepted[node])
    return tuple(chances)


def _walk(tree: TokenTree, accepted: list[float], rng: Randomness) -> tuple[int, ...]:
    """The path that the target's own draws take through the tree."""
    path, node = [], 0
    while children := tree.children[node]:
        shares = np.array([accepted[child] for child in children])
        choice = rng.draw(np.append(shares, max(0.0, 1 - shares.sum())))
        if choice == len(children):
            break
        path.append(node := children[choice])
    return tuple(path)
