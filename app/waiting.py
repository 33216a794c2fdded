"""The queue before the machine: runs of all visitors and all tabs wait in one line, and one at a time has its turn.

Gradio shows each visitor the place in the line; whoever comes when it is full is told so.
"""

from __future__ import annotations

import json
from typing import Any

import gradio as gr

from . import limits

MACHINE = {"concurrency_limit": 1, "concurrency_id": "machine"}  # of every event that decodes


def refused(running: Any, line: gr.HTML, stop: gr.Button) -> None:
    """Say in a sentence that a run was not let into the queue.

    Args:
        running: the event that decodes. Its own errors never end it, so that it fails only on its way there.
        line: where the sentence goes, a notice or a status.
        stop: its button, which has nothing to stop then.
    """
    text = (
        f"This was not started: the queue is full (at most {limits.QUEUE} wait here), or the connection was lost. "
        "Try again in a minute; nothing on this page is gone."
    )
    told = json.dumps(json.dumps({"kind": "error", "text": text}))
    running.failure(
        None, None, [line, stop], js=f"() => [{told}, {{__type__: 'update', interactive: false}}]",
        show_progress="hidden", api_visibility="private",
    )  # fmt: skip
