"""The tab "Measure": four figures, one question each, from recordings or from this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import gradio as gr

from specviz.base import codec
from specviz.base.progress import Progress
from specviz.measure.cost_table import CostTable, machine
from specviz.measure.forecast import forecast
from specviz.record.vectors import find_acceptance, measured
from specviz.verifiers import VERIFIERS
from specviz.view.figures import plot
from specviz.view.measurement import MachineMeasurement, measure_machine

from ..parts import recorded
from ..parts.card import Card, status, status_text
from ..parts.failures import explained
from ..parts.frame import Tab
from ..parts.job import Job
from ..parts.web import QUIET
from ..service.queue import visitor_of
from ..service.run import Note, Turn
from ..service.service import RunService

TITLE = "Measure"
TEMPERATURES = (0.0, 0.3, 0.6, 0.8, 1.0)  # at which vectors are stored
MACHINES = {
    "In memory": "memory",
    "On disk": "disk",
    "A100": "a100",
    "L40, offloaded": "l40-offload",
}
RULES = tuple(
    dict.fromkeys(row["verifier"] for row in measured() if row["verifier"] != "exact-match")
)
SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256)
DEPTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)


def build(service: RunService) -> None:
    """Lay out the tab and connect it."""
    past = recorded.read()
    choices = [
        (title, name) for title, name in MACHINES.items() if name != "disk" or "disk" in past.costs
    ]
    with gr.Row(elem_classes="sv-measure-controls"):
        temperature = gr.Radio(
            [(f"{value:g}", value) for value in TEMPERATURES], value=0.8, label="Temperature"
        )
        weights = gr.Radio(
            choices, value="memory", label="Target's weights or machine", elem_id="sv-machine"
        )
        rules = gr.Dropdown(
            [(VERIFIERS[name].title, name) for name in RULES],
            value=["sequoia"],
            multiselect=True,
            filterable=False,
            label="Rules in the first figure",
            elem_id="sv-rules",
        )
        go = gr.Button(
            "Measure this machine", variant="primary", scale=0, min_width=250, elem_id="sv-measure"
        )
        stop = gr.Button(
            "Stop", interactive=False, scale=0, min_width=80, elem_id="sv-measure-stop"
        )
    line = status("sv-measure-status")
    # The page itself keeps what was measured for it, as JSON.
    measurement = gr.Textbox("", visible="hidden", elem_id="sv-measured")
    source = past.label
    with gr.Row(elem_classes="sv-figures"):
        accepted = Card(
            "acceptance",
            "What is accepted?",
            "The probability that the k-th child of an accepted node is accepted. A steep "
            "fall favours chains, a long "
            "tail favours wide trees.",
            draw_acceptance(0.8, ["sequoia"]),
            "recorded on 2,000 positions",
        )
        cost = Card(
            "cost",
            "What does a pass cost?",
            "While the line is flat, more nodes cost no more time: reading the weights dominates.",
            draw_costs(None),
            source,
        )
    with gr.Row(elem_classes="sv-figures"):
        speedup = Card(
            "speedup",
            "Which tree pays?",
            "Predicted speedup of Sequoia's tree of each size and depth: expected tokens "
            "per pass over the time of a "
            "step, relative to plain decoding. The star marks the best.",
            draw_map(0.8, past.costs["memory"]),
            source,
        )
        predicted = Card(
            "predicted",
            "Does the prediction hold?",
            "Line: predicted. Marks: timed at temperature 0.8 on prompts that no model was "
            "trained on, with the "
            "range over prompts.",
            plot("predicted", past.points["memory"]),
            source,
        )
    cards = (accepted, cost, speedup, predicted)
    outputs = [line, measurement, *(part for card in cards for part in card.outputs)]

    def draw(value: Any, name: Any, names: Any, measured_here: Any) -> dict:
        value, name = check_choices(value, name)
        result = (
            codec.read(MachineMeasurement, measured_here, "measured") if measured_here else None
        )
        if result and name == "memory":
            table, points, label, kind = result.cost, result.points, "measured here", "measured"
        else:
            table = cost_table(name)
            points, label = past.points.get(name, ()), table.note if table.projection else source
            kind = "projection" if table.projection else "recorded"
        origin = ("measured here", "measured") if result else (source, "recorded")
        return {
            **accepted.fill(draw_acceptance(value, names), "recorded on 2,000 positions"),
            **cost.fill(draw_costs(result), *origin),
            **speedup.fill(draw_map(value, table), label, kind),
            **predicted.fill(plot("predicted", points), label if points else "not timed", kind),
        }

    for control in (temperature, weights, rules):
        control.change(
            explained(
                "The figures could not be drawn.", lambda text: {line: status_text(text, "error")}
            )(draw),
            [temperature, weights, rules, measurement],
            outputs,
            trigger_mode="always_last",
            **QUIET,
        )

    @explained(
        "The measurement failed. The figures are unchanged.",
        lambda text: {line: status_text(text, "error")},
    )
    async def run(request: gr.Request, value: Any, names: Any) -> AsyncIterator[dict]:
        value, _ = check_choices(value, "memory")
        result: MachineMeasurement | None = None
        first = service.pairs.first
        async with service.stream(visitor_of(request), first, measure, value) as items:
            async for item in items:
                if isinstance(item, Note):
                    yield {line: status_text(item.text)}
                    continue
                runs = f"{item.done} of {item.total} runs"
                yield {line: status_text(runs, done=item.done, of=item.total)}
                known = -1 if result is None else len(result.points)
                if item.result and len(item.result.points) > known:
                    result = item.result
                    text = codec.dumps(result)
                    yield {measurement: text, **draw(value, "memory", names, text)}
        if result:
            yield {line: status_text("Measured on this machine.")}

    job = Job(stop, line, {line: status_text("Stopped. The figures show the measurements so far.")})
    job.bind(go.click, run, [temperature, rules], outputs)


def measure(turn: Turn, temperature: float) -> Iterator[Progress[MachineMeasurement | None]]:
    """What the figures show, measured on a pair."""
    return turn.compute(measure_machine, temperature)


def check_choices(temperature: Any, name: Any) -> tuple[float, str]:
    """The two controls' values; raises a `ValueError` if one is not among the choices."""
    if temperature not in TEMPERATURES or name not in MACHINES.values():
        raise ValueError("Temperature and machine must be among the choices of the page.")
    return float(temperature), name


def cost_table(name: str) -> CostTable:
    """The recorded costs in memory or on disk, or the projection for a machine."""
    return recorded.read().costs.get(name) or machine(name)


def draw_acceptance(temperature: float, rules: Any) -> Any:
    """The stored vectors of some rules; at temperature 0 all rules accept the same tokens."""
    names = (
        ["exact-match"]
        if temperature == 0
        else [name for name in RULES if name in list(rules or ())]
    )
    rows = [
        row for row in measured() if row["temperature"] == temperature and row["verifier"] in names
    ]
    return plot("acceptance", [SimpleNamespace(**row) for row in rows])


def draw_costs(result: MachineMeasurement | None) -> Any:
    """Costs in memory, on disk and on a GPU as far as they are known."""
    tables = {
        title: cost_table(name) for title, name in MACHINES.items() if name in recorded.read().costs
    }
    if result:
        tables = {"This machine": result.cost, **tables}
    return plot("cost", tables | {"A100 (projection)": machine("a100")})


def draw_map(temperature: float, table: CostTable) -> Any:
    """The predicted speedup of each size and depth."""
    return plot("speedup", forecast(find_acceptance("sequoia", temperature), table, SIZES, DEPTHS))


TAB = Tab(TITLE, build)
