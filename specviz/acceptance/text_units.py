"""Texts are the unit of every measurement: the tokens of one text are not independent of each other.

Where a text is easy all of it is, and at temperature 0 a text often repeats itself, so an interval that counts tokens
is several times too narrow; one that counts neighbouring windows of a text is as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any


class Window(str):
    """A prompt that was cut from what a model wrote.

    Attributes:
        source: the prompt that it was written after: all windows behind one prompt are one text.
    """

    source: str

    def __new__(cls, text: str, source: str) -> Window:
        window = super().__new__(cls, text)
        window.source = source
        return window


def sources(texts: Sequence[Any]) -> list[str]:
    """Which text each prompt (a `Window`, or one of its own) or each list of tokens belongs to."""
    return [
        getattr(text, "source", None) or (text if isinstance(text, str) else f"text {number}")
        for number, text in enumerate(texts)
    ]


class Written(list):
    """Token ids of a prompt and what a model wrote after it.

    Attributes:
        begin: how many tokens are the prompt's; what is measured begins behind them.
        source: which text the prompt belongs to; None where it is one of its own.
    """

    def __init__(self, tokens: Sequence[int], begin: int, source: str | None = None) -> None:
        super().__init__(tokens)
        self.begin, self.source = max(1, begin), source


def begin_of(text: Sequence[int]) -> int:
    """The index of the first token of a text that counts: the second of all, where none is a prompt's."""
    return getattr(text, "begin", 1)


def positions_of(text: Sequence[int]) -> int:
    """How many positions of a text are measured: one for each token that counts."""
    return max(0, len(text) - begin_of(text))


def cut(text: Sequence[int], positions: int) -> list[int]:
    """A text up to so many positions."""
    begin = begin_of(text)
    shorter, source = text[: begin + positions], getattr(text, "source", None)
    return Written(shorter, begin, source) if begin > 1 or source else list(shorter)


def limited(texts: Iterable[Sequence[int]], positions: int) -> Iterator[list[int]]:
    """The first texts, as many tokens of them as have `positions` positions; those without any are left out."""
    for text in texts:
        if positions_of(text):
            yield cut(text, positions)
            positions -= positions_of(text)
        if positions <= 0:
            return
