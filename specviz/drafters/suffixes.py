"""A suffix array over tokens: where a sequence occurs in a long text, by binary search (Manber and Myers 1993).

Suffixes are sorted by their first `DEPTH` tokens, by doubling: once they are sorted by k tokens, the pair of a suffix's
rank and the rank k tokens further sorts them by 2 k.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

DEPTH = 16


class SuffixArray:
    """Where sequences of at most `DEPTH` tokens occur in a text.

    Args:
        text: token ids, int [n]; negative ones are breaks that no sequence holds.

    Attributes:
        order: the places of the text, sorted by what stands there.
    """

    def __init__(self, text: np.ndarray) -> None:
        self.text = text
        rank = (text.astype(np.int64) - min(int(text.min(initial=0)), 0)) + 1
        width = 1
        while True:
            key = rank * (int(rank.max(initial=0)) + 1)
            if width < len(rank):
                key[:-width] += rank[width:]
            order = np.argsort(key, kind="stable") if width > 1 else np.argsort(key)
            width *= 2
            if width >= DEPTH:
                break
            fresh = np.empty(len(rank), dtype=np.int64)
            ordered = key[order]
            fresh[order] = 1 + np.concatenate([[0], np.cumsum(ordered[1:] != ordered[:-1])])
            rank = fresh
        self.order = order.astype(np.int32)

    def find(self, sequence: Sequence[int]) -> tuple[int, int]:
        """The part of `order` whose places begin with `sequence`, as (first, one past the last)."""
        return self._bound(tuple(sequence), False), self._bound(tuple(sequence), True)

    def _bound(self, sequence: tuple[int, ...], past: bool) -> int:
        low, high, length = 0, len(self.order), len(sequence)
        while low < high:
            middle = (low + high) // 2
            place = self.order[middle]
            here = tuple(self.text[place : place + length].tolist())
            if here < sequence or (past and here == sequence):
                low = middle + 1
            else:
                high = middle
        return low

    def longest(self, tokens: Sequence[int], most: int = DEPTH) -> tuple[int, int, int]:
        """The longest end of `tokens` that occurs: (its length, first, one past the last), length 0 for none.

        If an end of m tokens occurs, so do all shorter ones, so the length is found by halving.
        """
        low, high, best = 0, min(most, DEPTH, len(tokens)), (0, 0, 0)
        while low < high:
            length = (low + high + 1) // 2
            first, last = self.find(tokens[len(tokens) - length :])
            if first < last:
                low, best = length, (length, first, last)
            else:
                high = length - 1
        return best

    def following(self, length: int, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """What follows a sequence of `length` tokens: the places that hold it, and the token after each, [m]."""
        places = self.order[first:last]
        places = places[places + length < len(self.text)]
        tokens = self.text[places + length]
        return places[tokens >= 0], tokens[tokens >= 0]
