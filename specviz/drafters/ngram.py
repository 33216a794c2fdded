"""Back-off n-grams of the text so far and of a shipped text.

With absolute discounting (Ney et al. 1994) every count loses a little, which goes to the row of the next shorter
history. So every row is a distribution over the whole vocabulary, and every rule works.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from ..distributions import probabilities
from .base import Drafter, DrafterSession
from .retrieval import tales

DISCOUNT = 0.75

History = tuple[int, ...]


class NGram(Drafter):
    """The continuations of the last `order` tokens, and of fewer."""

    name, title = "ngram", "n-grams"
    small: ClassVar[dict[str, Any]] = {"order": 2}
    order: int = Field(
        4, ge=1, le=8, title="Order", description="Maximum length of the history; shorter if it was not seen."
    )
    shipped: bool = Field(
        True, title="Shipped text", description="Start with counts of a shipped text; otherwise only the prompt."
    )

    def open(self, context):
        stored = _counted(tales(context.pair), self.order) if self.shipped else Counts(self.order)
        return Counting(self.name, stored, self.order, context.context, context.pair.vocab_size)


class Counts:
    """How often each token followed each history of at most `order` tokens."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.after: dict[History, dict[int, int]] = defaultdict(dict)

    def add(self, text: Sequence[int], start: int) -> None:
        """Count the tokens of `text` from `start` on."""
        for i in range(start, len(text)):
            for length in range(min(self.order, i) + 1):
                found = self.after[tuple(text[i - length : i])]
                found[text[i]] = found.get(text[i], 0) + 1

    def seen(self, history: History) -> dict[int, int]:
        """What followed a history, token -> how often."""
        return self.after.get(history) or {}


class Counting(DrafterSession):
    """n-grams on one text; `stored` counts are only read."""

    def __init__(self, name: str, stored: Counts, order: int, context: Sequence[int], vocab_size: int) -> None:
        super().__init__(name)
        self.stored, self.own, self.order, self.vocab_size = stored, Counts(order), order, vocab_size
        self.context = list(context)
        self.own.add(self.context, 0)

    def row(self, text: Sequence[int]) -> np.ndarray:
        """The row after `text`, float64 [V]."""
        row = np.full(self.vocab_size, 1 / self.vocab_size)
        for length in range(min(self.order, len(text)) + 1):
            history = tuple(text[len(text) - length :])
            counts = self._counts(history)
            if not counts:
                break  # a longer history was seen even less
            tokens, seen = np.fromiter(counts.keys(), int), np.fromiter(counts.values(), float)
            row *= DISCOUNT * len(tokens) / seen.sum()
            row[tokens] += (seen - DISCOUNT) / seen.sum()
        return row

    def expand(self, tree, nodes, sampling):
        texts = (self._text([tree.tokens[step] for step in tree.topology.path(node)]) for node in nodes)
        return [probabilities(np.log(self.row(text)), sampling) for text in texts]

    def commit(self, tree, path, emitted, seen):
        self.context.extend(emitted)
        self.own.add(self.context, len(self.context) - len(emitted))

    def describe_guess(self, tokens, drafter) -> dict[str, Any]:
        text = self._text(tokens[:-1])
        for length in range(min(self.order, len(text)), -1, -1):
            if count := self._counts(tuple(text[len(text) - length :])).get(tokens[-1]):
                return {"order": length, "seen": count}
        return {"order": 0, "seen": 0}

    def _text(self, path: Sequence[int]) -> list[int]:
        return [*self.context[-self.order :], *path]

    def _counts(self, history: History) -> dict[int, int]:
        stored, own = self.stored.seen(history), self.own.seen(history)
        if not (stored and own):
            return stored or own
        return stored | {token: count + stored.get(token, 0) for token, count in own.items()}


_tables: dict[tuple[int, int, bytes], Counts] = {}


def _counted(text: np.ndarray, order: int) -> Counts:
    """The counts of a text, made once."""
    key = (order, len(text), text[:64].tobytes())
    counts = _tables.get(key)
    if counts is None:
        counts = Counts(order)
        counts.add(text.tolist(), 0)
        _tables.clear()  # that of another pair is not needed any more
        _tables[key] = counts  # only now: other threads may read it
    return counts
