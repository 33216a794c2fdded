"""Answers of the server to controls that a visitor may change before they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

import gradio as gr

from specviz.view.payload import page_json

from .web import QUIET

# In the browser, with what the server answered and what the controls hold by then: the answer, or
# nothing where one of them has changed.
APPLY = """(answer, ...now) => {
  const { inputs, values } = JSON.parse(answer);
  const isOld = JSON.stringify(inputs) !== JSON.stringify(now);
  return values.map(value => (isOld ? { __type__: 'update' } : value));
}"""


def ask_about(
    triggers: Sequence[Callable],
    answer: Callable[..., Sequence[object]],
    inputs: Sequence[gr.components.Component],
    outputs: Sequence[gr.components.Component],
    besides: Sequence[gr.components.Component] = (),
) -> None:
    """Let triggers set `outputs` to what `answer` returns for the values of `inputs`, unless a
    control has changed by then: an old answer would undo what the visitor did since.

    Args:
        triggers: the events after which `answer` is called.
        answer: a function of the values; it returns a value or an update for each output.
        inputs: whose values it gets, and after whose change its answer is dropped. Their change
            must be among the triggers, or nothing takes the place of the answer that was dropped.
        outputs: what the answer is for, two or more.
        besides: whose values it gets too.
    """

    @wraps(answer)
    def ask(*values: object) -> str:
        answered = list(map(browser_value, answer(*values)))
        return page_json({"inputs": values[: len(inputs)], "values": answered})

    box = gr.Textbox("", visible="hidden")
    asking = gr.on(triggers, ask, [*inputs, *besides], box, trigger_mode="always_last", **QUIET)
    asking.success(None, [box, *inputs], outputs, js=APPLY, **QUIET)


def browser_value(value: object) -> object:
    """A value or an update of a component as gradio's code in the browser takes it."""
    if isinstance(value, gr.HTML):
        return {"__type__": "update", "props": value.props}
    return value
