"""A saved run from a visitor, read or exported, without gradio because another process computes
it."""

from __future__ import annotations

import zlib

from specviz.record.trace import Trace
from specviz.view import offline_page
from specviz.view.payload import recorded_message

KINDS = ("json", "html")  # what a run is saved as


def read_run(body: bytes, name: str) -> tuple[bytes, bytes]:
    """A run from a file as a message to the page, and as compressed JSON; raises a `ValueError` if
    it is no run."""
    try:
        # Every field is checked here, before anything is drawn of it.
        trace = Trace.from_json(body.decode())
        message = recorded_message(trace, name=name, badge="opened from a file")
        return message.encode(), zlib.compress(trace.to_json().encode())
    except UnicodeError:
        raise ValueError("A run must be valid Unicode text.") from None


def export_run(text: str, link: str) -> str:
    """A run as a page that plays offline, with a link to where it is shown again."""
    return offline_page(Trace.from_json(text), link)
