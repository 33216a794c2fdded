"""A job: work that a visitor starts and may stop. The service says whose turn it is."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import gradio as gr

from specviz.config.prompt import Prompt

from ...service.pair_ref import PairRef
from ...service.queue import visitor_of
from ...service.service import RunService
from .web import QUIET


def streamed(
    service: RunService,
    request: gr.Request,
    ref: PairRef,
    work: Callable,
    *args: object,
    prompts: Sequence[Prompt] = (),
) -> aclosing[AsyncGenerator]:
    """`RunService.stream` for whoever sent a request, in the place of his earlier run of the same
    work; it ends with the block that it is iterated in. `prompts` are tried before on a pair that a
    visitor named."""
    visitor = visitor_of(request)
    items = service.stream(visitor, ref, work, *args, prompts=prompts, replaces=True)
    return aclosing(items)


@dataclass
class Job:
    """Buttons that start work, and the one Stop for all of it, which is lit while any of it waits
    or runs.

    `stopped` is what Stop writes, component -> value.
    """

    stop: gr.Button
    stopped: dict[gr.components.Component, str]

    def bind(
        self,
        triggers: Callable | Sequence[Callable],
        run: Callable,
        inputs: Sequence[gr.components.Component],
        outputs: Sequence[gr.components.Component],
    ) -> None:
        """Let triggers start `run`, an asynchronous generator that turns each of its failures into
        a message; a second start takes the place of the first (`RunService.stream`)."""

        def count(change: str, *values: object) -> str:
            """JavaScript that counts jobs at the Stop, where a click is seen before the queue
            is."""
            # What Stop writes beside it, as values in the script.
            texts = "".join(f", {json.dumps(value)}" for value in values)
            return (
                f"() => {{ const data = "
                f"document.getElementById({json.dumps(self.stop.elem_id)}).dataset; "
                f"data.jobs = Math.max(0, {change}); "
                f"return [{{ __type__: 'update', interactive: data.jobs > 0 }}{texts}]; }}"
            )

        # Counted in the browser: the page sends the events of a click one after the other, so an
        # answer of the server would light Stop only once the run itself was accepted.
        gr.on(triggers, None, None, [self.stop], js=count("Number(data.jobs || 0) + 1"), **QUIET)
        running = gr.on(
            triggers,
            run,
            inputs,
            outputs,
            show_progress="hidden",  # what is under way is a message of the run itself
            trigger_mode="multiple",  # or gradio drops what is pressed while a run goes on
            preprocess=False,
            api_visibility="private",
            concurrency_limit=None,  # the service has a queue of its own
        )
        running.then(None, None, [self.stop], js=count("Number(data.jobs || 0) - 1"), **QUIET)
        self.stop.click(
            None,
            None,
            [self.stop, *self.stopped],
            js=count("0", *self.stopped.values()),
            cancels=[running],
            **QUIET,
        )
