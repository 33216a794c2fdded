"""The control of one parameter of a strategy, made from its schema, and its value there and back."""

from __future__ import annotations

import json
import math
from typing import Any

import gradio as gr

from specviz.strategy import parse_value
from specviz.validation import Schema


def parameter(schema: Schema, visible: bool) -> gr.components.Component:
    """The control for one parameter of a builder, rule or drafter."""
    value = shown_value(schema["default"])
    common = {"label": schema["title"], "info": schema.get("description"), "interactive": True, "visible": visible}
    low: Any = schema.get("minimum")
    high: Any = schema.get("maximum")
    match schema.get("type"):
        case "integer" | "number" if low is None or high is None:
            return gr.Number(value, **common)
        case "integer":
            wide = low >= 1 and high >= 256 * low
            return gr.Slider(low, high, value=value, step=1, elem_classes="sv-log" if wide else None, **common)
        case "number":
            return gr.Slider(low, high, value=value, step=step_of(low, high), **common)
        case "boolean":
            return gr.Checkbox(value=value, **common)
        case "string" if "enum" in schema:
            return gr.Dropdown(schema["enum"], value=value, filterable=False, **common)
    return gr.Textbox(str(value), max_lines=1, **common)


def shown_value(value: Any) -> Any:
    """The value of a parameter as its control holds it; `parse` is the reverse."""
    if isinstance(value, tuple | list):
        nested = any(isinstance(part, tuple | list) for part in value)
        return json.dumps(value) if nested else ", ".join(map(str, value))
    return value


def step_of(low: float, high: float) -> float:
    """A slider's step: about a hundred to a range, a power of ten."""
    return 10.0 ** math.floor(math.log10((high - low) / 50))


def parse(schema: Schema, value: Any) -> Any:
    """A control's value as its field wants it; it is checked by the strategy itself."""
    if schema.get("type") == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if schema.get("type") not in ("integer", "number", "boolean"):
        return parse_value(str(value), schema)
    return value
