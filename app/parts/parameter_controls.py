"""The control of one parameter of a strategy, made from its field's metadata, and its value there and back."""

from __future__ import annotations

import json
import math
from dataclasses import Field
from typing import Any

import gradio as gr

from specviz.parameters import read_value


def parameter(f: Field, visible: bool) -> gr.components.Component:
    """The control for one field of a builder or a verifier."""
    meta, value = f.metadata, shown_value(f, f.default)
    common = {"label": meta["label"], "info": meta["help"], "interactive": True, "visible": visible}
    match meta["kind"]:
        case "whole":
            wide = meta["low"] >= 1 and meta["high"] >= 256 * meta["low"]
            return gr.Slider(
                meta["low"], meta["high"], value=value, step=1, elem_classes="sv-log" if wide else None, **common
            )
        case "real":
            return gr.Slider(meta["low"], meta["high"], value=value, step=step_of(meta), **common)
        case "flag":
            return gr.Checkbox(value=value, **common)
        case "widths" | "names" | "free":
            return gr.Textbox(value, max_lines=1, **common)
        case "choice":
            return gr.Dropdown(list(meta["options"]), value=value, filterable=False, **common)
        case kind:
            raise ValueError(f"The kind of the parameter {f.name} must be one that has a control; got {kind!r}.")


def shown_value(f: Field, value: Any) -> Any:
    """The value of a field as its control holds it; `parse` is the reverse."""
    match f.metadata["kind"]:
        case "widths" | "names":
            return ", ".join(map(str, value))
        case "free":
            return value if isinstance(value, str) else json.dumps(value)
    return value


def step_of(meta: Any) -> float:
    """A slider's step: about a hundred to a range, a power of ten."""
    return 10.0 ** math.floor(math.log10((meta["high"] - meta["low"]) / 50))


def parse(f: Field, value: Any) -> Any:
    """A control's value as its field wants it.

    Raises:
        ValueError: if a list of whole numbers is not one; all else is checked by the builder or verifier itself.
    """
    if f.metadata["kind"] == "whole" and isinstance(value, float) and value.is_integer():
        return int(value)
    if f.metadata["kind"] in ("widths", "names", "free"):
        return read_value(f.metadata["label"], str(value), f.metadata)
    return value
