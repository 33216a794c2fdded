"""Statistics that claims name: functions from the sums of a measurement to a number.

A claim writes "name" or "name:argument", for example "tokens_per_pass:Sequoia 64". The argument
names columns; a semicolon or a slash separates two of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..proof.bounds import chain_tokens as chain_formula
from ..proof.bounds import fit_power_law
from ..record.vectors import expected_tokens as tree_tokens
from .claim import Sums
from .on_positions import EDGES, WIDTHS
from .shapes import SIZES, WIDEST, planned, shapes

SEVERAL = WIDTHS[1:]  # with one child Sequoia, SpecInfer and SpecTr are one rule
STATISTICS: dict[str, Callable[[Sums, str], float]] = {}


def statistic(text: str) -> Callable[[Sums], float]:
    """The statistic that a claim names.

    Raises:
        ValueError: if there is none of that name.
    """
    name, _, argument = text.partition(":")
    if name not in STATISTICS:
        raise ValueError(
            f"value must name a statistic, one of {', '.join(STATISTICS)}; got {name!r}."
        )
    return lambda sums: STATISTICS[name](sums, argument)


def named(function: Callable[..., float]) -> Callable[..., float]:
    """Let claims name a function of (sums, argument)."""
    STATISTICS[function.__name__] = function
    return function


@named
def error(s: Sums, _: str) -> float:
    """The largest error that a proof found."""
    return s["error"]


@named
def ratio(s: Sums, columns: str) -> float:
    """One sum over another, "accepted/nodes"."""
    top, _, bottom = columns.partition("/")
    return s[top] / s[bottom]


@named
def mean(s: Sums, column: str) -> float:
    """A mean over positions."""
    return s[column] / s["positions"]


@named
def tokens_per_pass(s: Sums, name: str = "") -> float:
    """Tokens per pass of a run, or of a named shape."""
    return s[f"{name} tokens".strip()] / s[f"{name} passes".strip()]


@named
def growth(s: Sums, argument: str) -> float:
    """What a shape gains from one size to another, "Sequoia 64 256"."""
    name, first, last = argument.rsplit(" ", 2)
    return tokens_per_pass(s, f"{name} {last}") - tokens_per_pass(s, f"{name} {first}")


@named
def marginal(s: Sums, argument: str) -> float:
    """What each draft of a growing shape brings, "batch 8 16" for the ninth to the sixteenth."""
    _, first, last = argument.rsplit(" ", 2)
    return growth(s, argument) / (int(last) - int(first))


@named
def expected_tokens(s: Sums, size: str) -> float:
    """F(T) of Sequoia's tree of so many nodes with the acceptance vector of the texts."""
    vector = tuple(min(1.0, s.get(f"rank {k}", 0.0) / s["positions"]) for k in range(1, WIDEST + 1))
    return tree_tokens(shapes("sizes", planned(0.8))[f"Sequoia {size}"], vector)


@named
def largest_gain_over_sequences(s: Sums, _: str) -> float:
    """Sequoia's tokens over those of the best sequences, at the size where that is most."""
    names = [
        (f"Sequoia {n}", f"best sequences {n}") for n in SIZES if f"best sequences {n} tokens" in s
    ]
    return max(
        tokens_per_pass(s, tree) / tokens_per_pass(s, sequences) for tree, sequences in names
    )


# Speed.


@named
def speed(s: Sums, way: str) -> float:
    """Tokens per second."""
    return s[f"{way} tokens"] / s[f"{way} seconds"]


@named
def speed_over_fastest(s: Sums, argument: str) -> float:
    """Speed of one way over the fastest of others, "chosen; tree unlimited": all that begin with
    one of these words."""
    way, _, kinds = argument.partition("; ")
    others = [name.removesuffix(" seconds") for name in s if name.startswith(tuple(kinds.split()))]
    return speed(s, way) / max(speed(s, name) for name in others if f"{name} seconds" in s)


# Correlations, from the sums of `moments`.


def _spread(s: Sums, name: str) -> tuple[float, float, float]:
    """Variance of x and y, and their covariance, times the square of their number.

    Raises:
        ZeroDivisionError: if x or y does not vary by more than the rounding of stored sums, which
            have six digits.
    """
    n, x, y, xx, yy, xy = (s[f"{name} {kind}".strip()] for kind in ("", "x", "y", "xx", "yy", "xy"))
    if n * xx - x * x < 1e-5 * n * xx or n * yy - y * y < 1e-5 * n * yy:
        raise ZeroDivisionError(f"{name} does not vary")
    return n * xx - x * x, n * yy - y * y, n * xy - x * y


