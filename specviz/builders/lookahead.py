"""Lookahead decoding: Jacobi iteration makes n-grams, and those that fit are tried (Fu et al. 2024, algorithm 2).

Unlike all other builders it needs nobody who drafts: the target fills a window of guesses for the tokens to come.
The window's tokens are probes, nodes that are read with the tree and never compared: level 0 is a chain below the root,
and the token of level i and column j follows that of level i - 1 there. What the target finds most probable after the
last level becomes a level of the next step, and each column that is N tokens long with it goes into a pool of n-grams.
Those that begin with the root are the drafted tokens. A window of 0 is plain decoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any, ClassVar

from ..parameters import whole
from ..tree import TokenTree
from .base import TreeBuilder

Tokens = tuple[int, ...]


@dataclass(frozen=True)
class Window:
    """What one step leaves to the next.

    Args:
        levels: guesses, the oldest level first, with a token for each column.
        pool: a token -> what was found to follow it, `ngram` - 1 tokens each, the latest first.
    """

    levels: tuple[Tokens, ...] = ()
    pool: Mapping[int, tuple[Tokens, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Lookahead(TreeBuilder):
    """N-grams that the target itself made, a few columns ahead of the text."""

    name: ClassVar[str] = "lookahead"
    title: ClassVar[str] = "Lookahead"
    schemes: ClassVar[tuple[str, ...]] = ("top",)
    reads_draft: ClassVar[bool] = False
    small: ClassVar[dict[str, Any]] = {"window": 2, "ngram": 2, "guesses": 2}
    window: int = whole(5, 0, 32, "Window", "How many columns of guesses are kept; 0 is plain decoding.")
    ngram: int = whole(3, 2, 8, "Length of n-grams", "How many tokens an n-gram of the pool has.")
    guesses: int = whole(4, 1, 32, "Guesses", "How many n-grams that begin with the last token are tried at most.")

    @property
    def is_chain(self) -> bool:
        return self.window == 0 or self.guesses == 1

    @property
    def size(self) -> int:
        """How many nodes a tree may have, probes included."""
        return 1 + (self.window + self.guesses) * (self.ngram - 1)

    def start(self):
        return Window()

    def __call__(self, draft, rng, scheme, tokens_left, state):
        tree = draft.tree
        merge(tree, [guess[: tokens_left - 1] for guess in state.pool.get(tree.tokens[0], ())])
        levels = state.levels or (first_guesses(draft.context, self.window),)
        columns = max(0, min(len(levels[0]), tokens_left - len(levels)))  # the others reach behind the end
        above: list[int] = []
        for i, level in enumerate(levels):
            for j, token in enumerate(level[:columns]):
                above.append(tree.probe(above[-columns] if i else above[-1] if j else 0, token))
        return tree

    def learn(self, state, tree, verdict, rows=None):
        if not tree.probes:
            return state
        columns = len(tree.probes) // max(1, len(state.levels))
        latest = tuple(int(rows[node].argmax()) for node in tree.probes[-columns:])
        tokens = [tree.tokens[node] for node in tree.probes]
        levels = [tuple(tokens[i : i + columns]) for i in range(0, len(tokens), columns)] + [latest]
        if len(levels) < self.ngram:
            return Window(tuple(levels), state.pool)
        pool = dict(state.pool)
        for first, *rest in zip(*levels, strict=True):
            known = [other for other in pool.get(first, ()) if other != tuple(rest)]
            pool[first] = (tuple(rest), *known)[: self.guesses]
        return Window(tuple(levels[1:]), pool)


def first_guesses(context: Sequence[int], count: int) -> Tokens:
    """Something to begin with: the text's last tokens, over again where there are fewer than `count`."""
    return tuple(islice(cycle(context[-count:]), count)) if count else ()


def merge(tree: TokenTree, guesses: Iterable[Tokens]) -> None:
    """Add sequences below the root; equal beginnings share their nodes."""
    places: dict[tuple[int, int], int] = {}
    for guess in guesses:
        node = 0
        for token in guess:
            if (node, token) not in places:
                places[node, token] = tree.add(node, token)
            node = places[node, token]
