"""What the text of a parameter in a link means to a control: checked, and brought into its range."""

from __future__ import annotations

import math
import re
from typing import Any

import gradio as gr

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
FLAGS = {"true": True, "1": True, "false": False, "0": False}


def control_value(control: gr.components.Component, text: str, changes: list[str], hint: str = "") -> Any:
    """A text of a link as the value of a control.

    Args:
        control: which takes it.
        text: from a stranger.
        changes: gets a sentence if the value is brought into range.
        hint: what to do where a menu has no such choice.

    Raises:
        ValueError: a sentence on why it cannot be one.
    """
    match control:
        case gr.Dropdown() | gr.Radio():
            options = [*(value for _, value in control.choices), *getattr(control, "also", ())]
            if text not in options:
                raise ValueError(f"{control.label} {shown_text(text)} is not one of the choices and was ignored{hint}.")
            return text
        case gr.Checkbox():
            if text.lower() not in FLAGS:
                raise ValueError(f"{control.label} must be true or false; {shown_text(text)} was ignored.")
            return FLAGS[text.lower()]
        case gr.Slider() | gr.Number():
            if not NUMBER.fullmatch(text.strip()):
                raise ValueError(f"{control.label} must be a number; {shown_text(text)} was ignored.")
            low, high = (-math.inf if control.minimum is None else control.minimum,
                         math.inf if control.maximum is None else control.maximum)  # fmt: skip
            number = float(min(max(float(text), low), high))
            if number != float(text):
                changes.append(
                    f"{control.label} must be from {low:g} to {high:g}; {shown_text(text)} was set to {number:g}."
                )
            return int(number) if number.is_integer() else number
        case _:
            return text


def shown_text(text: str) -> str:
    """Untrusted text inside a sentence."""
    text = "".join(c if c.isprintable() else " " for c in text[:41])
    return f"“{text if len(text) <= 40 else text[:40] + '…'}”"
