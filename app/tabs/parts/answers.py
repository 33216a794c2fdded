"""Answers of the server to controls that a visitor may change before they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

import gradio as gr

from .web import QUIET, dumps

# In the browser, with what the server answered and what the controls hold by then.
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
    unless: Sequence[gr.components.Component],
) -> None:
    """Let triggers set `outputs` to what `answer` returns for the values of `inputs`, unless a
    control has changed by then: an old answer would undo what the visitor did since.

    Args:
        triggers: the events after which `answer` is called.
        answer: a function of the values; it returns a value or an update for each output.
        inputs: whose values it gets.
        outputs: what the answer is for, two or more.
        unless: those of `inputs` after whose change an answer is dropped. A change of theirs must
            be among the triggers, or nothing takes the place of the answer that was dropped.
    """
    # The control itself counts, not another one that holds the same.
    compared = [any(control is other for other in unless) for control in inputs]

    @wraps(answer)
    def ask(*values: object) -> str:
        compared_values = [value for value, counts in zip(values, compared, strict=True) if counts]
        answered = [browser_value(value) for value in answer(*values)]
        return dumps({"inputs": compared_values, "values": answered})

    answered = gr.Textbox("", visible="hidden")
    asking = gr.on(triggers, ask, inputs, answered, trigger_mode="always_last", **QUIET)
    asking.success(None, [answered, *unless], outputs, js=APPLY, **QUIET)


def browser_value(value: object) -> object:
    """A value or an update of a component as gradio's code in the browser takes it."""
    return {"__type__": "update", "props": value.props} if isinstance(value, gr.HTML) else value
