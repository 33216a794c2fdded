"""What the sources report, each number with its place in its paper, and what was measured here in a separate block.

The numbers are data, assets/published.json. They were made with other models on other machines, so the two blocks share
no column and no figure.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import gradio as gr

from specviz.files import PUBLISHED
from specviz.plots.predicted import Point

from ...parts.card import Source, harmless
from ...parts.web import starts

COLUMNS = (
    "Method", "Speedup", "Tokens per target pass", "Place", "Target and draft", "Temperature", "Text", "Machine",
    "Setting", "Against",
)  # fmt: skip
HERE = ("Tree", "Predicted speedup", "Measured speedup", "Span")


@lru_cache
def published() -> dict[str, Any]:
    """The sources and their rows."""
    return json.loads(PUBLISHED.read_text(encoding="utf-8"))


def table(points: Sequence[Point], source: Source, setting: str) -> gr.HTML:
    """The two kinds of blocks as a component; `value` makes its value anew."""
    return gr.HTML(
        value(points, source, setting), html_template='<div class="sv-published"></div>',
        js_on_load=starts("published"),
        apply_default_css=False, elem_id="sv-published",
    )  # fmt: skip


def value(points: Sequence[Point], source: Source, setting: str) -> str:
    """The blocks as JSON: first what was measured with the current pair, then each source.

    Args:
        points: trees that were timed.
        source: where those come from.
        setting: a sentence on pair, rule and temperature.
    """
    rows = [[p.name, f"{p.predicted:.2f}", f"{p.measured:.2f}", f"{p.low:.2f} to {p.high:.2f}"] for p in points]
    here = {
        "kind": "here", "title": "This machine, current pair", "source": source.label, "columns": HERE, "rows": rows,
        "note": f"{setting} Not comparable with the papers below: other models, another machine.",
    }  # fmt: skip
    return harmless({"blocks": [here, *map(_block, published()["sources"].items())]})


def _block(named: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    name, source = named
    rows = [
        [
            row["method"], f"{row['speedup']:.2f}",
            None if row["tokens_per_pass"] is None else f"{row['tokens_per_pass']:.2f}",
            {"text": row["place"], "url": row["url"]}, f"{row['target']}, {row['draft']}",
            None if row["temperature"] is None else f"{row['temperature']:g}", row["data"], row["machine"],
            row["setting"], row["baseline"],
        ]
        for row in published()["rows"]
        if row["source"] == name
    ]  # fmt: skip
    return {
        "kind": "published", "title": source["title"], "source": "published", "note": source["note"],
        "columns": COLUMNS, "rows": rows,
    }  # fmt: skip
