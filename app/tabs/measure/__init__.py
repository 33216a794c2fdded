"""The tab "Measure": five questions, each answered in a sentence and a figure, from recordings or
from this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from itertools import chain

import gradio as gr
import plotly.graph_objects as go

from specviz.base import codec
from specviz.base.progress import Progress
from specviz.measure.cost_table import CostTable
from specviz.measure.this_machine import MachineMeasurement, measure_machine
from specviz.record.vectors import find_vector, stored
from specviz.view.figures import plot

from ...service.failures import explain
from ...service.pair_ref import SMOLLM2
from ...service.queued_run import Note, Turn
from ...service.service import RunService
from ..parts import recorded
from ..parts.card import Card, Content, status, status_text
from ..parts.frame import Tab
from ..parts.job import Job, streamed
from ..parts.web import QUIET
from .answers import (
    HERE,
    HOLDS,
    MACHINE,
    accepted_by_rank,
    cost_of_a_pass,
    fastest_tree,
    four_rates,
    prediction_answer,
)

# Those of Explore, of which the figures are recorded.
PAIR = SMOLLM2
DRAFTER = "quantized"
OPENING_TEMPERATURE = 0.6  # that of Explore
MEASURED = f"in memory, measured {HERE}"
VECTORS = stored(DRAFTER, PAIR)
TEMPERATURES = sorted({one.temperature or 0.0 for one in VECTORS})
RULES = (recorded.RULE, "specinfer", "target-match")  # whose acceptance is drawn


def build(service: RunService) -> None:
    """Lay out the tab and connect it."""
    with gr.Row(elem_classes="sv-opts sv-measure-controls sv-not-presented"):
        temperature = gr.Radio(
            [(f"{value:g}", value) for value in TEMPERATURES],
            value=OPENING_TEMPERATURE,
            label="Temperature",
            elem_id="sv-measure-temperature",
            elem_classes="sv-choice",
        )
        go = gr.Button(f"Measure {MACHINE}", variant="primary", elem_id="sv-measure")
        stop = gr.Button("Stop", interactive=False, elem_id="sv-measure-stop")
        gr.HTML(contents_list(), elem_classes="sv-measure-list")
    line = status("sv-measure-status", "Measuring takes 2 to 3 minutes on two cores.")
    # The page itself keeps what was measured for it, as JSON.
    measurement = gr.Textbox("", visible="hidden", elem_id="sv-measured")
    first = contents(OPENING_TEMPERATURE, None)
    with gr.Column(elem_classes="sv-figures"):
        cards = {}
        for name, (_, question, explanation) in QUESTIONS.items():
            cards[name] = Card(name, question, explanation, first[name])
    outputs = [line, measurement, *chain.from_iterable(card.outputs for card in cards.values())]

    def filled(value: object, result: MachineMeasurement | None) -> dict:
        updates: dict[gr.components.Component, object] = {}
        for name, content in contents(checked(value), result).items():
            updates |= cards[name].fill(content)
        return updates

    def draw(value: object, measured_here: object) -> dict:
        try:
            result = None
            if measured_here:
                result = codec.read(MachineMeasurement, measured_here, "measured")
            return filled(value, result)
        except Exception as error:
            return {line: status_text(explain(error, "The figures could not be drawn."), "error")}

    temperature.change(
        draw, [temperature, measurement], outputs, trigger_mode="always_last", **QUIET
    )

    async def run(request: gr.Request, value: object) -> AsyncIterator[dict]:
        try:
            result: MachineMeasurement | None = None
            pair = service.pairs.first
            async with streamed(service, request, pair, measure, checked(value)) as items:
                async for item in items:
                    if isinstance(item, Note):
                        yield {line: status_text(item.text)}
                        continue
                    # No time that is left: the runs become longer with the trees.
                    text = f"{item.done} of {item.total} runs"
                    yield {line: status_text(text, "", item.done, item.total)}
                    # Drawn once the costs are complete, and again once all trees are timed.
                    if item.result and (result is None or item.done == item.total):
                        result = item.result
                        yield filled(value, result) | {measurement: codec.dumps(result)}
            yield {line: status_text(f"Measured {HERE}.")}
        except Exception as error:
            text = explain(error, "The measurement failed. The figures are unchanged.")
            yield {line: status_text(text, "error")}

    # True at any time: costs are shown once all of them are measured, and the same with trees.
    text = status_text(
        f"Stopped. Only figures whose measurement was complete show {MACHINE}; the line under "
        "each answer names its source."
    )
    Job(stop, {line: text}).bind(go.click, run, [temperature], outputs)


def measure(turn: Turn, temperature: float) -> Iterator[Progress[MachineMeasurement | None]]:
    """What the figures show, measured on a pair."""
    return turn.compute(measure_machine, temperature)


# name of a figure -> what links call it, its question, and how it is read
QUESTIONS = {
    "sizes": (
        "Fastest tree",
        "Which tree is fastest, with the target’s weights in memory or on disk?",
        "Predicted for the best of Sequoia's trees of each size: the tokens that a pass writes on "
        "average, divided by the time of a step, the draft's passes and the target's. A star marks "
        "the fastest size. One prompt in Explore can be faster or slower than the average; the "
        "last figure has the trees that were timed.",
    ),
    "acceptance": (
        "Accepted guesses",
        "How often is a guess accepted?",
        "A node of the tree has several children, guesses for the same token, which are tried one "
        "after the other. The figure shows how often the k-th of them is accepted where the node "
        "itself was accepted. The bars are 95 % intervals. Where only the first is likely, a chain "
        "is best; where later ones are accepted too, a wide tree is.",
    ),
    "positions": (
        "“Acceptance”",
        "What does “acceptance” mean?",
        "Four numbers have this name. In a chain a guess is tried only if all guesses before it "
        "were accepted. So the share that is accepted is given of the guesses tried, of all "
        "guesses, or of all steps by position. The fourth is the number of tokens per pass, the "
        "target's own included.",
    ),
    "cost": (
        "Time of a pass",
        "How much longer does a pass over many nodes take?",
        "A pass of the target over n nodes, relative to a pass over one. Where the line is flat, "
        "more nodes take no more time: with weights on disk a pass takes the time of reading "
        "them, which varies with the disk. The draft's passes are not counted here. More nodes "
        "never take less, so a median below that of fewer nodes is raised to it.",
    ),
    "predicted": (
        "Prediction",
        "Does the prediction hold?",
        "Predicted as in the first figure, and timed on prompts that no model was trained on. A "
        "bar reaches from the slowest prompt to the fastest. Timing takes minutes, so it is "
        "of one temperature, whatever the control says. The answer is yes where each "
        f"prediction is within {100 * HOLDS:.0f} % of the timed speedup, and none says faster than "
        "plain decoding where all prompts were slower, or slower where all were faster.",
    ),
}


def contents_list() -> str:
    """A link to each question, as HTML."""
    html = '<nav class="sv-row" aria-label="questions">'
    for name, (title, *_) in QUESTIONS.items():
        html += f'<a href="#sv-figure-{name}">{title}</a> '
    return html + "</nav>"


def contents(temperature: float, result: MachineMeasurement | None) -> dict[str, Content]:
    """What every card shows, by its name."""
    past = recorded.read()
    memory = past.costs["memory"]
    disk = past.costs["disk"]
    costs = {"in memory": memory, "on disk": disk}
    points = {"in memory": past.points["memory"], "on disk": past.points["disk"]}
    measured = timed = memory
    source = timed_source = past.label
    if result:
        measured = result.cost
        costs = {HERE: measured}
        source = MEASURED
        # On disk nothing is measured here: what was recorded of this pair stays beside it.
        if measured.settings["pair"] == PAIR:
            costs["on disk, recorded"] = disk
            source = f"{MEASURED}; on disk: {past.label}"
        # Trees are timed after the costs; until then those that were recorded stay.
        if result.points:
            points = {HERE: result.points}
            timed = measured
            timed_source = MEASURED
    forecasts = {place: recorded.predict(cost, temperature) for place, cost in costs.items()}
    chains = recorded.chains()
    lengths = chains.accepted[f"{temperature:g}"]
    acceptance = find_vector(VECTORS, recorded.RULE, temperature)
    at = f"temperature {temperature:g}"
    timed_at = timed.settings["temperature"]

    def card(cost: CostTable, answer: str, figure: go.Figure, source: str, at: str) -> Content:
        return Content(answer, figure, f"{recorded.source_of(cost)}, {source}, {at}")

    return {
        "sizes": card(measured, fastest_tree(forecasts), plot("sizes", forecasts), source, at),
        "acceptance": card(
            memory,
            accepted_by_rank(acceptance.plan),
            draw_acceptance(temperature),
            f"recorded at {acceptance.positions:,} positions",
            at,
        ),
        "positions": card(
            memory,
            four_rates(lengths, chains.depth),
            plot("positions", lengths, chains.depth),
            f"{len(lengths)} recorded steps of a chain",
            at,
        ),
        "cost": card(
            measured, cost_of_a_pass(costs), plot("cost", costs), source, "any temperature"
        ),
        "predicted": card(
            timed,
            prediction_answer(points, timed_at),
            plot("predicted", points),
            timed_source,
            f"temperature {timed_at:g}",
        ),
    }


def checked(temperature: object) -> float:
    """One of the temperatures at which acceptance was measured."""
    if temperature not in TEMPERATURES:
        listed = ", ".join(f"{value:g}" for value in TEMPERATURES)
        raise ValueError(f"Temperature must be one of {listed}.")
    return float(temperature)


def draw_acceptance(temperature: float) -> go.Figure:
    """The stored vectors of some rules; at temperature 0 all rules accept the same tokens."""
    found = [replace(find_vector(VECTORS, name, temperature), verifier=name) for name in RULES]
    return plot("acceptance", found)


TAB = Tab("Measure", build)
