"""How every figure looks: readable on light and dark pages, colours that people who confuse red and green can tell
apart (Okabe and Ito), no background of its own, and a different line or mark for every series.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

import plotly.graph_objects as go

from ..builders import BUILDERS
from ..verifiers import VERIFIERS

TEXT = "#757575"  # contrast 4.6 on white, where WCAG AA asks for 4.5; the page sets its own
GRID = "rgba(128,128,128,0.3)"
GREEN, VERMILLION, BLUE, ORANGE = "#009e73", "#d55e00", "#0072b2", "#e69f00"
PURPLE, SKY, YELLOW, GREY = "#cc79a7", "#56b4e9", "#c9b800", "#8a8f98"
CYCLE = (GREEN, ORANGE, SKY, VERMILLION, PURPLE, BLUE, YELLOW, GREY)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "hexagon")
OUTCOMES = {"root": GREY, "accepted": GREEN, "rejected": VERMILLION, "unreached": GREY, "passed": PURPLE,
            "probe": GREY}  # fmt: skip
OUTCOME_MARKS = {
    "root": "circle", "accepted": "square", "rejected": "x-thin-open", "unreached": "circle-open",
    "passed": "triangle-up", "probe": "triangle-down-open",
}  # fmt: skip


def figure(x: str, y: str, title: str = "", **layout) -> go.Figure:
    """A figure without data; `x` and `y` are axis titles with their units."""
    fig = go.Figure()
    fig.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": TEXT, "size": 13},
        title={"text": title, "font": {"size": 15}},
        margin={"l": 64, "r": 24, "t": 48, "b": 112},
        legend={"orientation": "h", "yref": "container", "y": 0.01, "yanchor": "bottom"},
        hoverlabel={"font": {"size": 13}},
        uirevision="keep",
    )
    fig.update_xaxes(title=x, gridcolor=GRID, zerolinecolor=GRID, linecolor=GRID, automargin=True)
    fig.update_yaxes(title=y, gridcolor=GRID, zerolinecolor=GRID, linecolor=GRID, automargin=True)
    return fig.update_layout(**layout)


def empty(sentence: str) -> go.Figure:
    """An empty figure with a message."""
    fig = figure("", "")
    fig.update_xaxes(visible=False)
    fig.update_yaxes(visible=False)
    fig.add_annotation(text=sentence, showarrow=False, font={"size": 15, "color": TEXT}, xref="paper", yref="paper")
    return fig


def series(place: int) -> dict:
    """Colour, dash and mark of the series at a place; a colour that comes again has an open mark."""
    colour, symbol = CYCLE[place % len(CYCLE)], MARKS[place % len(MARKS)] + "-open" * (place // len(MARKS) % 2)
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
    names = list(VERIFIERS)
    look = series(names.index(rule) if rule in names else len(names))
    look["line"]["dash"] = DASHES[(DASHES.index(look["line"]["dash"]) + again) % len(DASHES)]
    return look


def titled(name: str) -> str:
    """The name of a series with the titles of strategies, as menus have them.

    Args:
        name: parts between commas; of each, the first word may be the name of a rule or builder.
    """
    parts = [part.partition(" ") for part in name.split(", ")]
    titles = {**BUILDERS, **VERIFIERS}
    return ", ".join(f"{titles[word].title if word in titles else word}{gap}{rest}" for word, gap, rest in parts)


def error_bars(values: Sequence[float], low: Sequence[float | None], high: Sequence[float | None]) -> dict:
    """Error bars from intervals; none where there is None."""
    return {
        "type": "data", "symmetric": False, "thickness": 1, "width": 3,
        "array": [end if end is None else max(0.0, end - value) for value, end in zip(values, high, strict=True)],
        "arrayminus": [end if end is None else max(0.0, value - end) for value, end in zip(values, low, strict=True)],
    }  # fmt: skip


def curve(fig: go.Figure, x: Sequence, y: Sequence, name: str, look: dict, hover: str, **more) -> None:
    """A line with marks; `look` is from `series` or `rule_series`, `hover` what is shown of a point."""
    fig.add_scatter(x=x, y=y, name=name, mode="lines+markers", hovertemplate=hover, **look, **more)


def guide(fig: go.Figure, x: Sequence, y: Sequence, name: str, hover: str | None = None, dash: str = "dash") -> None:
    """A grey line without marks, such as a bound; nothing is shown of its points without `hover`."""
    shown = {"hovertemplate": hover} if hover else {"hoverinfo": "skip"}
    fig.add_scatter(x=x, y=y, name=name, mode="lines", line={"color": GREY, "dash": dash, "width": 1.5}, **shown)


def dots(fig: go.Figure, x: Sequence, y: Sequence, name: str, hover: str, most: int = 2000) -> None:
    """Small marks for many positions, at most `most` of them."""
    every = max(1, len(x) // most)
    marker = {"color": SKY, "size": 4, "opacity": 0.4}
    fig.add_scatter(x=x[::every], y=y[::every], name=name, mode="markers", marker=marker, hovertemplate=hover)


def means(fig: go.Figure, bins: Sequence[tuple[float, float, int]], name: str, hover: str) -> None:
    """The line through the means of bins, (x, y, how many positions)."""
    x, y, count = zip(*bins, strict=True)
    look = {"line": {"color": GREEN, "width": 2.5}, "marker": {"symbol": "square", "size": 8}}
    curve(fig, x, y, name, look, hover, customdata=count)


def logarithmic(axis: str, fig: go.Figure, ticks: Sequence[float]) -> None:
    """A logarithmic axis with plain numbers at the given ticks."""
    update = fig.update_xaxes if axis == "x" else fig.update_yaxes
    update(type="log", tickvals=list(ticks), ticktext=[f"{tick:g}" for tick in ticks])


def rule_line(fig: go.Figure, y: float, text: str, colour: str = GREY) -> None:
    """A dashed horizontal line with a word on it."""
    fig.add_hline(
        y=y, line={"color": colour, "dash": "dash", "width": 1.2},
        annotation={"text": text, "font": {"size": 11, "color": TEXT}, "yshift": 5},
        annotation_position="top right",
    )  # fmt: skip


def speedup_map(fig: go.Figure, x: Sequence, y: Sequence, speedup: Sequence, tokens: Sequence, words: str) -> None:
    """A heat map of speedups [y][x] around 1; `words` say in hover what a cell is, and `tokens` are shown with it."""
    values = [value for row in speedup for value in row if value is not None]
    low, high = min(0.5, *values), max(1.5, *values)
    fig.add_heatmap(
        x=list(map(str, x)), y=list(map(str, y)), z=speedup, customdata=tokens, name="speedup",
        zmin=low, zmax=high, xgap=1, ygap=1, hoverongaps=False,
        colorscale=[[0, VERMILLION], [(1 - low) / (high - low), "#dddddd"], [1, BLUE]],
        colorbar={"title": {"text": "speedup"}, "outlinewidth": 0},
        hovertemplate=f"{words}: %{{z:.2f}}× plain decoding, %{{customdata:.2f}} tokens per target pass<extra></extra>",
    )  # fmt: skip
    fig.update_xaxes(type="category")
    fig.update_yaxes(type="category")


def star(fig: go.Figure, x: float, y: float) -> go.Figure:
    """The mark of the best cell of a map."""
    return fig.add_scatter(
        x=[str(x)], y=[str(y)], mode="markers", name="best", hoverinfo="skip", showlegend=False,
        marker={"symbol": "star", "size": 15, "color": "#ffffff", "line": {"color": "#000000", "width": 1.5}},
    )  # fmt: skip


def visible(text: str, most: int = 24) -> str:
    """A token as a person can see it, harmless in a figure: white space and control characters get a sign."""
    signs = {"\n": "↵", "\t": "⇥", " ": "·", "\r": "↵"}
    shown = "".join(signs.get(c) or (c if c.isprintable() else f"\\x{ord(c):02x}") for c in text) or "∅"
    return html.escape(shown if len(shown) <= most else shown[: most - 1] + "…", quote=False)
