"""Answers of the server to controls that a visitor may change before they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

import gradio as gr

from specviz.view.payload import page_json

from .web import QUIET

# In the browser, with what the server answered and what the controls hold by then: all of the
# answer, or nothing where one of them has changed; or all but the values of those that have.
ALL = """(answer, ...now) => {
  const { inputs, values } = JSON.parse(answer);
  const isOld = JSON.stringify(inputs) !== JSON.stringify(now);
  return values.map(value => (isOld ? { __type__: 'update' } : value));
}"""
UNCHANGED = """(answer, ...now) => {
  const { inputs, values: [note, ...values] } = JSON.parse(answer);
  const same = i => JSON.stringify(inputs[i]) === JSON.stringify(now[i]);
  return [note, ...values.map((value, i) => (same(i) ? value : { __type__: 'update' }))];
}"""


def ask_about(
    triggers: Sequence[Callable],
    answer: Callable[..., Sequence[object]],
    inputs: Sequence[gr.components.Component],
    outputs: Sequence[gr.components.Component],
    unless: Sequence[gr.components.Component],
    apply: str = ALL,
) -> Callable[..., object]:
    """Let triggers set `outputs` to what `answer` returns for the values of `inputs`, unless a
    control has changed by then: an old answer would undo what the visitor did since.

    Args:
        triggers: the events after which `answer` is called.
        answer: a function of the values; it returns a value or an update for each output.
        inputs: whose values it gets, after the event where it takes one.
        outputs: what the answer is for, two or more.
        unless: those of `inputs` after whose change an answer is dropped. A change of theirs must
            be among the triggers, or nothing takes the place of the answer that was dropped.
        apply: what becomes of the answer in the browser, `ALL` or `UNCHANGED`; the latter is for a
            note and then the controls in `unless`.

    Returns:
        what adds a function that is called once `outputs` are set.
    """
    # The control itself counts, not another one that holds the same.
    is_compared = []
    for control in inputs:
        is_compared.append(any(control is other for other in unless))

    @wraps(answer)
    def ask(*values: object) -> str:
        held = values[-len(inputs) :]  # without the event, where the answer takes one
        compared_values = []
        for value, counts in zip(held, is_compared, strict=True):
            if counts:
                compared_values.append(value)
        answered = list(map(browser_value, answer(*values)))
        return page_json({"inputs": compared_values, "values": answered})

    box = gr.Textbox("", visible="hidden")
    asking = gr.on(triggers, ask, inputs, box, trigger_mode="always_last", **QUIET)
    return asking.success(None, [box, *unless], outputs, js=apply, **QUIET).then


def browser_value(value: object) -> object:
    """A value or an update of a component as gradio's code in the browser takes it."""
    if isinstance(value, gr.HTML):
        return {"__type__": "update", "props": value.props}
    return value
