"""How every figure looks: readable on light and dark pages, colours that people who confuse red and
green can tell apart (Okabe and Ito), no background of its own, and a different line or mark for
every series.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from itertools import chain

import numpy as np
import plotly.graph_objects as go

from ..verifiers import VERIFIERS

TEXT = "#757575"  # contrast 4.6 on white, where WCAG AA asks for 4.5; the page sets its own
GRID = "rgba(128,128,128,0.3)"
GREEN = "#009e73"
VERMILLION = "#d55e00"
BLUE = "#2b8cc4"  # lighter than theirs, which is hard to see on black
ORANGE = "#e69f00"
PURPLE = "#cc79a7"
SKY = "#56b4e9"
GREY = "#8a8f98"
CYCLE = (GREEN, ORANGE, SKY, VERMILLION, PURPLE, BLUE, "#c9b800", GREY)
# where the target's weights are, the same in every figure
MACHINES = {
    "in memory": BLUE,
    "on disk": "#c77700",
    "on this machine": GREEN,
    "on the server": GREEN,
}
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
FAMILY = "ui-sans-serif, system-ui, sans-serif"  # as the page
LABEL_HEIGHT = 0.11  # of the height of a figure of the page
FACTORS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)  # on an axis of times
MARKS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "hexagon")


def figure(x: str, y: str) -> go.Figure:
    """A figure without data; `x` and `y` are axis titles with their units."""
    fig = go.Figure()
    fig.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": TEXT, "size": 13, "family": FAMILY},
        margin={"l": 64, "r": 24, "t": 48, "b": 112},
        legend={"orientation": "h", "yref": "container", "y": 0.01, "yanchor": "bottom"},
        hoverlabel={"font": {"family": FAMILY}},
        uirevision="keep",
        dragmode=False,  # a finger that moves over a figure scrolls the page
    )
    axis = {
        "gridcolor": GRID,
        "zerolinecolor": GRID,
        "linecolor": GRID,
        "automargin": True,
        "fixedrange": True,
    }
    fig.update_xaxes(title=x, **axis)
    fig.update_yaxes(title=y, **axis)
    return fig


def series(place: int) -> dict:
    """Colour, dash and mark of the series at a place; a colour that comes again has an open
    mark."""
    colour = CYCLE[place % len(CYCLE)]
    symbol = MARKS[place % len(MARKS)] + "-open" * (place // len(MARKS) % 2)
    return {
        "line": {"color": colour, "dash": DASHES[place % len(DASHES)]},
        "marker": {"symbol": symbol, "size": 8, "color": colour},
    }


def rule_series(rule: str, again: int = 0) -> dict:
    """Colour, dash and mark of a verification rule, the same in every figure.

    Args:
        rule: its name.
        again: how many series of this rule the figure already has; each has another dash.
    """
    # By its place in the menu, so a rule looks alike in every figure.
    names = list(VERIFIERS)
    style = series(names.index(rule) if rule in names else len(names))
    style["line"]["dash"] = DASHES[(DASHES.index(style["line"]["dash"]) + again) % len(DASHES)]
    return style


def error_bars(
    values: Sequence[float], low: Sequence[float | None], high: Sequence[float | None]
) -> dict:
    """Error bars from intervals; none where there is None."""
    bars = {"type": "data", "symmetric": False, "thickness": 1, "width": 3}
    # nan for None, which is drawn as nothing
    below, above = np.abs(np.array([low, high], dtype=float) - values).tolist()
    return bars | {"array": above, "arrayminus": below}


def curve(
    fig: go.Figure, x: Sequence, y: Sequence, name: str, style: dict, hover: str, **more
) -> None:
    """A line with marks; `style` is from `series` or `rule_series`, `hover` what is shown of a
    point."""
    # Without the name, which stands beside the line: a label covers as little as it can.
    hover += "<extra></extra>"
    fig.add_scatter(x=x, y=y, name=name, mode="lines+markers", hovertemplate=hover, **style, **more)


def machine_series(name: str, place: int) -> dict:
    """Colour and mark of a machine, the same in every figure; `place` is for one without a colour
    of its own."""
    # By its place among the machines of the figure where it has no colour of its own.
    style = series(place)
    colour = MACHINES.get(name.partition(",")[0], style["line"]["color"])
    style["line"] = {"color": colour}
    style["marker"]["color"] = colour
    return style


def label_lines(fig: go.Figure) -> go.Figure:
    """Write the name of each line, up to a colon, at the right in its colour, in place of a
    legend."""
    lines = []
    for trace in fig.data:
        if "lines" in (trace.mode or "") and trace.name:
            lines.append(trace)
    # The axis reaches as far as the bars do.
    heights = [*chain.from_iterable(trace.y for trace in fig.data)]
    for trace in fig.data:
        for y, bar in zip(trace.y, trace.error_y.array or (), strict=False):
            heights.append(y + (bar or 0))
    # and to a number above them
    highest = max(heights)
    last = min((factor for factor in FACTORS if factor >= highest), default=highest)
    fig.update_yaxes(autorangeoptions_include=last)
    drawn = [_on_axis(fig.layout.yaxis, y) for y in heights]
    above = -math.inf

    def end_of(line: go.Scatter) -> float:
        return _on_axis(fig.layout.yaxis, line.y[-1])

    longest = 0
    for line in sorted(lines, key=end_of):
        name = line.name.partition(":")[0]
        longest = max(longest, len(name))
        # No closer to the label below it than the height of a line of text.
        above = max(end_of(line), above + LABEL_HEIGHT * (max(drawn) - min(drawn)))
        fig.add_annotation(
            x=1,
            xref="paper",
            y=above,
            text=html.escape(name),
            showarrow=False,
            xanchor="left",
            xshift=4,
            font={"color": line.line.color, "size": 13},
        )
    # In the margin, where no grid line crosses them; a letter is some 8 pixels wide.
    return fig.update_layout(showlegend=False, margin_r=10 + 8 * longest)


def explain_marks(fig: go.Figure, text: str) -> None:
    """Write above a figure what its marks and bars mean."""
    fig.add_annotation(
        text=text,
        showarrow=False,
        font={"color": TEXT, "size": 13},
        x=0,
        xref="paper",
        y=1.05,  # numbers at the highest marks stand below
        yref="paper",
        yanchor="bottom",
    )


def _on_axis(axis: go.layout.XAxis | go.layout.YAxis, value: float) -> float:
    """Where an annotation of a value stands on an axis."""
    if axis.type == "log":
        return math.log10(value)
    return value


def drawn_places(fig: go.Figure) -> list[int]:
    """Where along the x axis anything is drawn, rising."""
    # What is drawn already is the one source of ticks and of the line at 1.
    return sorted(set(chain.from_iterable(trace.x for trace in fig.data)))


def plain_line(fig: go.Figure) -> None:
    """A line where plain decoding is, at 1, through all that is drawn so far."""
    places = drawn_places(fig)
    line = {"color": TEXT, "dash": "dash", "width": 1.6}
    fig.add_scatter(
        x=[places[0], places[-1]],
        y=[1, 1],
        name="plain decoding",
        mode="lines",
        line=line,
        hoverinfo="skip",
    )
    fig.update_yaxes(rangemode="tozero")


def logarithmic(axis: str, fig: go.Figure, ticks: Sequence[float]) -> None:
    """A logarithmic axis with plain numbers at the given ticks; its title says so."""
    drawn = fig.layout[f"{axis}axis"]
    title = f"{drawn.title.text} (log scale)"
    names = [f"{tick:g}" for tick in ticks]
    drawn.update(type="log", tickvals=list(ticks), ticktext=names, title_text=title)


def rule_title(rule: str) -> str:
    """The title of a rule, as menus have it."""
    return getattr(VERIFIERS.get(rule), "title", rule)
