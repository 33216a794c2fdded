"""A job: work that a visitor starts and may stop, in one queue.

Runs of all visitors and all tabs wait in one queue and run one at a time. Gradio shows each visitor the place in the
queue; when it is full, a visitor gets a message. Several jobs may share a Stop, which is lit
while any of them waits or runs. Which do is known in the browser alone, where a click is seen before the line is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from ..machine import limits
from ..machine.queue import MACHINE
from .web import imported

STOPPING = "The previous run is still stopping. Press the button again in a moment."
SAME = "{ __type__: 'update' }"


class Job:
    """Buttons that start work, the one Stop for all of it, and the message when work is rejected.

    Args:
        stop: its Stop, unlit at first; it has an id.
        line: where sentences go, a notice or a status.
        stopped: what Stop writes, component -> value.
    """

    def __init__(self, stop: gr.Button, line: gr.HTML, stopped: dict[Any, Any]) -> None:
        self.stop, self.line, self.stopped, self._count = stop, line, stopped, 0

    def starts(
        self, asked: Callable | Sequence[Callable], run: Callable, inputs: Sequence[Any], outputs: Sequence[Any]
    ) -> Any:
        """Let triggers start work; returns the event.

        Args:
            asked: triggers, such as a button's click.
            run: a generator that turns each of its failures into a message.
            inputs, outputs: of it.
        """
        self._count += 1
        quiet = {"show_progress": "hidden", "api_visibility": "private", "queue": False}
        asked = asked if isinstance(asked, Sequence) else [asked]

        def send(news: str, returned: str) -> str:
            names = f"{self.stop.elem_id} {self._count}", self.stop.elem_id, news
            return (
                f"async () => {{ const {{ was, lit }} = (await {imported()}).job({', '.join(map(json.dumps, names))}); "
                f"const stop = {{ __type__: 'update', interactive: lit }}; return {returned}; }}"
            )

        # In the browser, at once: what waits in the line can be stopped as well.
        gr.on(
            asked, None, None, [self.line, self.stop],
            js=send("asked", f"[was === 'stopping' ? {_error(STOPPING)} : {SAME}, stop]"), **quiet,
        )  # fmt: skip
        running = gr.on(
            asked, run, inputs, outputs, show_progress="minimal", show_progress_on=self.line, preprocess=False,
            api_visibility="private", **MACHINE,
        )  # fmt: skip
        running.success(None, None, self.stop, js=send("ended", "[stop]"), **quiet)
        # A job that was stopped ends as one that failed does, and gradio may say twice that it ended.
        running.failure(
            None, None, [self.line, self.stop],
            js=send("ended", f"[was === 'asked' ? {_error(full())} : {SAME}, stop]"), **quiet,
        )  # fmt: skip
        written = ", ".join(json.dumps(value) for value in self.stopped.values())
        self.stop.click(
            None, None, [self.stop, *self.stopped], js=send("stopping", f"[stop, {written}]"), cancels=[running],
            **quiet,
        )  # fmt: skip
        return running


def full() -> str:
    """The message for a visitor whose job was not queued."""
    return (
        f"This run was not started: the queue is full (at most {limits.QUEUE} wait here), or the connection was lost. "
        "Try again in a minute; nothing was lost."
    )


def _error(text: str) -> str:
    """JavaScript for a notice or a status that says `text` as an error."""
    return json.dumps(json.dumps({"kind": "error", "text": text}))
