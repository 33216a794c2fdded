"""The laws: how the children of a node are drawn from the draft's row q.

Verifiers divide by the probability with which a token was drawn, so each of these is exact: no half precision, no
re-sorting, nothing dropped once it is drawn.
"""

from __future__ import annotations

import numpy as np

from .distributions import Ranked
from .randomness import Randomness, first_arrivals, smallest


def draw_children(q: np.ndarray, count: int, law: str, rng: Randomness, position: int) -> list[int]:
    """Draw up to `count` child tokens after a node.

    Args:
        q: the draft's row after the node, float64 [V].
        count: how many children are wanted; the laws without replacement give at most V.
        law: "iid", "distinct", "top" or "race".
        rng: where chance comes from.
        position: absolute position of the children in the text, the key of a race's noise.

    Returns:
        Token ids in the order in which a verifier must try them.
    """
    if law == "iid":
        return [rng.draw(q) for _ in range(count)]
    if law == "distinct":
        return _without_replacement(q, count, rng)
    if law == "top":
        return most_probable(q, count)
    if law == "race":
        return first_arrivals(q, rng.noise(position, len(q)), count).tolist()
    raise ValueError(f"law must be one of iid, distinct, top, race; got {law!r}.")


def _without_replacement(q: np.ndarray, count: int, rng: Randomness) -> list[int]:
    # The laws of `without`, not renormalised: a draw needs no more.
    rest, drawn, left = q.copy(), [], 1.0
    for _ in range(min(count, len(q))):
        if left < 1e-6 and not rest.any():
            rest[:] = 1.0
            rest[drawn] = 0.0
        token = rng.draw(rest)
        drawn.append(token)
        left -= float(rest[token])
        rest[token] = 0.0
    return drawn


def without(d: np.ndarray, drawn: list[int]) -> np.ndarray:
    """The law of the next child drawn without replacement, float64 [V].

    That is d without the token drawn last; where d is used up, uniform on all tokens not drawn yet (Sequoia,
    algorithm 2). This is the law that children were drawn by, and so the one a rule must compare with.

    Args:
        d: the law from which the last of `drawn` was drawn.
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


class Siblings:
    """The children of one node drawn one by one, for builders that decide between two of them.

    Args:
        q: the draft's row after the node, float64 [V].
        law: "distinct", "top" or "race".
        rng: where chance comes from.
        position: absolute position of the children in the text.

    Attributes:
        left: the draft's mass on the tokens not drawn yet; there are no further children once it is 0.
    """

    def __init__(self, q: np.ndarray, law: str, rng: Randomness, position: int) -> None:
        self.q, self.law, self.rng, self.position = q, law, rng, position
        self.left = 1.0
        self._rest = q.copy()
        self._order: list[int] = []
        self._drawn = 0

    def draw(self) -> int:
        """The next child's token."""
        if self.law == "distinct":
            token = self.rng.draw(self._rest)
        else:
            if self._drawn == len(self._order):
                self._order = draw_children(self.q, 2 * self._drawn + 4, self.law, self.rng, self.position)
            token = self._order[self._drawn]
        self._drawn += 1
        self._rest[token] = 0.0
        self.left = float(self._rest.sum())
        return token


def most_probable(q: np.ndarray, count: int) -> list[int]:
    """The `count` most probable tokens, most probable first; ties go to the lower id."""
    if isinstance(q, Ranked) and count <= len(q.ranked):
        return q.ranked[:count]
    return smallest(-q, count).tolist()
