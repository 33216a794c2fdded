"""Intervals of ratios over texts, which hold where little was accepted, too."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .metrics import t_quantile


def ratio_interval(hits: ArrayLike, tries: ArrayLike) -> tuple[np.ndarray, np.ndarray] | None:
    """A 95 % interval of the ratio that hits have of tries: Wilson's (1927), which holds for rare
    hits too.

    It is for as many independent tries as would be as uncertain as these texts are, with Student's
    t for their number.

    Args:
        hits, tries: of each text, [..., texts] and [texts]; a text without tries does not count.

    Returns:
        Its ends, [...]; None for a single text.

    >>> [round(float(end), 2) for end in ratio_interval([6, 7, 5], [10, 10, 10])]
    [0.26, 0.87]
    """
    rows = np.stack(np.broadcast_arrays(np.asarray(hits, dtype=float), tries), -1)
    # A text in which nothing was tried says nothing, and would count as one more text.
    rows = rows[..., np.asarray(tries) > 0, :]
    number = rows.shape[-2]
    if number < 2:
        return None
    # How much texts differ from the common ratio, weighted by their tries (linearised ratio).
    hit, tried = np.moveaxis(rows, -1, 0)
    total = tried.sum(-1)
    ratio = np.clip(hit.sum(-1) / total, 0.0, 1.0)
    variance = ((hit - ratio[..., None] * tried) ** 2).sum(-1) * number / (number - 1) / total**2
    with np.errstate(divide="ignore", invalid="ignore"):
        # As many independent tries as would vary as much as the texts do; no more than there were.
        worth = np.where(variance * ratio * (1 - ratio) > 0, ratio * (1 - ratio) / variance, np.inf)
    return wilson(ratio, np.minimum(worth, total), t_quantile(number - 1))


def wilson(ratio: np.ndarray, tries: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's interval for a ratio of so many independent tries (1927); `t` standard errors to
    either side."""
    # Wilson's centre lies nearer to a half than the ratio, the more so the fewer tries there were.
    centre = (ratio + t * t / (2 * tries)) / (1 + t * t / tries)
    error = np.sqrt(ratio * (1 - ratio) / tries + t * t / (4 * tries * tries))
    spread = t / (1 + t * t / tries) * error
    # The ratio lies inside, whatever rounding does.
    return np.clip(centre - spread, 0.0, ratio), np.clip(centre + spread, ratio, 1.0)
