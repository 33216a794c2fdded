"""Predicted and measured speedup by temperature (Sequoia, figure 4)."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from ..benchmarks.predictions import SpeedupPrediction
from . import predicted, theme
from .predicted import Info, Point

TITLE = "Speedup by temperature"
HOW_TO_READ = (
    "The best tree of one size at each temperature, predicted (line) and timed (marks, with bars over the prompts). "
    "At higher temperature the draft is less accurate; above the dashed line speculation is faster than plain decoding."
)


def info(found: Mapping[float, SpeedupPrediction]) -> Info:
    """The points of timed trees by temperature."""
    return predicted.info([
        Point(f"T {value:g}, {one.name}", value, one.predicted.speedup, one.measured.speedup, one.measured.low,
              one.measured.high)
        for value, one in found.items()
    ], "temperature")  # fmt: skip


def draw(info: Info) -> go.Figure:
    if not info.points:
        return theme.empty("No timing yet. Start it below.")
    return predicted.draw(info)
