"""Exact toy models: a table of rows keyed by the last few tokens. numpy only, small enough to
enumerate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..base.errors import ParameterError
from ..config.prompt import Message, no_template
from ..tree import Nodes, TokenIds, TokenTree
from .base import Pair

MEMORY = 6  # a row depends on this many last tokens, more than any enumerated run writes


class TableModel:
    """A language model whose logits are random numbers fixed by the seed and the last tokens.

    Args:
        row: context -> logits [V].

    >>> TableModel(lambda context: np.array([0.0, len(context)])).logits([0, 1, 1]).tolist()
    [0.0, 3.0]
    """

    def __init__(self, row: Callable[[tuple[int, ...]], np.ndarray]) -> None:
        # Enumeration asks for the same contexts many thousand times.
        self._row = cache(row)

    def logits(self, context: TokenIds) -> np.ndarray:
        """Logits of the token after `context`, float64 [V]."""
        return self._row(tuple(context[-MEMORY:]))


class TableSession:
    """A session of a `TableModel`: it has no cache, so a commit only makes the context longer."""

    def __init__(self, model: TableModel, tokens: TokenIds) -> None:
        self.model = model
        self.context = list(tokens)
        self._tree: TokenTree | None = None

    def forward(self, tree: TokenTree, nodes: Nodes) -> np.ndarray:
        """See `Session.forward`."""
        self._tree = tree
        return np.array(list(map(self.model.logits, self.texts(nodes))))

    def commit(self, tree: TokenTree, path: Nodes, emitted: TokenIds) -> None:
        """See `Session.commit`."""
        self.context.extend(emitted)

    # A table's "hidden state" after a token is the last tokens themselves: rows that depend on it
    # are easily made.

    def watch(self) -> list[TokenIds]:
        """See `Session.watch`."""
        return [self.context[: i + 1][-MEMORY:] for i in range(len(self.context) - 1)]

    def features(self, nodes: Nodes) -> list[TokenIds]:
        """See `Session.features`."""
        return [text[-MEMORY:] for text in self.texts(nodes)]

    def texts(self, nodes: Nodes) -> list[list[int]]:
        """What the row after each node of the tree that was read last depends on."""
        assert self._tree is not None
        return [[*self.context, *self._tree.path_tokens(node)] for node in nodes]


class ToyEagle(TableSession):
    """A table whose rows depend on the target's last feature, the root and the tokens drafted after
    it."""

    def take(self, features: Sequence[TokenIds]) -> None:
        """Keep the last of the target's features."""
        self._feature = features[-1] if features else ()

    def texts(self, nodes: Nodes) -> list[list[int]]:
        assert self._tree is not None
        begin = [*self._feature, self.context[-1]]
        return [[*begin, *self._tree.path_tokens(node)] for node in nodes]


class ToyBlock(ToyEagle):
    """A table whose rows depend on the target's last feature, the root, the depth and, with
    `markov`, the token there."""

    block = 8
    passes = 0
    markov = True

    def texts(self, nodes: Nodes) -> list[list[int]]:
        assert self._tree is not None
        self.passes += 1
        texts = []
        for node in nodes:
            depth = self._tree.depths[node]
            last = []
            if self.markov and depth:
                last = [self._tree.tokens[node]]
            texts.append([*self._feature, self.context[-1], depth, *last])
        return texts


class ToyPlainBlock(ToyBlock):
    """The same without the token."""

    markov = False


class ToyLearning(TableSession):
    """A table whose rows move towards those that it is shown."""

    _shift: np.ndarray | float = 0.0

    def forward(self, tree: TokenTree, nodes: Nodes) -> np.ndarray:
        return super().forward(tree, nodes) + self._shift

    def learn(self, rows: np.ndarray, temperature: float) -> None:
        """Move the rows towards the target's, [n, V]."""
        self._shift = temperature * np.log(0.02 + rows.mean(axis=0))


class NumberText:
    """The text side of models that know no text: a letter of a prompt is a token, a token a letter
    or its number."""

    def __init__(self, vocab_size: int) -> None:
        self.vocab_size = vocab_size

    is_chat = False

    def encode(self, text: str | Sequence[Message]) -> list[int]:
        """See `Pair.encode`; numbers have no template for a chat."""
        if not isinstance(text, str):
            raise no_template()
        return [ord(letter) % self.vocab_size for letter in text]

    def decode(self, tokens: TokenIds) -> str:
        """See `Pair.decode`."""
        return "".join(map(self.token_text, tokens))

    def token_text(self, token: int) -> str:
        """See `Pair.token_text`."""
        if token < 26:
            return chr(ord("a") + token)
        return f"<{token}>"

    def stream(self, context: TokenIds) -> Callable[[int], str]:
        """See `Pair.stream`."""
        return self.token_text


