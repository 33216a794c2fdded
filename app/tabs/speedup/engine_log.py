"""The card "Your engine's log": what a visitor's engine says of its speculation. It reads no file and no address."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr

from specviz.paths import asset

from ...machine.request_queue import BESIDE
from ...parts.study_card import fold
from ...parts.uploads import reported
from ...parts.web import starts

MOST = 4_000_000  # bytes of a text


def card() -> None:
    """Lay it out, in a fold of its own."""
    with fold("log", "Your engine's log"):
        gr.HTML(
            html_template=asset("figures/log.html"), js_on_load=starts("log", most=MOST), server_functions=[read_log],
            elem_id="sv-log", apply_default_css=False,
        )  # fmt: skip


async def read_log(asked: Any) -> str:
    """{"reports"} of a text, or {"error"}, as JSON.

    Args:
        asked: {"text": from a stranger, "baseline": tokens per second as text, "" for none}.
    """
    try:
        asked = asked if isinstance(asked, dict) else {}
        text, written = asked.get("text"), str(asked.get("baseline") or "").strip()[:40]
        if not isinstance(text, str) or len(text.encode(errors="replace")) > MOST:
            raise ValueError(f"A log must be text of at most {MOST / 1e6:g} MB. Use a part of it.")
        try:
            baseline = float(written) if written else None
        except ValueError:
            raise ValueError("Plain decoding must be a number of tokens per second, or empty.") from None
        return await BESIDE(reported, text, baseline)
    except ValueError as error:
        return json.dumps({"error": str(error)})
