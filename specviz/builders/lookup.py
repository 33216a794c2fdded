"""Drafts without a draft model: prompt lookup, and lookahead decoding. Equal beginnings share their
nodes.

There is no distribution q, so only rules that do not compare with q can be used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import ClassVar

import numpy as np

from ..base.codec import JsonObject
from ..config.strategy import number
from ..sampling.distributions import Distributions
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from ..verifiers.base import Verdict
from .base import Draft, TreeBuilder, tree_size

Tokens = tuple[int, ...]


def add_sequences(
    tree: TokenTree, sequences: Iterable[tuple[Sequence[int], float | None]], size: int
) -> None:
    """Add (tokens, key) sequences below the root, until the tree has `size` nodes."""
    nodes: dict[tuple[int, int], int] = {}
    for tokens, key in sequences:
        node = 0
        for token in tokens:
            if (node, token) not in nodes:
                if len(tree) >= size:
                    return
                nodes[node, token] = tree.add(node, token, key)
            node = nodes[node, token]


class PromptLookup(TreeBuilder):
    """Continuations of the last tokens, found in the text so far (prompt lookup, Saxena 2023).

    Several matches become one tree, as in REST (He et al. 2023): longer ones first, then the most
    recent.
    """

    name = "prompt-lookup"
    title = "Prompt lookup"
    key_title = "length of the match"
    schemes = ("top",)
    reads_draft = False
    small: ClassVar[JsonObject] = {"depth": 2, "width": 2}
    ngram: int = number(
        3, 1, 16, "Max match", "Maximum number of last tokens to match; fewer if none match."
    )
    depth: int = number(8, 1, 64, "Max depth", "Maximum number of tokens per continuation.")
    width: int = number(4, 1, 64, "Matches", "Number of continuations merged into the tree.")
    size: int = tree_size(32)

    @property
    def is_chain(self) -> bool:
        return self.width == 1 or self.size <= 2

    def __call__(self, draft: Draft, rng: Randomness, tokens_left: int, state: object) -> TokenTree:
        # The target's own token takes the last place that the text has.
        count = min(self.depth, tokens_left - 1)
        # Lazily: matches behind the first few are never looked for.
        matches = islice(self._matches(draft.context), self.width)
        sequences = ((draft.context[end : end + count], float(length)) for length, end in matches)
        add_sequences(draft.tree, sequences, self.size)
        return draft.tree

    def _matches(self, context: Sequence[int]) -> Iterator[tuple[int, int]]:
        """(length of the match, where its continuation starts), each place once."""
        text = np.asarray(context)
        seen: set[int] = set()
        # One past every earlier copy of the last token, the latest first.
        ends = 1 + np.flatnonzero(text[:-1] == text[-1])[::-1]
        for length in range(min(self.ngram, len(text) - 1), 0, -1):
            for end in ends.tolist():
                if end < length or end in seen:
                    continue
                if (text[end - length : end] == text[-length:]).all():
                    seen.add(end)
                    yield length, end


@dataclass(frozen=True)
class Window:
    """What a step of lookahead leaves to the next: guesses, oldest level first, and n-grams by
    their first token."""

    levels: tuple[Tokens, ...] = ()
    pool: Mapping[int, tuple[Tokens, ...]] = field(default_factory=dict)


class Lookahead(TreeBuilder):
    """N-grams from Jacobi iteration, tried where they fit (lookahead decoding: Fu et al. 2024,
    algorithm 2).

    It needs no drafter: the target fills a window of guesses for the tokens to come. These are
    probes, read with the tree and never compared: level 0 is a chain below the root, and the token
    of level i and column j follows that of level i - 1 there. What the target finds most probable
    after the last level becomes a level of the next step, and each column that is then `ngram`
    tokens long goes into a pool. A window of 0 is plain decoding.
    """

    name = "lookahead"
    title = "Lookahead"
    schemes = ("top",)
    reads_draft = False
    small: ClassVar[JsonObject] = {"window": 2, "ngram": 2, "guesses": 2}
    window: int = number(5, 0, 32, "Window", "Number of columns of guesses; 0 is plain decoding.")
    ngram: int = number(3, 2, 8, "N-gram length", "Number of tokens per n-gram in the pool.")
    guesses: int = number(
        4, 1, 32, "Guesses", "Maximum number of n-grams tried that start with the last token."
    )

    @property
    def is_chain(self) -> bool:
        return self.window == 0 or self.guesses == 1

    @property
    def size(self) -> int:
        """How many nodes a tree may have, probes included."""
        return 1 + (self.window + self.guesses) * (self.ngram - 1)

    def start(self) -> Window:
        return Window()

    def __call__(self, draft: Draft, rng: Randomness, tokens_left: int, state: Window) -> TokenTree:
        tree = draft.tree
        guesses = state.pool.get(tree.tokens[0], ())
        add_sequences(tree, ((guess[: tokens_left - 1], None) for guess in guesses), self.size)
        levels = state.levels
        if not levels:  # the window begins with the last tokens, repeated as often as needed
            levels = (tuple(islice(cycle(draft.context[-self.window :]), self.window)),)
        # The columns beyond reach behind the end of the text.
        columns = max(0, min(len(levels[0]), tokens_left - len(levels)))
        above = [0] * columns  # the node that each token of the level hangs from
        for i, level in enumerate(levels):
            for j, token in enumerate(level[:columns]):
                if i == 0 and j > 0:
                    above[j] = above[j - 1]  # level 0 is a chain
                above[j] = tree.add(above[j], token)
                tree.probes.append(above[j])
        return tree

    def learn(
        self, state: Window, tree: TokenTree, verdict: Verdict, rows: Distributions | None = None
    ) -> Window:
        if not tree.probes:
            return state
        assert rows is not None
        columns = len(tree.probes) // max(1, len(state.levels))
        tokens = [tree.tokens[node] for node in tree.probes]
        # Jacobi's step: what the target finds after the last level is the next one.
        for node in tree.probes[-columns:]:
            tokens.append(int(rows[node].argmax()))
        levels = []
        for i in range(0, len(tokens), columns):
            levels.append(tuple(tokens[i : i + columns]))
        if len(levels) < self.ngram:
            return Window(tuple(levels), state.pool)
        # Read down its column, the window is an n-gram that may come up again. The latest guess
        # goes first in the pool, and the oldest falls out.
        pool = dict(state.pool)
        for first, *following in zip(*levels, strict=True):
            others = []
            for other in pool.get(first, ()):
                if other != tuple(following):
                    others.append(other)
            pool[first] = (tuple(following), *others)[: self.guesses]
        return Window(tuple(levels[1:]), pool)
