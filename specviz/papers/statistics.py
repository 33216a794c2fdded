"""Statistics that the numbers of claims name: functions of the sums of a measurement."""

from __future__ import annotations

import math

import numpy as np

from ..proof import bounds
from ..record import vectors
from .along import WIDEST, shape_of
from .number import Sums, statistic
from .positions import WIDTHS

SEVERAL = WIDTHS[1:]  # with one child Sequoia, SpecInfer and SpecTr are one rule

statistic(max)
statistic(abs)
statistic(bounds.chain_tokens)


@statistic
def ratio(sums: Sums, top: str, bottom: str = "positions") -> float:
    """One sum over another."""
    return sums[top] / sums[bottom]


@statistic
def tokens_per_pass(sums: Sums, name: str = "") -> float:
    """Tokens per pass of a run, or of one of several builders."""
    return ratio(sums, f"{name} tokens".strip(), f"{name} passes".strip())


@statistic
def speedup(sums: Sums, builder: str, *others: str) -> float:
    """Tokens per second of one builder over those of the fastest whose name begins with one of the
    others."""
    speed = {}
    for name, seconds in sums.items():
        # Each builder has its tokens and its seconds, under its own name.
        if name.endswith(" seconds"):
            name = name.removesuffix(" seconds")
            speed[name] = sums[f"{name} tokens"] / seconds
    return speed[builder] / max(speed[name] for name in speed if name.startswith(others))


@statistic
def expected_tokens(sums: Sums, builder: str, temperature: float) -> float:
    """F(T) of a tree with the acceptance vector of the texts."""
    # As acceptance itself is counted: children of a rank that were accepted, over all positions.
    of_rank = []
    for k in range(1, WIDEST + 1):
        of_rank.append(sums.get(f"rank {k}", 0.0) / sums["positions"])
    vector = tuple(min(1.0, chance) for chance in of_rank)
    return vectors.expected_tokens(shape_of(builder, temperature), vector)


@statistic
def correlation(sums: Sums, name: str) -> float:
    """Pearson's correlation of x and y, from the sums of `moments`.

    Raises:
        ZeroDivisionError: if x or y does not vary by more than the rounding of stored sums, which
            have six digits.
    """
    n, x, y, xx, yy, xy = (
        sums[f"{name} {kind}".strip()] for kind in ("", "x", "y", "xx", "yy", "xy")
    )
    # The difference of two large sums: what is below their rounding is no variation.
    if n * xx - x * x < 1e-5 * n * xx or n * yy - y * y < 1e-5 * n * yy:
        raise ZeroDivisionError(f"{name} does not vary")
    return (n * xy - x * y) / math.sqrt((n * xx - x * x) * (n * yy - y * y))


@statistic
def variation(sums: Sums, name: str) -> float:
    """The standard deviation over the mean: of the sizes of a run's trees ("tree"), of the tokens
    that a step accepts ("step"), of texts' tokens per pass ("text")."""
    return math.sqrt(max(0.0, sums[name] * sums[f"{name} xx"] / sums[f"{name} x"] ** 2 - 1))


@statistic
def power_law_fit(sums: Sums, rule: str) -> float:
    """How much of the variation of log rejection over log children a straight line explains (R
    squared)."""
    logs = np.log([sums[f"{rule} {k}"] for k in SEVERAL])
    return np.corrcoef(np.log(SEVERAL), logs)[0, 1] ** 2


@statistic
def largest_rejection_excess(sums: Sums) -> float:
    """The largest excess of Sequoia's rejection rate over another rule's at any number of children
    from 2."""
    others = ("specinfer", "spectr", "target-match")
    excess = []
    for rule in others:
        for k in SEVERAL:
            excess.append(sums[f"sequoia {k}"] - sums[f"{rule} {k}"])
    return max(excess) / sums["positions"]


@statistic
def mean_rejection_excess(sums: Sums, rule: str) -> float:
    """Mean excess of a rule's rejection rate over Sequoia's, relative to it."""
    of_rule = sum(sums[f"{rule} {k}"] for k in SEVERAL)
    of_sequoia = sum(sums[f"sequoia {k}"] for k in SEVERAL)
    return of_rule / of_sequoia - 1
