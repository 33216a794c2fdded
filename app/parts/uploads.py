"""A saved run from a visitor, shown or exported.

Without gradio, since another process computes it.
"""

from __future__ import annotations

from specviz import Trace
from specviz.player import FORMATS
from specviz.player.payload import recorded_message


def shown(text: str, name: str) -> tuple[str, str]:
    """A run from a file as a message to the page, and as JSON.

    Args:
        text: of the file, from a stranger.
        name: of the run on the page.

    Raises:
        ValueError: if it is no run.
    """
    trace = Trace.from_json(text)
    return recorded_message(trace, name=name, badge="opened from a file"), trace.to_json()


def exported(text: str, kind: str) -> str:
    """A run in one of `FORMATS`."""
    return FORMATS[kind](Trace.from_json(text))
