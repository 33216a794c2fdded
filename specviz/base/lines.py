"""Costs between those that were measured, and beyond them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def on_lines(
    x: float | Sequence[float] | np.ndarray, xs: Sequence[float], ys: Sequence[float]
) -> np.ndarray:
    """The values at x on straight lines through points; beyond the last point its line goes on,
    unless it falls.

    Args:
        x: where to read, of any shape.
        xs, ys: the points, [n] each; `xs` rises.

    >>> on_lines([1, 3, 6], xs=[1, 2, 4], ys=[5, 6, 8]).tolist()
    [5.0, 7.0, 10.0]
    """
    rise = 0.0
    if len(xs) > 1:
        # A larger pass never costs less, whatever the noise of the last two points says.
        rise = max(0.0, (ys[-1] - ys[-2]) / (xs[-1] - xs[-2]))
    return np.interp(x, xs, ys) + rise * np.maximum(0, np.subtract(x, xs[-1]))
