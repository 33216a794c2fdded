"""The queue before the machine: runs of all visitors and all tabs wait in one line, and one at a time has its turn.

Gradio shows each visitor the place in the line; whoever comes when it is full is told so.
"""

from __future__ import annotations

import json
from typing import Any

import gradio as gr

from . import limits

MACHINE = {"concurrency_limit": 1, "concurrency_id": "machine"}  # of every event that decodes
# Gradio takes a run that is stopped for one that failed. In the page's header, which is always there.
NOTES_STOPS = """
document.addEventListener('click', event => {
  if (event.target.closest('[id$="-stop"]')) window.specvizStopped = Date.now();
}, true);
"""
STOPPED = 5000  # milliseconds in which a failure is that of a run that was stopped


def refused(running: Any, line: gr.HTML, stop: gr.Button) -> None:
    """Say in a sentence that a run was not let into the queue.

    Args:
        running: the event that decodes. Its own errors never end it, so that it fails only on its way there.
        line: where the sentence goes, a notice or a status.
        stop: its button, which has nothing to stop then; its id ends in "-stop".
    """
    text = (
        f"This was not started: the queue is full (at most {limits.QUEUE} wait here), or the connection was lost. "
        "Try again in a minute; nothing on this page is gone."
    )
    told = json.dumps(json.dumps({"kind": "error", "text": text}))
    nothing = "{__type__: 'update'}"
    running.failure(
        None, None, [line, stop],
        js=f"() => Date.now() - (window.specvizStopped || 0) < {STOPPED} ? [{nothing}, {nothing}] "
        f": [{told}, {{__type__: 'update', interactive: false}}]",
        show_progress="hidden", api_visibility="private",
    )  # fmt: skip
