"""The page "Which tree pays": the predicted speedup of trees, the best tree, and timings.

It follows from the two pages before it: the acceptance vector of the first, and the costs of the second (`costs`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import fields
from functools import partial
from time import monotonic
from typing import Any

import gradio as gr

from specviz import BUILDERS, DRAFTERS, VERIFIERS, RunConfig
from specviz.acceptance.on_text import Acceptance
from specviz.benchmarks.measure_cost import PROMPT, measure_cost
from specviz.planning.cost_table import CostTable
from specviz.plots import PLOTS
from specviz.plots.predicted import Point

from ...machine.engine import Engine
from ...machine.pool import run_in_worker
from ...parts import recorded
from ...parts.card import Card, Source, fill, intro, said, status
from ...parts.controls import Controls
from ...parts.failures import explained
from ...parts.frame import Page, Tab
from ...parts.job import Job
from ...parts.study_card import figures, fold, sampling
from .. import acceptance, explore
from . import costs, published
from .cards import best_sentence, forecast_cards, opening, source_of, timed_card, timed_sentence, timed_setting
from .costs import Costs
from .timing import LARGEST, by_drafter, choices, cost_of, picked, sizes_from, time_sizes

TITLE = "Which tree pays"
INTRO = (
    "Speedup = expected tokens per target pass / relative time per step. How much faster can a tree be on this "
    "machine, and which tree is best? Plain decoding is 1.0."
)
SECONDS = 40.0  # of a measurement of this machine
PACE = 2.0  # seconds between two drawings of a figure
OPEN = ("speedup", "predicted")
FOLDS = (
    ("limits", "What limits it?", ("shapes", "marginal")),
    ("sequences", "Are parallel chains as good?", ("sweep",)),
    ("temperature", "What changes with temperature?", ("temperature",)),
    ("load", "Does it pay for many users at once?", ("load",)),
    ("steps", "What does a dynamic tree do, step by step?", ("lengths",)),
)


def build(engine: Engine) -> Speedup:
    """Lay out the page."""
    past = recorded.read()
    here, first, best = opening()
    named = choices(past.calibration.vectors)
    with gr.Row(elem_classes="sv-page"):
        with gr.Column(scale=0, min_width=330, elem_classes="sv-rail sv-sticky"):
            drafter = gr.Dropdown(
                [(cls.title, name) for name, cls in DRAFTERS.items()],
                value=next(iter(named.values())).drafter, label="Drafter", filterable=False,
                elem_id="sv-speedup-drafter",
            )  # fmt: skip
            mine = by_drafter(past.calibration.vectors, drafter.value)
            vector = gr.Dropdown(mine, value=mine[0], label="Acceptance vector", filterable=False,
                                 info="From the page What is accepted, or stored.")  # fmt: skip
            sizes = gr.Textbox("2, 4, 8, 12, 16, 32", label="Sizes to time", max_lines=1,
                               info=f"Nodes per tree, 2 to {LARGEST}.")  # fmt: skip
            with gr.Row(elem_classes="sv-go"):
                timing = gr.Button("Time them", elem_id="sv-time-sizes")
                stop = gr.Button("Stop", interactive=False, elem_id="sv-speedup-stop")
            line = status("sv-speedup-status")
        with gr.Column(scale=1, min_width=320, elem_classes="sv-main"):
            intro(INTRO)
            with gr.Row(elem_classes="sv-best"):
                choice = status("sv-best")
                choice.value = said(best_sentence(best, here))
                apply = gr.Button("Use it in Explore", elem_id="sv-apply", scale=0, min_width=190)
            cards = figures(engine, first, OPEN, FOLDS, [], lambda: sampling(0.8))
            with fold("published", "What do the papers report?"):
                reported = published.table(
                    past.points, Source("recorded", past.label), timed_setting(past.calibration.vectors[0])
                )
    tab = Speedup(engine, drafter, vector, sizes, timing, stop, line, choice, apply, cards, reported)
    tab.known, tab.best = gr.State(past.calibration.vectors), gr.State(best)
    return tab


class Speedup:
    """The page's parts, its events, and its session states: `known` vectors, and the `best` cell."""

    known: gr.State
    best: gr.State
    costs: Costs

    def __init__(
        self, engine: Engine, drafter, vector, sizes, timing, stop, line, choice, apply, cards: dict[str, Card],
        reported: gr.HTML,
    ) -> None:  # fmt: skip
        self.engine, self.drafter, self.vector, self.sizes = engine, drafter, vector, sizes
        self.timing, self.stop, self.line, self.choice, self.apply = timing, stop, line, choice, apply
        self.cards, self.reported = cards, reported

    @property
    def chosen(self) -> list:
        """The controls that `forecast` reads."""
        return [self.vector, self.costs.machine, *self.costs.numbers, self.known, self.costs.here]

    @property
    def outputs(self) -> list:
        """The components that an event may change."""
        figures = [part for card in self.cards.values() for part in card.outputs]
        return [self.line, self.costs.line, self.choice, self.best, self.reported, *figures]

    def show(self, values: dict) -> dict:
        """Cards filled with new values, as an event's outputs."""
        return {part: new for name, value in values.items() for part, new in self.cards[name].update(value).items()}

    async def forecast(self, name: Any, kind: Any, flat: Any, draft: Any, known: Any, here: CostTable) -> dict:
        """All figures that follow from the controls, as an event's outputs."""
        try:
            cost = cost_of(kind, here, flat, draft)
            cards = await run_in_worker(forecast_cards, picked(name, known), cost, source_of(cost))
            return self.forecasted(cost, cards)
        except ValueError as error:
            return dict.fromkeys((self.line, self.costs.line), said(str(error), "error"))

    def forecasted(self, cost: CostTable, found: tuple[dict, dict]) -> dict:
        """The cards and the best cell, as an event's outputs."""
        cards, best = found
        quiet = dict.fromkeys((self.line, self.costs.line), said(""))
        return {self.choice: said(best_sentence(best, cost)), self.best: best, **quiet, **self.show(cards)}

    def drafted(self, drafter: Any, name: Any, known: Any) -> dict:
        """The vectors of a drafter in the menu; a sentence where there are none."""
        mine = by_drafter(known, drafter)
        if not mine:
            title = DRAFTERS[drafter].spoken if isinstance(drafter, str) and drafter in DRAFTERS else "this drafter"
            return {self.line: said(f"No acceptance vector of {title}. Measure one in What is accepted.", "error")}
        return {self.vector: gr.Dropdown(choices=mine, value=name if name in mine else mine[0]), self.line: said("")}

    def joins(self, costs: Costs) -> None:
        """Connect the buttons and controls of this page and of the one before it to what they start."""
        self.costs, self.cards = costs, costs.cards | self.cards
        quiet = {"show_progress": "hidden", "api_visibility": "private"}
        for control in (self.vector, costs.machine, *costs.numbers):
            control.change(self.forecast, self.chosen, self.outputs, queue=False, trigger_mode="always_last", **quiet)

        self.drafter.change(
            self.drafted, [self.drafter, self.vector, self.known], [self.vector, self.line], queue=False, **quiet
        )

        def measuring(line: gr.HTML, *chosen: Any) -> Generator[dict, None, CostTable]:
            measured = picked(chosen[0], chosen[4])
            config = RunConfig(PROMPT, temperature=measured.temperature, verifier=VERIFIERS[measured.verifier](),
                               drafter=DRAFTERS[measured.drafter]())  # fmt: skip
            table, drawn, here = None, monotonic(), Source("measured", "measured here")
            for news in self.engine.compute(partial(measure_cost, seconds=SECONDS), config):
                text = f"Timing trees of increasing size: {news.done} of {news.of} bursts, {SECONDS:.0f} s at most"
                table = news.known or table
                yield {line: said(text, done=news.done, of=news.of)}
                if table and monotonic() - drawn > PACE:
                    yield {costs.here: table, **self.show({"cost": fill("cost", PLOTS["cost"].info(table), here)})}
                    drawn = monotonic()
            assert table  # or `measure_cost` raises
            found = forecast_cards(measured, table, source_of(table))
            yield {costs.machine: "here", costs.here: table, **self.forecasted(table, found),
                   line: said(f"Measured: {table.settings['steps']:,} steps.")}  # fmt: skip
            return table

        def timed(sizes: Any, *chosen: Any) -> Iterator[dict]:
            wanted, measured, here = sizes_from(sizes), picked(chosen[0], chosen[4]), chosen[5]
            if here.machine != "this machine":  # a prediction and what is laid over it are of one machine
                here = yield from measuring(self.line, *chosen)
            points: tuple[Point, ...] = ()
            for news in self.engine.compute(time_sizes, measured, here, wanted):
                changed = len(news.known) > len(points) or news.done == news.of
                points = news.known
                text = f"Timing trees and plain decoding in alternating rounds: {news.done} of {news.of} runs"
                card = {"predicted": timed_card(points, here, Source("measured", "measured here"), measured)}
                yield {self.line: said(text, done=news.done, of=news.of), **(self.show(card) if changed else {})}
            table = published.value(points, Source("measured", "measured here"), timed_setting(measured))
            yield {self.line: said(timed_sentence(points)), **({self.reported: table} if points else {})}

        failed = "The measurement failed. The figures are unchanged."

        def guarded(line: gr.HTML, work: Any) -> Any:
            """The same events, alone on the machine, ending in a sentence whatever happens."""

            @explained(failed, lambda text: {line: said(text, "error")})
            def run(*values: Any) -> Iterator[dict]:
                with self.engine.exclusive():
                    for sentence in self.engine.loading():
                        yield {line: said(sentence)}
                    yield from work(*values)

            return run

        outputs, stopped = [*self.outputs, *costs.outputs], said("Stopped. The figures show the measurements so far.")
        for button, stop, line, work, inputs in (
            (costs.measure, costs.stop, costs.line, partial(measuring, costs.line), self.chosen),
            (self.timing, self.stop, self.line, timed, [self.sizes, *self.chosen]),
        ):
            job = Job(stop, line, {line: stopped})
            job.starts(button.click, guarded(line, work), inputs, outputs)

    def takes(self, vectors: gr.State, opened: gr.Tab) -> None:
        """Take the vectors of the page What is accepted when this one is opened."""

        async def taken(new: tuple[Acceptance, ...], *chosen: Any) -> dict:
            names = choices(new)
            name = next(iter(names), None)
            if new == chosen[4] or name is None:
                return {self.line: gr.skip()}
            return {
                self.known: new, self.drafter: names[name].drafter,
                self.vector: gr.Dropdown(choices=by_drafter(new, names[name].drafter), value=name),
                **await self.forecast(name, chosen[1], chosen[2], chosen[3], new, chosen[5]),
            }  # fmt: skip

        opened.select(taken, [vectors, *self.chosen], [*self.outputs, self.known, self.drafter, self.vector],
                      queue=False, show_progress="hidden", api_visibility="private")  # fmt: skip

    def gives(self, controls: Controls, tabs: gr.Tabs) -> None:
        """Give the best cell to the tab Explore."""
        names = [f.name for f in fields(BUILDERS["sequoia"])]
        parameters = dict(zip(names, controls.builder.parameters["sequoia"], strict=True))
        targets = [controls.builder.menu, parameters["size"], parameters["depth"], controls.verifier.menu,
                   controls.drafter.menu, controls.scalars["temperature"], tabs]  # fmt: skip
        self.apply.click(
            lambda best: ["sequoia", best["size"], best["depth"], best["verifier"], best["drafter"],
                          best["temperature"], gr.Tabs(selected=explore.TITLE)],
            self.best, targets, queue=False, show_progress="hidden", api_visibility="private",
        )  # fmt: skip


def connect(page: Page) -> None:
    """Take vectors and costs from the pages before this one, and give the best tree to Explore."""
    tab: Speedup = page.built[TITLE]
    tab.joins(page.built[costs.TITLE])
    tab.takes(page.built[acceptance.TITLE], page.opened[TITLE])
    tab.gives(page.built[explore.TITLE], page.tabs)


PAGES = (Tab(costs.TITLE, costs.build), Tab(TITLE, build, connect=connect))