@named
def correlation(s: Sums, name: str) -> float:
    """Pearson's correlation of x and y."""
    of_x, of_y, both = _spread(s, name)
    return both / math.sqrt(of_x * of_y)


@named
def variation(s: Sums, name: str) -> float:
    """The standard deviation of x over its mean."""
    return math.sqrt(max(0.0, s[name] * s[f"{name} xx"] / s[f"{name} x"] ** 2 - 1))


# Rejection rates.


@named
def power_law_fit(s: Sums, rule: str) -> float:
    """How much of the variation of log rejection over log children a straight line explains (R
    squared)."""
    rates = [s[f"{rule} {k}"] / s["positions"] for k in SEVERAL]
    scale, b = fit_power_law(SEVERAL, rates)
    logs = [math.log(rate) for rate in rates]
    center = sum(logs) / len(logs)
    off = sum(
        (value - math.log(scale) + b * math.log(k)) ** 2
        for value, k in zip(logs, SEVERAL, strict=True)
    )
    return 1 - off / sum((value - center) ** 2 for value in logs)


@named
def largest_rejection_excess(s: Sums, _: str) -> float:
    """The largest excess of Sequoia's rejection rate over another rule's at any number of children
    from 2."""
    others = ("specinfer", "spectr", "target-match")
    return max(
        (s[f"sequoia {k}"] - s[f"{rule} {k}"]) / s["positions"] for rule in others for k in SEVERAL
    )


@named
def mean_rejection_excess(s: Sums, rule: str) -> float:
    """Mean excess of a rule's rejection rate over Sequoia's, relative to it."""
    return sum(s[f"{rule} {k}"] for k in SEVERAL) / sum(s[f"sequoia {k}"] for k in SEVERAL) - 1


@named
def batch_tokens(s: Sums, argument: str) -> float:
    """Tokens per pass of a batch, "race 8" for 8 drafts under races."""
    return 2 - s[argument] / s["positions"]


@named
def batch_growth(s: Sums, argument: str) -> float:
    """What a batch gains from one number of drafts to another, "race 1 8"."""
    rule, first, last = argument.split()
    return batch_tokens(s, f"{rule} {last}") - batch_tokens(s, f"{rule} {first}")


@named
def among_top(s: Sums, k: str) -> float:
    """How often the target's token is among the draft's k most probable ones."""
    return 1 - s[f"target-match {k}"] / s["positions"]


# Chains.


@named
def chain_tokens(s: Sums, length: str) -> float:
    """Tokens per pass of a chain by (1 - a^(n + 1)) / (1 - a), with the acceptance a of the
    texts."""
    return chain_formula(mean(s, "accepted"), int(length))


@named
def memory_gain(s: Sums, length: str) -> float:
    """By how much a chance that depends on whether the token before was accepted predicts a chain
    more closely."""
    measured = tokens_per_pass(s, f"sequence {length}")
    order_1 = 1 + mean(s, "accepted") * chain_formula(s["both"] / s["before"], int(length) - 1)
    return abs(chain_tokens(s, length) - measured) - abs(order_1 - measured)


# Drafted tokens and trees.


@named
def acceptance_rise(s: Sums, _: str) -> float:
    """Acceptance of drafts of probability above one half less that of drafts below one tenth."""

    def rate(groups: list[int]) -> float:
        return sum(s[f"a {i}"] for i in groups) / sum(s[f"w {i}"] for i in groups)

    groups = range(len(EDGES) - 1)
    return rate([i for i in groups if EDGES[i] >= 0.5]) - rate(
        [i for i in groups if EDGES[i + 1] <= 0.1]
    )


@named
def filled(s: Sums, size: str) -> float:
    """How much of a tree's size is drafted, root included."""
    return (s["nodes"] / s["passes"] + 1) / int(size)


@named
def blocks_saved(s: Sums, prefix: str) -> float:
    """The part of the blocks that heavy-path order saves behind a text."""
    return 1 - s[f"heavy-path {prefix}"] / s[f"as drawn {prefix}"]


@named
def pinsker_gain(s: Sums, _: str) -> float:
    """By how much Pinsker's bound is tighter than Bretagnolle and Huber's: mean distance to the
    acceptance."""
    return 1 - (s["share"] - s["pinsker"]) / (s["share"] - s["huber"])
