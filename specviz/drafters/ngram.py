"""Back-off n-grams of the text so far and of a shipped text.

With absolute discounting (Ney et al. 1994) every count loses a little, which goes to the row of the
next shorter history. So every row is a distribution over the whole vocabulary, and every rule
works.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from ..base.codec import JsonObject
from ..config.strategy import number
from ..models.base import Pair
from ..sampling.distributions import Sampling, probabilities
from ..tree import TokenTree
from .base import Drafter, DrafterContext, DrafterSession, TargetOutputs
from .retrieval import documents, tokenizer_key

DISCOUNT = 0.75


class NGram(Drafter):
    """The continuations of the last `order` tokens, and of fewer."""

    name = "ngram"
    title = "n-grams"
    small: ClassVar[JsonObject] = {"order": 2}
    order: int = number(
        4, 1, 8, "Order", "Maximum length of the history; shorter if it was not seen."
    )
    shipped: bool = Field(
        True,
        title="Shipped text",
        description="Start with counts of a shipped text; otherwise only the prompt.",
    )

    def open(self, context: DrafterContext) -> DrafterSession:
        stored = NGramCounts(self.order)
        if self.shipped:
            stored = count_shipped(context.pair, self.order)
        return NGramSession(self.name, stored, self.order, context.context, context.pair.vocab_size)


class NGramCounts:
    """How often each token followed each history of at most `order` tokens."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.after: dict[tuple[int, ...], dict[int, int]] = defaultdict(dict)

    def add(self, text: Sequence[int], start: int) -> None:
        """Count the tokens of `text` from `start` on."""
        for i in range(start, len(text)):
            for length in range(min(self.order, i) + 1):
                counts = self.after[tuple(text[i - length : i])]
                counts[text[i]] = counts.get(text[i], 0) + 1


_counted: dict[tuple[int, ...], NGramCounts] = {}


def count_shipped(pair: Pair, order: int) -> NGramCounts:
    """The counts of the shipped text, made once for a tokenizer."""
    key = (order, *tokenizer_key(pair))
    if key not in _counted:
        _counted.clear()  # the table of another pair is not needed any more
        tokens: list[int] = []
        for _, text in documents(pair):
            tokens += pair.encode(text)
        _counted[key] = NGramCounts(order)
        _counted[key].add(tokens, 0)
    return _counted[key]


class NGramSession(DrafterSession):
    """n-grams on one text; `stored` counts are only read."""

    def __init__(
        self, name: str, stored: NGramCounts, order: int, context: Sequence[int], vocab_size: int
    ) -> None:
        super().__init__(name)
        self.stored = stored
        self.recent = NGramCounts(order)
        self.order = order
        self.vocab_size = vocab_size
        self.context = list(context)
        self.recent.add(self.context, 0)

    def row(self, text: Sequence[int]) -> np.ndarray:
        """The row after `text`, float64 [V]."""
        # From the shortest history on: nothing is known but how many tokens there are.
        row = np.full(self.vocab_size, 1 / self.vocab_size)
        for length in range(min(self.order, len(text)) + 1):
            table = self._table(tuple(text[len(text) - length :]))
            if not table:
                break  # a longer history was seen even less
            tokens = np.fromiter(table.keys(), int)
            counts = np.fromiter(table.values(), float)
            # Each count gives up a part, which the shorter history's row shares out.
            row *= DISCOUNT * len(tokens) / counts.sum()
            row[tokens] += (counts - DISCOUNT) / counts.sum()
        return row

    def expand(self, tree: TokenTree, nodes: Sequence[int], sampling: Sampling) -> list[np.ndarray]:
        rows = []
        for node in nodes:
            row = self.row(self._text(tree, node))
            rows.append(probabilities(np.log(row), sampling))
        return rows

    def commit(
        self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int], seen: TargetOutputs
    ) -> None:
        self.context.extend(emitted)
        self.recent.add(self.context, len(self.context) - len(emitted))

    def describe_guess(self, tree: TokenTree, node: int, drafter: str) -> JsonObject:
        *text, token = self._text(tree, node)
        # The longest history after which the token was seen: the one that gave it most.
        for length in range(min(self.order, len(text)), -1, -1):
            count = self._table(tuple(text[len(text) - length :])).get(token)
            if count:
                return {"order": length, "seen": count}
        return {"order": 0, "seen": 0}

    def _text(self, tree: TokenTree, node: int) -> list[int]:
        """The last tokens of the text and those down to a node."""
        return [*self.context[-self.order :], *tree.path_tokens(node)]

    def _table(self, history: tuple[int, ...]) -> dict[int, int]:
        """What followed a history, token -> how often."""
        stored = self.stored.after.get(history, {})
        recent = self.recent.after.get(history, {})
        if not (stored and recent):
            return stored or recent
        # Counts of the shipped text and of this text add up.
        return Counter(stored) + Counter(recent)
