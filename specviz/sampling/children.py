"""Sampling schemes: how the children of a node are drawn from the draft's distribution q.

Verifiers divide by the probability with which a token was drawn, so each of these is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .distributions import Mixture, RowWithTopTokens
from .randomness import Randomness, argsmallest, first_arrivals

ARGMAX_LIMIT = 8  # tokens that are found one by one faster than by a partition


def draw_children(
    q: np.ndarray,
    count: int,
    scheme: str,
    rng: Randomness,
    position: int,
    sparse: bool = False,
) -> list[int]:
    """Draw up to `count` child tokens after a node, in the order in which a verifier must try them.

    Args:
        q: the draft's distribution after the node, float64 [V]; without mass there are no children.
        count: how many children are wanted; the schemes without replacement give at most V.
        scheme: one of `strategy.SCHEMES`.
        rng: where chance comes from.
        position: absolute position of the children in the text, the key of a race's noise.
        sparse: whether no child is drawn beyond the tokens that have mass.
    """
    if sparse:
        count = min(count, int(np.count_nonzero(q)))
    if count < 1 or q[q.argmax()] <= 0:  # the drafter has nothing to say after this node
        return []
    if scheme in ("iid", "distinct"):
        return _draw_one_by_one(q, count, scheme, rng)
    if scheme == "top":
        return most_probable(q, count)
    if scheme == "top-draw":
        # The last child is a draw: with no draw at all a rule would have no chance to compare with.
        top = most_probable(q, min(count, len(q)) - 1)
        return [*top, rng.draw(without(q, top))]
    # A race: every token arrives at a time that depends on its noise and q, the earliest first.
    return first_arrivals(q, rng.noise(position, len(q)), count).tolist()


def _draw_one_by_one(q: np.ndarray, count: int, scheme: str, rng: Randomness) -> list[int]:
    """Each child from what those before it left. The drafters of a mixture draw in turn; where they
    merge equal tokens, the first drafter keeps the token."""
    proposal = SequentialProposal(q, scheme)
    merges = isinstance(q, Mixture) and q.merge and scheme == "iid"
    tokens: list[int] = []
    drawn_by: list[int] = []
    token = -1
    for number in range(count if scheme == "iid" else min(count, len(q))):
        if number:  # the row behind the last child would be computed for nobody
            proposal.advance(token)
        token = rng.draw(proposal.row)
        # A merged token still used up its drafter's turn; `drawn_by` says so to whoever verifies.
        if not (merges and token in tokens):
            tokens.append(token)
            drawn_by.append(proposal.part)
    if isinstance(q, Mixture) and merges:
        q.drawn_by = tuple(drawn_by)
    return tokens


def without(d: np.ndarray, drawn: Sequence[int]) -> np.ndarray:
    """The distribution of the next child, [V], where `drawn` were drawn without replacement, the
    last from d.

    Once d is used up, all tokens not drawn yet are equally likely (Sequoia, algorithm 2).
    """
    row = d.copy()
    drawn = list(drawn)
    row[drawn] = 0.0
    total = row.sum()
    # A rule must be able to tell the chance of every child, those beyond q's tokens as well.
    if total == 0:
        row[:] = 1.0
        row[drawn] = 0.0
        total = max(row.sum(), 1.0)
    return np.divide(row, total, out=row)


class SequentialProposal:
    """The distribution from which each child of a node was drawn, one after the other: what a rule
    compares it with.

    Several drafters take turns; those that have nothing left to propose are passed over. With the
    scheme "iid" each keeps its whole distribution; otherwise they draw from one pool, and every row
    loses what was drawn.

    Args:
        q: the draft's distribution after the node, float64 [V], perhaps a `Mixture`.
        scheme: how the children were drawn.

    Attributes:
        row, part: the distribution of the current child, float64 [V], and the number of the drafter
            that proposes it.
    """

    def __init__(self, q: np.ndarray, scheme: str) -> None:
        # Without replacement all components share one pool: what one drew, none draws again.
        self._without_replacement = scheme != "iid"
        self._parts = q.components if isinstance(q, Mixture) else (q,)
        self._drawn_by = q.drawn_by if isinstance(q, Mixture) and scheme == "iid" else None
        self._drawn: list[int] = []
        self.part = 0
        self.row = self._parts[0]
        if len(self._parts) > 1:
            self._next_component(0)

    def advance(self, token: int) -> None:
        """Go on to the next child; `token` is the one that was drawn from `row`."""
        self._drawn.append(token)
        if len(self._parts) > 1:
            self._next_component(self.part + 1)
        elif self._without_replacement:
            self.row = without(self.row, self._drawn)

    def _next_component(self, first: int) -> None:
        """Set `row` and `part` to the next drafter, from number `first` on, that has anything
        left."""
        if self._drawn_by is not None and len(self._drawn) < len(self._drawn_by):
            first = self._drawn_by[len(self._drawn)]  # as merged tokens were drawn
        for turn in range(len(self._parts)):
            part = (first + turn) % len(self._parts)
            row = self._parts[part].copy()
            if self._without_replacement:
                row[self._drawn] = 0.0
            total = row.sum()
            if total > 0:
                self.part = part
                self.row = row / total
                return
        # Every component is used up: all tokens that were not drawn are equally likely.
        self.row = without(np.zeros_like(self.row), self._drawn)


def component_of_children(q: Mixture, scheme: str, tokens: Sequence[int]) -> list[int]:
    """The number of the drafter that each child of a node came from.

    Among "top", "top-draw" and "race" there are no turns: a child counts for the drafter with the
    highest probability.
    """
    if scheme in ("top", "top-draw", "race"):
        probs = np.array([part[tokens] for part in q.components])
        return probs.argmax(axis=0).tolist()
    proposal = SequentialProposal(q, scheme)
    parts: list[int] = []
    for token in tokens:
        parts.append(proposal.part)
        proposal.advance(token)
    return parts


def iter_children(q: np.ndarray, scheme: str, rng: Randomness, position: int) -> Iterator[int]:
    """The children of `draw_children` one by one, each drawn when it is asked for.

    Whoever asks must stop before q is used up: at most V children without replacement, and with
    "top" and "race" no more than q has tokens.
    """
    if scheme == "distinct":
        proposal = SequentialProposal(q, scheme)
        while True:
            yield (token := rng.draw(proposal.row))
            proposal.advance(token)
    # The other schemes draw all children at once. "top" and "race" give the same children again,
    # so asking for twice as many draws nothing anew.
    end = 0
    while True:
        begin = end
        end = 2 * end + 4
        yield from draw_children(q, end, scheme, rng, position)[begin:]


def most_probable(q: np.ndarray, count: int) -> list[int]:
    """The `count` most probable tokens, most probable first; ties go to the lower id."""
    if isinstance(q, RowWithTopTokens) and count <= len(q.ranked):
        return q.ranked[:count]
    if count > ARGMAX_LIMIT:
        return argsmallest(-q, count).tolist()
    remaining = q.copy()
    tokens: list[int] = []
    for _ in range(min(count, len(q))):
        tokens.append(int(remaining.argmax()))
        remaining[tokens[-1]] = -1.0  # below every probability, also below 0
    return tokens
