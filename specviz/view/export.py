"""The numbers of a figure as CSV."""

from __future__ import annotations

import csv
import io

import plotly.graph_objects as go


def to_csv(figure: go.Figure) -> str:
    """Write the series of a figure as CSV text: series, x and y.

    Args:
        figure: as `plot` draws it.

    >>> print(to_csv(go.Figure(go.Bar(name="tokens", x=[1, 2], y=[3, 4]))), end="")
    series,x,y
    tokens,1,3
    tokens,2,4
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["series", "x", "y"])
    for trace in figure.data:
        # The name of a series may come from a visitor's file.
        name = _safe(trace.name or "")
        for x, y in zip(trace.x, trace.y, strict=True):
            writer.writerow([name, _safe(x), _safe(y)])
    return text.getvalue()


def _safe(value: object) -> object:
    """A cell that a spreadsheet does not take for a formula; empty where there is no number."""
    if isinstance(value, str):
        if value[:1] in tuple("=+-@\t\r"):
            return f"'{value}"
        return value
    if value is None or value != value:  # NaN is no number either
        return ""
    return value
