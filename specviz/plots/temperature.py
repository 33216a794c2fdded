"""Predicted and measured speedup by temperature (Sequoia, figure 4)."""

from __future__ import annotations

from collections.abc import Mapping

from ..promises import Promise
from . import predicted
from .predicted import Info, Point, draw

__all__ = ["HOW_TO_READ", "TITLE", "draw", "info"]

TITLE = predicted.TITLE
HOW_TO_READ = (
    "At each temperature the best tree of one size, predicted (line) and timed (marks; bars span the prompts). The "
    "warmer, the less the draft can know; above the dashed line speculation is faster than plain decoding."
)


def info(found: Mapping[float, Promise]) -> Info:
    """The points of timed trees by temperature."""
    return predicted.info([
        Point(f"T {value:g}, {one.name}", value, one.predicted.speedup, one.measured.speedup, one.measured.low,
              one.measured.high)
        for value, one in found.items()
    ], "temperature")  # fmt: skip
