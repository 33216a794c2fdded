"""The tab "Measure": four questions, each answered in a sentence and a figure, from recordings or
from this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from itertools import chain

import gradio as gr
import plotly.graph_objects as go

from specviz.base import codec
from specviz.base.progress import Progress
from specviz.measure.cost_table import CostTable
from specviz.measure.forecast import Forecast, forecast
from specviz.measure.this_machine import MachineMeasurement, Point, measure_machine
from specviz.record.vectors import (
    PAIR_TITLES,
    Plan,
    by_level,
    find_acceptance,
    find_vector,
    stored,
)
from specviz.verifiers import VERIFIERS
from specviz.view.figures import plot

from ..service.failures import explain
from ..service.pair_ref import LABELS, SMOLLM2, TALES, PairRef
from ..service.queue import visitor_of
from ..service.run import Note, Turn
from ..service.service import RunService
from .explore.recordings import Recording
from .parts import recorded
from .parts.card import Card, Content, status, status_text
from .parts.frame import Tab
from .parts.job import Job
from .parts.web import QUIET

# Those of Explore, of which the figures are recorded.
PAIR = SMOLLM2
DRAFTER = "eagle"
OPENING = 0.6  # that of Explore
PLACES = {"memory": "in memory", "disk": "on disk"}  # of the target's weights
HERE = "this machine"
RULE = "sequoia"
VECTORS = stored(DRAFTER, PAIR)
TEMPERATURES = sorted({one.temperature or 0.0 for one in VECTORS})
RULES = tuple(dict.fromkeys(one.verifier for one in VECTORS if one.verifier != "exact-match"))
SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256)
DEPTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)
# in which acceptance is counted: its four numbers differ more than those of a chain of SmolLM2
CHAIN = Recording("Chain", OPENING, PairRef(TALES))
WIDE = 64  # nodes, whose cost the answer names


def build(service: RunService) -> None:
    """Lay out the tab and connect it."""
    with gr.Row(elem_classes="sv-measure-controls"):
        temperature = gr.Slider(
            0, 1, OPENING, step=0.1, label="Temperature", elem_id="sv-measure-temperature"
        )
        go = gr.Button(
            "Measure this machine", variant="primary", scale=0, min_width=210, elem_id="sv-measure"
        )
        stop = gr.Button(
            "Stop", interactive=False, scale=0, min_width=80, elem_id="sv-measure-stop"
        )
    line = status("sv-measure-status")
    # The page itself keeps what was measured for it, as JSON.
    measurement = gr.Textbox("", visible="hidden", elem_id="sv-measured")
    first = contents(nearest(OPENING), [RULE], None)
    with gr.Column(elem_classes="sv-figures"):
        cards = {
            name: Card(name, question, explanation, first[name])
            for name, (question, explanation) in QUESTIONS.items()
        }
        with cards["acceptance"].column:
            rules = gr.Dropdown(
                [(VERIFIERS[name].title, name) for name in RULES],
                value=[RULE],
                multiselect=True,
                filterable=False,
                label="Rules in this figure",
                elem_id="sv-rules",
            )
    outputs = [line, measurement, *chain.from_iterable(card.outputs for card in cards.values())]

    def filled(value: object, names: object, result: MachineMeasurement | None) -> dict:
        updates: dict[gr.components.Component, object] = {}
        content_of = contents(nearest(value), names, result)
        for name, card in cards.items():
            updates |= card.fill(content_of[name])
        return updates

    def draw(value: object, names: object, measured_here: object) -> dict:
        try:
            result = None
            if measured_here:
                result = codec.read(MachineMeasurement, measured_here, "measured")
            return filled(value, names, result)
        except Exception as error:
            return {line: status_text(explain(error, "The figures could not be drawn."), "error")}

    gr.on(
        [temperature.change, rules.change],
        draw,
        [temperature, rules, measurement],
        outputs,
        trigger_mode="always_last",
        **QUIET,
    )

    async def run(request: gr.Request, value: object, names: object) -> AsyncIterator[dict]:
        try:
            result: MachineMeasurement | None = None
            visitor = visitor_of(request)
            ref = service.pairs.first
            items = service.stream(visitor, ref, measure, nearest(value), replaces=True)
            async with aclosing(items):
                async for item in items:
                    if isinstance(item, Note):
                        yield {line: status_text(item.text)}
                        continue
                    text = f"{item.done} of {item.total} runs"
                    yield {line: status_text(text, done=item.done, of=item.total)}
                    # The figures are drawn anew where there is more to draw.
                    if item.result and (
                        result is None or len(item.result.points) > len(result.points)
                    ):
                        result = item.result
                        text = codec.dumps(result)
                        yield {measurement: text, **filled(value, names, result)}
            if result:
                yield {line: status_text("Measured on this machine.")}
        except Exception as error:
            text = explain(error, "The measurement failed. The figures are unchanged.")
            yield {line: status_text(text, "error")}

    job = Job(stop, line, {line: status_text("Stopped. The figures show the measurements so far.")})
    job.bind(go.click, run, [temperature, rules], outputs)


def measure(turn: Turn, temperature: float) -> Iterator[Progress[MachineMeasurement | None]]:
    """What the figures show, measured on a pair."""
    return turn.compute(measure_machine, temperature)


QUESTIONS = {  # name of a figure -> its question, and how it is read
    "sizes": (
        "Which tree pays?",
        "Predicted for the best of Sequoia's trees of each size: expected tokens per pass over the "
        "time of a step. The star marks the best size. Acceptance is an average over many "
        "questions; one prompt in Explore is guessed better or worse than that, so its speedup "
        "differs.",
    ),
    "cost": (
        "What does a pass cost?",
        "The time of a target pass over n nodes, relative to one node. While the line is flat, "
        "more nodes cost no more time: reading the weights dominates.",
    ),
    "acceptance": (
        "Which guess is accepted?",
        "The probability that the k-th child of an accepted node is accepted. A steep fall favours "
        "chains, a long tail favours wide trees.",
    ),
    "positions": (
        "What does acceptance mean?",
        "Four numbers bear that name: the share of the tokens that were reached, that is, given "
        "that the one before was accepted; the share of all steps, by position; the share of all "
        "drafted tokens; and the tokens written per pass, the target's own included.",
    ),
    "predicted": (
        "Does the prediction hold?",
        "Lines: predicted. Marks: timed at temperature 0.8 on prompts that no model was trained "
        "on, with the range over prompts.",
    ),
}


def contents(
    temperature: float, rules: object, result: MachineMeasurement | None
) -> dict[str, Content]:
    """What every card shows, by its name."""
    past = recorded.read()
    costs = {PLACES[place]: table for place, table in past.costs.items()}
    points = {PLACES[place]: group for place, group in past.points.items()}
    source = (f"{LABELS[PAIR]}, {past.label}", "recorded")
    drafter = DRAFTER
    pair = PAIR
    if result:
        drafter = result.cost.settings["drafter"]
        pair = result.cost.settings["pair"]
        # What was measured here takes the place of what was recorded elsewhere in memory; on disk
        # nothing is measured here, and the recording stays beside it.
        del costs[PLACES["memory"]]
        if pair != PAIR:  # what is recorded of another pair says nothing about this one
            costs.clear()
        costs = {HERE: result.cost, **costs}
        points = {HERE: result.points} if result.points else points
        source = (f"{title_of(pair)}, measured here", "measured")
    acceptance = find_acceptance(RULE, temperature, drafter, pair)
    # Speedup = expected tokens of the best tree over the time of its step, for each size.
    forecasts = {}
    for name, table in costs.items():
        # Each place by the drafter whose costs were measured there.
        measured_with = table.settings["drafter"], table.settings["pair"]
        vector = find_acceptance(RULE, temperature, *measured_with)
        forecasts[name] = forecast(vector, table, SIZES, DEPTHS)
    lengths = [len(step.path) for step in CHAIN.trace().steps]
    depth = CHAIN.config.builder.depth
    positions = find_vector(VECTORS, RULE, temperature).positions
    where = f"{LABELS[PAIR]}, recorded on {positions:,} positions, temperature {temperature:g}"
    return {
        "sizes": Content(
            pays(temperature, forecasts, title_of(pair)), plot("sizes", forecasts), *source
        ),
        "cost": Content(dear(costs, title_of(pair)), plot("cost", costs), *source),
        "acceptance": Content(
            ranked(acceptance, title_of(pair)),
            draw_acceptance(temperature, rules),
            where,
            "recorded",
        ),
        "positions": Content(
            counted(lengths, depth),
            plot("positions", lengths, depth),
            f"{LABELS[TALES]}, counted in a recorded chain, {len(lengths)} steps, "
            f"temperature {OPENING:g}",
            "recorded",
        ),
        "predicted": Content(held(points, title_of(pair)), plot("predicted", points), *source),
    }


def nearest(temperature: object) -> float:
    """The temperature with stored vectors that is nearest to that of the slider."""
    if isinstance(temperature, bool) or not isinstance(temperature, int | float):
        raise ValueError("Temperature must be a number from 0 to 1.")
    return min(TEMPERATURES, key=lambda value: abs(value - temperature))


def title_of(pair: str) -> str:
    """What people read in place of the name of a pair."""
    return PAIR_TITLES.get(pair, pair)


def where_of(place: str) -> str:
    """Where the weights are, in a sentence, of a name in `PLACES` or of this machine."""
    if place == HERE:
        return "on this machine, with the weights in memory"
    return f"with the weights {place}"


def pays(temperature: float, forecasts: dict[str, Forecast], pair: str) -> str:
    """Which tree is worth it, in each place."""
    parts = []
    base = " as plain decoding"  # said once
    for place, predicted in forecasts.items():
        best = predicted.best
        fastest = "plain decoding is fastest"
        if best.speedup > 1:
            fastest = f"a tree of {best.size} nodes is {best.speedup:.1f} times as fast{base}"
            base = ""
        parts.append(f"{where_of(place)}, {fastest}")
    return f"At temperature {temperature:g}, for {pair}: {'; '.join(parts)}."


def dear(costs: dict[str, CostTable], pair: str) -> str:
    """What a pass over many nodes costs, in each place."""
    parts = []
    for place, table in costs.items():
        ratio = table.target(WIDE) / table.target(1)
        parts.append(f"as long as {ratio:.1f} passes over one {where_of(place)}")
    return f"For {pair}, a pass over {WIDE} nodes takes {' and '.join(parts)}."


def ranked(acceptance: Plan, pair: str) -> str:
    """How often the first guess is right, and how often any of the first four."""
    first, *_ = by_level(acceptance)
    return (
        f"For {pair}, the first guess is accepted in {100 * first[0]:.0f} %, one of the first "
        f"four in {100 * sum(first[:4]):.0f} %."
    )


def counted(accepted: list[int], depth: int) -> str:
    """The four meanings of acceptance, in one run."""
    steps = len(accepted)
    total = sum(accepted)
    # A step reaches one token more than it accepts, the rejected one, unless it accepts all.
    reached = sum(min(length + 1, depth) for length in accepted)
    return (
        f"The same run of {LABELS[TALES]}: {total / steps + 1:.1f} tokens per pass, "
        f"{100 * total / reached:.0f} % of "
        f"the tokens that were reached, {100 * total / (depth * steps):.0f} % of those drafted."
    )


def held(points: dict[str, tuple[Point, ...]], pair: str) -> str:
    """How far predictions are off."""
    errors: list[float] = []
    for group in points.values():
        errors += [abs(point.measured / point.predicted - 1) for point in group]
    places = " and ".join(where_of(place) for place in points)
    predictions = f"{len(errors)} predictions for {pair} {places}"
    return f"Of {predictions}, the worst is {100 * max(errors):.0f} % off."


def draw_acceptance(temperature: float, rules: object) -> go.Figure:
    """The stored vectors of some rules; at temperature 0 all rules accept the same tokens."""
    names = ["exact-match"]
    if temperature > 0:
        chosen = rules if isinstance(rules, list) else ()
        names = [name for name in RULES if name in chosen]
    vectors = [one for one in VECTORS if one.temperature == temperature and one.verifier in names]
    return plot("acceptance", vectors)


TAB = Tab("Measure", build)
