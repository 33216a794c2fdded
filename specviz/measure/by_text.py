"""Texts as the unit of every measurement: the tokens of one text are not independent of each other.

Where a text is easy all of it is, and at temperature 0 a text often repeats itself, so an interval that counts tokens
is several times too narrow. One text alone gives no interval at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

Interval = tuple[float, float] | tuple[None, None]


class Written(list):
    """Token ids of a prompt and what a model wrote after it.

    Attributes:
        begin: how many tokens are the prompt's; what is measured begins behind them.
    """

    def __init__(self, tokens: Sequence[int], begin: int) -> None:
        super().__init__(tokens)
        self.begin = max(1, begin)


def begin_of(text: Sequence[int]) -> int:
    """The index of the first token of a text that counts: the second of all, where none is a prompt's."""
    return getattr(text, "begin", 1)


def positions_of(text: Sequence[int]) -> int:
    """How many positions of a text are measured: one for each token that counts."""
    return max(0, len(text) - begin_of(text))


def cut(text: Sequence[int], positions: int) -> list[int]:
    """A text up to so many positions."""
    begin = begin_of(text)
    return Written(text[: begin + positions], begin) if begin > 1 else list(text[: begin + positions])


def ratio_of_sums(pairs: Sequence[tuple[float, float]]) -> tuple[float, float | None]:
    """A sum over a sum, [won, tried] of several texts, with its standard error over texts; None for a single text."""
    won, tried = (sum(column) for column in zip(*pairs, strict=True))
    ratio, count = won / tried, len(pairs)
    if count < 2:
        return ratio, None
    squares = sum((one - ratio * of) ** 2 for one, of in pairs)
    return ratio, sqrt(squares * count / (count - 1)) / tried


def share_interval(pairs: Sequence[tuple[float, float]]) -> Interval:
    """A 95 % interval of the share that hits have of tries, [hits, tries] of several texts.

    It is Wilson's for as many independent trials as would be as uncertain as these texts are.
    """
    pairs = [(hits, tries) for hits, tries in pairs if tries]
    if len(pairs) < 2:
        return None, None
    share, error = ratio_of_sums(pairs)
    share, tries = min(1.0, max(0.0, share)), sum(tries for _, tries in pairs)
    worth = share * (1 - share) / error**2 if error else tries
    return wilson(share, min(worth, tries) or tries)


def jackknife(pairs: Sequence[tuple[tuple[float, float], tuple[float, float]]]) -> float | None:
    """The standard error of a ratio of two rates over texts, each leaving out one text; None for a single text.

    Args:
        pairs: of each text, [tokens, seconds] of one way and [tokens, seconds] of the other, timed side by side.
    """
    if len(pairs) < 2:
        return None
    left = [ratio_of_rates([*pairs[:out], *pairs[out + 1 :]]) for out in range(len(pairs))]
    mean = sum(left) / len(left)
    return sqrt((len(left) - 1) / len(left) * sum((one - mean) ** 2 for one in left))


def ratio_of_rates(pairs: Sequence[tuple[tuple[float, float], tuple[float, float]]]) -> float:
    """How many times as fast the first way is as the second, over all texts together."""
    (won, took), (written, base) = (map(sum, zip(*way, strict=True)) for way in zip(*pairs, strict=True))
    return (won / took) / (written / base)


def plus_minus(error: float | None, digits: int = 2) -> str:
    """A standard error as it is printed behind a figure; nothing where one text gives none."""
    return "" if error is None else f" ± {error:.{digits}f}"


def wilson(share: float, count: float, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval for a share of `count` independent trials (1927)."""
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    spread = z / (1 + z * z / count) * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, centre - spread), min(1.0, centre + spread)
