"""Numbers that claims and figures compute from sums: rates, speeds, correlations, and how a curve falls."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..theory.bounds import fit_power_law
from .claim import Sums

Number = Callable[[Sums], float]


def share(name: str, of: str = "positions") -> Number:
    """One sum over another."""
    return lambda s: s[name] / s[of]


def per_pass(name: str = "") -> Number:
    """Tokens per pass of a run, or of a named shape."""
    return lambda s: s[f"{name} tokens".strip()] / s[f"{name} passes".strip()]


def times(one: Number, other: Number | None = None) -> Callable[..., float]:
    """One number over another, of one measurement or of two."""
    return lambda s, *more: one(s) / (other or one)(*more or (s,))


def less(one: Number, other: Number | None = None) -> Callable[..., float]:
    """One number less another, of one measurement or of two."""
    return lambda s, *more: one(s) - (other or one)(*more or (s,))


def speed(way: str) -> Number:
    """Tokens per second."""
    return lambda s: s[f"{way} tokens"] / s[f"{way} seconds"]


def faster(way: str, than: str = "plain") -> Number:
    """How many times as fast one way is as another."""
    return times(speed(way), speed(than))


def correlation(name: str) -> Number:
    """Pearson's correlation from the sums of `moments`."""

    def number(s: Sums) -> float:
        n, x, y, xx, yy, xy = (s[f"{name} {kind}".strip()] for kind in ("", "x", "y", "xx", "yy", "xy"))
        return (n * xy - x * y) / math.sqrt(max(0.0, n * xx - x * x) * max(0.0, n * yy - y * y))

    return number


def slope(name: str) -> Number:
    """The slope of y on x, from the same sums."""

    def number(s: Sums) -> float:
        n, x, y, xx, xy = (s[f"{name} {kind}".strip()] for kind in ("", "x", "y", "xx", "xy"))
        return (n * xy - x * y) / (n * xx - x * x)

    return number


def exponent(rule: str, widths: Sequence[int]) -> Number:
    """b where the rejection rate falls as k^-b."""
    return lambda s: fit_power_law(widths, [s[f"{rule} {k}"] / s["positions"] for k in widths])[1]


def straightness(rule: str, widths: Sequence[int]) -> Number:
    """How much of the variation of log rejection over log children a straight line explains (R squared)."""

    def number(s: Sums) -> float:
        rates = [s[f"{rule} {k}"] / s["positions"] for k in widths]
        scale, b = fit_power_law(widths, rates)
        logs = [math.log(rate) for rate in rates]
        mean = sum(logs) / len(logs)
        off = sum((value - math.log(scale) + b * math.log(k)) ** 2 for value, k in zip(logs, widths, strict=True))
        return 1 - off / sum((value - mean) ** 2 for value in logs)

    return number
