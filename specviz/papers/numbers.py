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


def _spread(s: Sums, name: str) -> tuple[float, float, float]:
    """Variance of x and y, and their covariance, times the square of their number, from the sums of `moments`.

    Raises:
        ZeroDivisionError: if x or y does not vary by more than the rounding of stored sums, which have six digits.
    """
    n, x, y, xx, yy, xy = (s[f"{name} {kind}".strip()] for kind in ("", "x", "y", "xx", "yy", "xy"))
    if n * xx - x * x < 1e-5 * n * xx or n * yy - y * y < 1e-5 * n * yy:
        raise ZeroDivisionError(f"{name} does not vary")
    return n * xx - x * x, n * yy - y * y, n * xy - x * y


def correlation(name: str) -> Number:
    """Pearson's correlation."""

    def number(s: Sums) -> float:
        of_x, of_y, both = _spread(s, name)
        return both / math.sqrt(of_x * of_y)

    return number


def slope(name: str) -> Number:
    """The slope of y on x."""

    def number(s: Sums) -> float:
        of_x, _, both = _spread(s, name)
        return both / of_x

    return number


def variation(name: str) -> Number:
    """The standard deviation of x over its mean."""
    return lambda s: math.sqrt(max(0.0, s[name] * s[f"{name} xx"] / s[f"{name} x"] ** 2 - 1))


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
