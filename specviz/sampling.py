"""Sampling schemes: how the children of a node are drawn from the draft's distribution q.

Verifiers divide by the probability with which a token was drawn, so each of these is exact: no half precision, no
re-sorting, nothing dropped once it is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .distributions import Blend, Ranked
from .randomness import FEW, Randomness, first_arrivals, smallest

SCHEMES = ("iid", "distinct", "top", "race")


def draw_children(q: np.ndarray, count: int, scheme: str, rng: Randomness, position: int) -> list[int]:
    """Draw up to `count` child tokens after a node.

    Args:
        q: the draft's distribution after the node, float64 [V].
        count: how many children are wanted; the schemes without replacement give at most V.
        scheme: "iid", "distinct", "top" or "race".
        rng: where chance comes from.
        position: absolute position of the children in the text, the key of a race's noise.

    Returns:
        Token ids in the order in which a verifier must try them; none from a row without mass.

    >>> from specviz.randomness import Seeded
    >>> draw_children(np.array([0.1, 0.6, 0.3]), 2, "top", Seeded(0), position=1)
    [1, 2]
    """
    if q[q.argmax()] <= 0:
        return []
    if isinstance(q, Blend) and scheme in ("iid", "distinct"):
        return _from_several(q, count, scheme, rng)
    if scheme == "iid":
        return [rng.draw(q) for _ in range(count)]
    if scheme == "distinct":
        return rng.draw_apart(q, count)
    if scheme == "top":
        return most_probable(q, count)
    if scheme == "race":
        return first_arrivals(q, rng.noise(position, len(q)), count).tolist()
    raise ValueError(f"scheme must be one of iid, distinct, top, race; got {scheme!r}.")


def children_of(q: np.ndarray, wanted: int, sparse: bool) -> int:
    """How many children to draw from a row: where it is `sparse`, no more than it has tokens."""
    return min(wanted, int(np.count_nonzero(q))) if sparse else wanted


def without(d: np.ndarray, drawn: list[int]) -> np.ndarray:
    """The distribution of the next child drawn without replacement, float64 [V].

    That is d without the token drawn last; where d is used up, uniform on all tokens not drawn yet (Sequoia,
    algorithm 2). This is the law that children were drawn by, and so the one a rule must compare with.

    Args:
        d: the distribution from which the last of `drawn` was drawn.
        drawn: every token drawn so far.
    """
    rest = d.copy()
    rest[drawn[-1]] = 0.0
    total = rest.sum()
    if total == 0:
        rest[:] = 1.0
        rest[drawn] = 0.0
        total = len(rest) - len(set(drawn))
    if total > 0:
        rest /= total
    return rest  # all zeros once the whole vocabulary was drawn


class SequentialProposal:
    """The distribution by which each child of a node was drawn, one after the other: what a rule must compare it with.

    Where several drafters fill a tree their rows take turns, those that have nothing left to offer passed over. With
    the scheme "iid" each keeps its whole distribution; otherwise they draw from one pool, and every row loses what was
    drawn.

    Args:
        q: the draft's distribution after the node, float64 [V], perhaps a `Blend`.
        scheme: how the children were drawn.

    Attributes:
        row: the distribution of the next child, float64 [V]; made when it is asked for.

    >>> proposal = SequentialProposal(np.array([0.5, 0.25, 0.25]), "distinct")
    >>> proposal.took(0)
    >>> proposal.row.tolist()
    [0.0, 0.5, 0.5]
    """

    def __init__(self, q: np.ndarray, scheme: str) -> None:
        self.q, self.iid = q, scheme == "iid"
        self._parts = q.parts if isinstance(q, Blend) else (q,)
        self._turns = q.turns if isinstance(q, Blend) and self.iid else None
        self._drawn: list[int] = []
        self._last: np.ndarray | None = None  # the distribution of the previous child, where there was one
        self._row: np.ndarray | None = None
        self._part = -1

    @property
    def row(self) -> np.ndarray:
        """The law of the next child, float64 [V]."""
        if self._row is None:
            self._row = self._next()
        return self._row

    @property
    def part(self) -> int:
        """The number of the drafter whose turn it is."""
        _ = self.row
        return self._part

    def took(self, token: int) -> None:
        """Go on to the next child; `token` is the one that was drawn from `row`."""
        self._last, self._row = self.row, None
        self._drawn.append(token)

    def _next(self) -> np.ndarray:
        if len(self._parts) == 1:
            self._part = 0
            return self._parts[0] if self.iid or self._last is None else without(self._last, self._drawn)
        for _ in self._parts:
            self._part = (self._part + 1) % len(self._parts)
            if self._turns is not None and len(self._drawn) < len(self._turns):
                self._part = self._turns[len(self._drawn)]
            row = self._parts[self._part].copy()
            if not self.iid:
                row[self._drawn] = 0.0
            if (total := row.sum()) > 0:
                return row / total
        rest = np.ones(len(self.q))
        rest[self._drawn] = 0.0
        return rest / max(rest.sum(), 1.0)


def whose(q: np.ndarray, scheme: str, tokens: Sequence[int]) -> list[int | None]:
    """The number of the drafter that each child of a node came from; None where one alone fills the tree.

    Among most probable ones and arrivals of a race there are no turns: they count for the drafter with the highest
    probability.
    """
    if not isinstance(q, Blend):
        return [None] * len(tokens)
    if scheme in ("top", "race"):
        return [int(np.argmax([part[token] for part in q.parts])) for token in tokens]
    parts: list[int | None] = []
    offers = SequentialProposal(q, scheme)
    for token in tokens:
        parts.append(offers.part)
        offers.took(token)
    return parts


def _from_several(q: Blend, count: int, scheme: str, rng: Randomness) -> list[int]:
    offers, drawn = SequentialProposal(q, scheme), []
    for _ in range(count if scheme == "iid" else min(count, len(q))):
        drawn.append((rng.draw(offers.row), offers.part))
        offers.took(drawn[-1][0])
    if q.merge and scheme == "iid":  # who drew a token first has it
        kept = dict(reversed(drawn))
        drawn = [(token, kept[token]) for token in dict.fromkeys(token for token, _ in drawn)]
        q.turns = tuple(part for _, part in drawn)
    return [token for token, _ in drawn]


class ChildSampler:
    """The children of one node drawn one by one, for builders that decide between two of them.

    Args:
        q: the draft's distribution after the node, float64 [V].
        scheme: "distinct", "top" or "race".
        rng: where chance comes from.
        position: absolute position of the children in the text.

    Attributes:
        left: the draft's mass on the tokens not drawn yet; there are no further children once it is 0.
    """

    def __init__(self, q: np.ndarray, scheme: str, rng: Randomness, position: int) -> None:
        self.q, self.scheme, self.rng, self.position = q, scheme, rng, position
        self.left = 1.0 if q.any() else 0.0
        self._rest = q.copy()
        self._offers = SequentialProposal(q, scheme) if isinstance(q, Blend) and scheme == "distinct" else None
        self._order: list[int] = []
        self._drawn = 0

    def draw(self) -> int:
        """The next child's token."""
        if self._offers is not None:
            token = self.rng.draw(self._offers.row)
            self._offers.took(token)
        elif self.scheme == "distinct":
            token = self.rng.draw(self._rest)
        else:
            if self._drawn == len(self._order):
                self._order = draw_children(self.q, 2 * self._drawn + 4, self.scheme, self.rng, self.position)
            token = self._order[self._drawn]
        self._drawn += 1
        self._rest[token] = 0.0
        self.left = float(self._rest.sum())
        return token


def most_probable(q: np.ndarray, count: int) -> list[int]:
    """The `count` most probable tokens, most probable first; ties go to the lower id."""
    if isinstance(q, Ranked) and count <= len(q.ranked):
        return q.ranked[:count]
    if count > min(FEW, len(q)):
        return smallest(-q, count).tolist()
    rest, found = q.copy(), []
    for _ in range(count):
        found.append(int(rest.argmax()))
        rest[found[-1]] = -1.0
    return found
