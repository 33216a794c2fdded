"""Channel simulation: a sender with the target, a receiver with the draft, and the accepted index between them.

Both draw the same endless row of drafts from a seed they share. The sender finds the one that the target accepts, the
Poisson functional representation (Li and El Gamal 2018), and sends its index alone; the receiver draws as far and has
the token (Kobus and Gündüz 2025, sections 1 and 4). Indices become bits by a Tunstall code, whose inner nodes are the
draft tree (appendix C). p = target and q = draft, float64 [V].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..acceptance.vectors import expected_tokens
from ..builders.optimal import likeliest_tree
from ..errors import ParameterError
from ..randomness import Randomness
from ..tree import Topology

Rows = Callable[[Sequence[int]], np.ndarray]  # the tokens so far -> the distribution of the next, [V]
FIRST, MOST = 64, 1 << 22  # drafts that are drawn at first, and at most
DEEPEST = 64  # levels of a draft tree


class Drafts(NamedTuple):
    """The first drafts of a position in the order of their arrival: times, [n], and tokens, [n]."""

    times: np.ndarray
    tokens: np.ndarray


class Word(NamedTuple):
    """A codeword: its bits, and the indices that it stands for."""

    bits: str
    indices: tuple[int, ...]


def drafts(q: np.ndarray, rng: Randomness, position: int, count: int) -> Drafts:
    """The first `count` drafts of a position: independent draws from q that arrive at rate 1.

    Args:
        q: the draft's distribution, [V].
        rng: what both sides share; only its `noise` at `position` is used.
        position: absolute position in the text.
        count: how many; more of them begin with the same ones.
    """
    noise = rng.noise(position, 2 * count).reshape(count, 2)
    ends = q.cumsum()
    tokens = ends.searchsorted(-np.expm1(-noise[:, 1]) * ends[-1], side="right")
    return Drafts(noise[:, 0].cumsum(), np.minimum(tokens, np.flatnonzero(q)[-1]))


def accepted_index(p: np.ndarray, q: np.ndarray, rng: Randomness, position: int) -> int:
    """Which of the drafts of a position the target accepts, from 1: the one with the least time * q / p.

    Its token has the distribution p. Drafts are drawn until none that is still to come can be less.

    Raises:
        ValueError: if the draft is so far from the target that more than `MOST` drafts would be needed.
    """
    over = np.divide(p, q, out=np.zeros_like(p), where=q > 0)
    count = FIRST
    while count <= MOST and not (p[q <= 0] > 0).any():
        times, tokens = drafts(q, rng, position, count)
        with np.errstate(divide="ignore"):
            scores = times / over[tokens]
        best = int(scores.argmin())
        if scores[best] * over.max() <= times[-1]:
            return best + 1
        count *= 4
    raise ParameterError(
        "q", "give every token of the target a chance", "a draft that misses some", "Mix in some of p."
    )


def send(target: Rows, draft: Rows, prompt: Sequence[int], count: int, rng: Randomness) -> tuple[list[int], list[int]]:
    """What a sender writes and sends: `count` tokens after a prompt, and the accepted index of each, from 1.

    Args:
        target, draft: both models.
        prompt: token ids that both sides have.
        count: how many tokens.
        rng: what both sides share.
    """
    text, indices = list(prompt), list[int]()
    for position in range(len(prompt), len(prompt) + count):
        q = draft(text)
        indices.append(accepted_index(target(text), q, rng, position))
        text.append(int(drafts(q, rng, position, indices[-1]).tokens[-1]))
    return text[len(prompt) :], indices


def receive(draft: Rows, prompt: Sequence[int], indices: Sequence[int], rng: Randomness) -> list[int]:
    """The text that a receiver makes of indices, without the target; the arguments are those of `send`."""
    text = list(prompt)
    for position, index in enumerate(indices, len(prompt)):
        text.append(int(drafts(draft(text), rng, position, index).tokens[-1]))
    return text[len(prompt) :]


@dataclass(frozen=True)
class TunstallCode:
    """Sequences of accepted indices as codewords of one length, the leaves of a Tunstall tree (appendix C).

    A step of speculative decoding is a codeword: its inner nodes are the root and the drafted tokens, and the sequence
    to a leaf is what the step writes. An index from m = len(shares) on is the last symbol of a sequence, since no tree
    drafts it; its excess follows the codeword in Elias' gamma code.

    Args:
        shares: the chance of index 1, 2, ..., and at last of m and all later ones; they sum to 1 and do not rise
            before the last.
        drafted: k, the number of drafted tokens.

    Raises:
        ParameterError: if `shares` has fewer than two numbers or does not sum to 1.

    >>> code = TunstallCode((0.6, 0.3, 0.1), 2)
    >>> [word.bits for word in code.encode([1, 1, 2, 1, 3])]
    ['001', '1001']
    >>> code.decode('0011001', 5)
    [1, 1, 2, 1, 3]
    """

    shares: tuple[float, ...]
    drafted: int

    def __post_init__(self) -> None:
        if len(self.shares) < 2 or not math.isclose(sum(self.shares), 1, abs_tol=1e-5):  # six digits are recorded
            raise ParameterError("shares", "be two or more numbers that sum to 1", self.shares)

    @cached_property
    def tree(self) -> Topology:
        """The inner nodes: the optimal draft tree of k tokens."""
        return likeliest_tree(self.shares[:-1], self.drafted + 1, DEEPEST, len(self.shares) - 1)

    @cached_property
    def leaves(self) -> dict[tuple[int, ...], int]:
        """The sequence of indices to each leaf, and the leaf's number."""
        paths = [tuple(int(self.tree.rank[i]) + 1 for i in self.tree.path(node)) for node in range(len(self.tree))]
        ends = [
            (*path, symbol)
            for path, children in zip(paths, self.tree.children, strict=True)
            for symbol in range(len(children) + 1, len(self.shares) + 1)
        ]
        return {sequence: number for number, sequence in enumerate(sorted(ends))}

    @property
    def width(self) -> int:
        """Bits of a codeword."""
        return math.ceil(math.log2(len(self.leaves)))

    @property
    def tokens(self) -> float:
        """The mean length of a sequence where indices are independent: tokens a step."""
        return expected_tokens(self.tree, self.shares)

    def encode(self, indices: Sequence[int]) -> Iterator[Word]:
        """The codewords of indices, from 1; the last one stands for a sequence that begins as they end."""
        last, read = len(self.shares), list[int]()
        for index in indices:
            read.append(index)
            number = self.leaves.get(tuple(min(one, last) for one in read))
            if number is not None:
                yield Word(
                    f"{number:0{self.width}b}" + (_gamma(index - last + 1) if index >= last else ""), tuple(read)
                )
                read = []
        if read:
            number = next(n for sequence, n in self.leaves.items() if sequence[: len(read)] == tuple(read))
            yield Word(f"{number:0{self.width}b}", tuple(read))

    def decode(self, bits: str, count: int) -> list[int]:
        """The first `count` indices of a row of codewords without marks between them.

        Raises:
            ParameterError: if it is no such row.
        """
        sequences, at, indices = list(self.leaves), 0, list[int]()
        while len(indices) < count:
            number = int(bits[at : at + self.width].ljust(self.width, "1"), 2)
            at += self.width
            if at > len(bits) or number >= len(sequences):
                raise ParameterError("bits", f"hold the codewords of {count} indices", bits[-80:])
            indices += sequences[number]
            if indices[-1] == len(self.shares) and len(indices) <= count:
                zeros = len(bits[at:]) - len(bits[at:].lstrip("0"))
                excess, at = int(bits[at : at + 2 * zeros + 1] or "1", 2), at + 2 * zeros + 1
                indices[-1] += excess - 1
        return indices[:count]


def _gamma(number: int) -> str:
    """Elias' gamma code of a whole number from 1: as many zeros as it has bits after the first, then it."""
    return f"{'0' * (number.bit_length() - 1)}{number:b}"


__all__ = ["Drafts", "TunstallCode", "Word", "accepted_index", "drafts", "receive", "send"]
