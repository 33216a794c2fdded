"""Export the numbers of a figure: JSON of its info, CSV of its series."""

from __future__ import annotations

import csv
import io
from typing import Any

import plotly.graph_objects as go

from ..codec import dumps


def to_json(info: Any) -> str:
    """An info (a NamedTuple, or a dataclass in it) as JSON text; what is not a finite number becomes null.

    Args:
        info: what the `info` of a figure's module returns.

    >>> to_json({"speedup": float("nan"), "sizes": (1, 2)})
    '{"speedup":null,"sizes":[1,2]}'
    """
    return dumps(info)


def to_csv(figure: go.Figure) -> str:
    """The series of a figure as CSV text: series, x, y, and z for a heat map.

    Args:
        figure: as `plot` draws it.

    >>> print(to_csv(go.Figure(go.Bar(name="tokens", x=[1, 2], y=[3, 4]))), end="")
    series,x,y,z
    tokens,1,3,
    tokens,2,4,
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["series", "x", "y", "z"])
    for trace in figure.data:
        name = _safe(trace.name or "")
        if getattr(trace, "z", None) is not None:
            for y, row in zip(trace.y, trace.z, strict=True):
                writer.writerows([name, x, y, _number(z)] for x, z in zip(trace.x, row, strict=True))
        elif trace.x is not None and trace.y is not None:
            writer.writerows([name, _safe(x), _safe(y), ""] for x, y in zip(trace.x, trace.y, strict=True))
    return text.getvalue()


def _number(value: Any) -> Any:
    return "" if value is None or value != value else value


def _safe(value: Any) -> Any:
    """Text that a spreadsheet will not take for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else _number(value)
