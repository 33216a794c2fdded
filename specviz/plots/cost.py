"""Cost of a pass: t(n) of the target, the draft by pass width, and the overhead of a step."""

from __future__ import annotations

from typing import NamedTuple

import plotly.graph_objects as go

from ..planning.cost_table import CostTable
from . import theme

TITLE = "Cost of a pass"
HOW_TO_READ = (
    "Time of one target pass over n nodes, one draft pass over n nodes, and the rest of a step with n nodes. "
    "Error bars: quartiles. While the target's line is flat, additional nodes cost no time."
)


class Line(NamedTuple):
    """One cost: nodes, times, and quartiles where they are known."""

    name: str
    nodes: tuple[int, ...]
    time: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


class Info(NamedTuple):
    """Target, draft and overhead lines, the time of a step of plain decoding, where the numbers come from, and the
    unit of all of them: "ms", or "target passes" for a machine that is not timed."""

    lines: tuple[Line, ...]
    plain: float
    machine: str
    projection: bool
    unit: str


def info(table: CostTable) -> Info:
    """The lines of a cost table."""
    unit, scale = table.shown_in

    def line(name: str, nodes: tuple, seconds: tuple, spread: str | None) -> Line:
        time = tuple(scale * value for value in seconds)
        found = table.spread.get(spread) if spread else None
        low, high = zip(*found, strict=True) if found else (seconds, seconds)
        return Line(name, nodes, time, *(tuple(scale * value for value in side) for side in (low, high)))

    return Info(
        (
            line("target pass over n nodes", table.sizes, table.target_s, "target"),
            line("draft pass over n nodes", table.widths, table.draft_s, "draft"),
            line("rest of a step with n nodes", table.sizes, table.overhead_s, None),
        ),
        scale * table.plain_s, table.machine, table.projection, unit,
    )  # fmt: skip


def draw(info: Info) -> go.Figure:
    source = f"projection for {info.machine}" if info.projection else f"measured on {info.machine}"
    fig = theme.figure("n, nodes", "milliseconds" if info.unit == "ms" else info.unit, f"{TITLE}, {source}")
    for place, line in enumerate(info.lines):
        kept = [point for point in zip(line.nodes, line.time, line.low, line.high, strict=True) if point[1] > 0]
        if kept:
            x, y, low, high = zip(*kept, strict=True)
            bars, hover = theme.error_bars(y, low, high), "%{x} nodes: %{y:.3g} " + info.unit
            theme.curve(fig, x, y, line.name, theme.series(place), hover, error_y=bars)
    ends = [info.lines[0].nodes[0], info.lines[0].nodes[-1]]
    theme.guide(fig, ends, [info.plain] * 2, f"a step of plain decoding, {info.plain:.3g} {info.unit}")
    theme.logarithmic("x", fig, sorted({n for line in info.lines for n in line.nodes if n & (n - 1) == 0}))
    fig.update_yaxes(type="log")
    return fig
