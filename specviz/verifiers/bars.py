"""A few tokens of a distribution, chosen once per node, so that the details of a verdict stay small."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from ..sampling import most_probable
from ..tree import Chart

LIKELIEST = 4  # with the token in question, five bars; with the one that was rejected last, six
WHOLE = 12  # a row of so few tokens is kept whole


class Bars:
    """The target's most probable tokens after one node, as the axis along which rows are shown.

    Args:
        p: the target's distribution after the node, float64 [V].
    """

    def __init__(self, p: np.ndarray) -> None:
        self.p = p

    def __call__(self, *asked: int, **rows: np.ndarray) -> Callable[[], Chart]:
        """What makes the chart of those tokens and of those asked for: "p", and each row under its keyword."""
        return partial(self._chart, asked, rows)

    @cached_property
    def _likeliest(self) -> list[int]:
        return most_probable(self.p, len(self.p) if len(self.p) <= WHOLE else LIKELIEST)

    def _chart(self, asked: tuple[int, ...], rows: dict[str, np.ndarray]) -> Chart:
        tokens = list(dict.fromkeys([*self._likeliest, *asked]))
        places = np.array(tokens)
        shown = {"p": self.p, **rows}
        return Chart(tuple(tokens), {name: tuple(row[places].tolist()) for name, row in shown.items()})