class TablePair(NumberText, Pair):
    """A pair of table models over the letters a, b, c, ...; see `toy_pair`."""

    def __init__(
        self,
        target: TableModel,
        draft: TableModel | None,
        vocab_size: int,
        eos_ids: Sequence[int],
        name: str,
        # A table for each drafter of the menu, keyed by what the real one reads, so that proofs
        # cover all.
        toys: dict[str, Callable[..., Any]] | None = None,
    ) -> None:
        super().__init__(vocab_size)
        self.target = target
        self.draft = draft
        self.toys = toys or {}
        self.max_positions = 4096
        self.eos_ids = frozenset(eos_ids)
        self.info = {"name": name, "vocab_size": vocab_size}
        letters = self.decode(range(min(vocab_size, 26)))
        self.library = [("alphabet.txt", 2 * letters), ("echo.txt", letters[:2] * 3 + letters[-1])]

    def __repr__(self) -> str:
        return f"TablePair({self.info['name']!r})"

    def drafter(self, kind: str, **parameters: Any) -> Any:
        """A toy of the kind: tables that read what the real one reads."""
        if kind not in self.toys:
            raise ValueError(
                f"{self.info['name']} has nothing to draft with under the name {kind!r}."
            )
        return self.toys[kind](**parameters)

    def open(self, tokens: TokenIds) -> tuple[TableSession, TableSession | None]:
        draft = None
        if self.draft is not None:
            draft = TableSession(self.draft, tokens)
        return TableSession(self.target, tokens), draft


def toy_pair(
    vocab: int = 3, seed: int = 0, closeness: float = 0.6, eos: Sequence[int] = ()
) -> TablePair:
    """Two exact table models, for tests, lessons and enumeration.

    Args:
        vocab: size of the vocabulary, at least 2.
        seed: the same seed gives the same tables.
        closeness: how much of the draft's logits are the target's, from 0 (unrelated) to 1 (equal).
        eos: tokens that end a text.

    Raises:
        ValueError: if vocab or closeness is out of its range.

    >>> pair = specviz.toy_pair(vocab=3)
    >>> config = specviz.RunConfig("ab", max_new_tokens=8)
    >>> pair.vocab_size, pair.decode([2, 0, 1]), specviz.run(pair, config).text
    (3, 'cab', 'cacbaabb')
    """
    if not isinstance(vocab, int | np.integer) or vocab < 2:
        raise ParameterError("vocab", "be a whole number from 2", vocab)
    if not 0 <= closeness <= 1:
        raise ParameterError("closeness", "be from 0 to 1", closeness)

    # A row follows from seed, table and context alone: no state, so any order of questions agrees.
    def noise(number: int, context: tuple[int, ...]) -> np.ndarray:
        return 1.5 * np.random.default_rng([seed, number, len(context), *context]).normal(
            size=vocab
        )

    @cache
    def blend(number: int) -> TableModel:
        return TableModel(
            lambda context: closeness * noise(0, context) + (1 - closeness) * noise(number, context)
        )

    def toy(session: Callable[..., TableSession], model: TableModel) -> Any:
        return SimpleNamespace(open=lambda tokens, target: session(model, tokens))

    def medusa(heads: int) -> Callable[[TokenIds], np.ndarray]:
        tables = [blend(1000 + level) for level in range(heads)]
        return lambda feature: np.array([table.logits(feature) for table in tables])

    toys: dict[str, Callable[..., Any]] = {
        "early-exit": lambda layers: toy(TableSession, blend(1 + layers)),
        "layer-skip": lambda skip: toy(TableSession, blend(100 + sum(skip))),
        "quantized": lambda bits: toy(TableSession, blend(200 + bits)),
        "medusa": medusa,
        "eagle": lambda: toy(ToyEagle, blend(2000)),
        "block": lambda markov: toy(ToyBlock if markov else ToyPlainBlock, blend(3000)),
        "online": lambda rate: toy(ToyLearning, blend(1)),
    }
    name = f"toy tables (vocabulary {vocab}, seed {seed})"
    return TablePair(
        TableModel(lambda context: noise(0, context)), blend(1), vocab, eos, name, toys
    )
