"""The laws: how the children of a node are drawn from the draft's row q.

Verifiers divide by the probability with which a token was drawn, so each of these is exact: no half precision, no
re-sorting, nothing dropped once it is drawn.
"""

from __future__ import annotations

import numpy as np

from .randomness import Randomness, first_arrivals


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
    rest, drawn = q.copy(), []
    for _ in range(min(count, len(q))):
        if not rest.any():
            # q is used up: go on uniformly among the other tokens, as the verifier will assume (Sequoia, algorithm 2).
            rest = np.ones(len(q))
            rest[drawn] = 0.0
        drawn.append(rng.draw(rest))
        rest[drawn[-1]] = 0.0
    return drawn


def most_probable(q: np.ndarray, count: int) -> list[int]:
    """The `count` most probable tokens, most probable first; ties go to the lower id."""
    if count == 1:
        return [int(np.argmax(q))]
    if count >= len(q):
        return np.argsort(-q, kind="stable").tolist()
    edge = -np.partition(-q, count - 1)[count - 1]
    above = np.flatnonzero(q > edge)
    level = np.flatnonzero(q == edge)[: count - len(above)]
    picked = np.concatenate([above, level])
    return picked[np.argsort(-q[picked], kind="stable")].tolist()
