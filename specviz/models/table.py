"""Exact toy models: a table of rows keyed by the last few tokens. numpy only, small enough to enumerate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..tree import TokenTree

MEMORY = 6  # a row depends on this many last tokens, more than any enumerated run writes


class TableModel:
    """A language model whose logits are random numbers fixed by the seed and the last tokens.

    Args:
        row: context -> logits [V].
    """

    def __init__(self, row: Callable[[tuple[int, ...]], np.ndarray]) -> None:
        self._row = row
        self._table: dict[tuple[int, ...], np.ndarray] = {}

    def logits(self, context: Sequence[int]) -> np.ndarray:
        """Logits of the token after `context`, float64 [V]."""
        key = tuple(context[-MEMORY:])
        if key not in self._table:
            self._table[key] = self._row(key)
        return self._table[key]


class TableSession:
    """A session of a `TableModel`: it has no cache, so a commit only makes the context longer."""

    def __init__(self, model: TableModel, tokens: Sequence[int]) -> None:
        self.model = model
        self.context = list(tokens)

    def forward(self, tree: TokenTree, nodes: Sequence[int]) -> np.ndarray:
        rows = []
        for node in nodes:
            path = []
            while node > 0:
                path.append(tree.tokens[node])
                node = tree.parents[node]
            rows.append(self.model.logits([*self.context[-MEMORY:], *reversed(path)]))
        return np.array(rows)

    def commit(self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int]) -> None:
        self.context.extend(emitted)


class TablePair:
    """A pair of table models over the letters a, b, c, ...; see `toy_pair`."""

    def __init__(
        self, target: TableModel, draft: TableModel | None, vocab_size: int, eos_ids: Sequence[int], name: str
    ) -> None:
        self.target, self.draft = target, draft
        self.vocab_size = vocab_size
        self.max_positions = 4096
        self.eos_ids = frozenset(eos_ids)
        self.info = {"name": name, "vocab_size": vocab_size}

    def encode(self, text: str) -> list[int]:
        return [ord(letter) % self.vocab_size for letter in text]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(self.piece, tokens))

    def piece(self, token: int) -> str:
        return chr(ord("a") + token) if token < 26 else f"<{token}>"

    def stream(self, context: Sequence[int]) -> Callable[[int], str]:
        return self.piece

    def open(self, tokens: Sequence[int]) -> tuple[TableSession, TableSession | None]:
        draft = None if self.draft is None else TableSession(self.draft, tokens)
        return TableSession(self.target, tokens), draft


def toy_pair(vocab: int = 3, seed: int = 0, closeness: float = 0.6, eos: Sequence[int] = ()) -> TablePair:
    """Two exact table models, for tests, lessons and enumeration.

    Args:
        vocab: size of the vocabulary, at least 2.
        seed: the same seed gives the same tables.
        closeness: how much of the draft's logits are the target's, from 0 (unrelated) to 1 (equal).
        eos: tokens that end a text.
    """
    if vocab < 2:
        raise ValueError(f"vocab must be at least 2; got {vocab}.")
    if not 0 <= closeness <= 1:
        raise ValueError(f"closeness must be from 0 to 1; got {closeness}.")

    def noise(kind: int, context: tuple[int, ...]) -> np.ndarray:
        return 1.5 * np.random.default_rng([seed, kind, len(context), *context]).normal(size=vocab)

    target = TableModel(lambda context: noise(0, context))
    draft = TableModel(lambda context: closeness * noise(0, context) + (1 - closeness) * noise(1, context))
    return TablePair(target, draft, vocab, eos, f"toy tables (vocabulary {vocab}, seed {seed})")
