"""The cards and sentences of the pages on costs and trees: predictions from a vector and a machine, and timings."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from specviz import DRAFTERS, VERIFIERS
from specviz.acceptance.on_text import Acceptance
from specviz.planning.cost_table import CostTable
from specviz.plots import PLOTS
from specviz.plots.predicted import Point

from ...parts import recorded
from ...parts.card import Source, fill
from .timing import SIZES, by, choices, predicted

STEP_SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512)
SHAPE_SIZES = tuple(size for size in SIZES if size <= 512)
SEQUENCES, LENGTHS = (1, 2, 3, 4, 6, 8, 16, 32), (1, 2, 3, 4, 6, 8, 12, 16)


def source_of(cost: CostTable) -> Source:
    """Where the numbers of a cost table come from, as a card says it."""
    if cost.projection:
        return Source("projection", f"projection: {cost.machine}")
    return Source("measured", "measured here") if cost.machine == "this machine" else Source("recorded", "recorded")


def forecast_cards(vector: Acceptance, cost: CostTable, source: Source) -> tuple[dict[str, tuple], dict]:
    """The cards that follow from a vector and a machine, and the best cell as plain data."""
    forecast = predicted(vector, cost)
    rule = f"{VERIFIERS[vector.verifier].title}'s acceptance{by(vector)}"
    basis = f"{rule} at temperature {vector.temperature:g}. {cost.note}"
    theory = Source("theory", "computed from the vector")
    cards = {
        "speedup": fill("speedup", PLOTS["speedup"].info(forecast), source, basis),
        "shapes": fill("shapes", PLOTS["shapes"].info(vector.plan, SHAPE_SIZES), theory,
                       "Closed forms and dynamic programming; independent of the machine."),
        "cost": fill("cost", PLOTS["cost"].info(cost), source, cost.note),
        "marginal": fill("marginal", PLOTS["marginal"].info(vector.plan, cost, STEP_SIZES), source, basis),
        "sweep": fill("sweep", PLOTS["sweep"].info(vector.plan, cost, SEQUENCES, LENGTHS), source, basis),
    }  # fmt: skip
    best = forecast.best
    return cards, {
        "size": best.size, "depth": best.depth, "verifier": vector.verifier, "drafter": vector.drafter,
        "temperature": vector.temperature,
        "tokens": best.tokens_per_pass, "speedup": best.speedup,
    }  # fmt: skip


def timed_card(points: tuple[Point, ...], here: CostTable, source: Source, vector: Acceptance) -> tuple:
    """The card of predicted against measured speedups."""
    made = (
        f"Predicted from the costs of {here.machine} and timed there, each round against its own plain decoding; "
        f"{VERIFIERS[vector.verifier].title}{by(vector)}, temperature {vector.temperature:g}. Not a projection."
    )
    return fill("predicted", PLOTS["predicted"].info(points), source, made)


def timed_setting(vector: Acceptance) -> str:
    """With what trees were timed, in words."""
    rule = f"{VERIFIERS[vector.verifier].title}{by(vector)}"
    return f"Best trees of several sizes, {rule} at temperature {vector.temperature:g}."


def best_sentence(best: dict, cost: CostTable) -> str:
    """The hardware-aware choice in words, and whose costs they are where another drafter's were measured."""
    costed = cost.settings.get("drafter", "model")
    if not cost.projection and costed != best["drafter"]:
        whose, own = DRAFTERS[costed].spoken, DRAFTERS[best["drafter"]].spoken
        whose_costs = f"Costs are those of {whose}: measure this machine with {own}."
        return f"{_best_sentence(best, cost)} {whose_costs}"
    return _best_sentence(best, cost)


def _best_sentence(best: dict, cost: CostTable) -> str:
    where = f"Projection for {cost.machine}" if cost.projection else f"On {cost.machine}"
    if best["speedup"] <= 1:
        return f"{where}: plain decoding is fastest; the best tree reaches {best['speedup']:.2f} times its speed."
    return (
        f"{where}: best is a Sequoia tree of {best['size']} nodes and {best['depth']} level"
        f"{'s' * (best['depth'] > 1)}, "
        f"{best['tokens']:.2f} tokens per target pass, {best['speedup']:.2f} times plain decoding."
    )


def timed_sentence(points: tuple[Point, ...]) -> str:
    """What was timed, in words."""
    if not points:
        return "The models ended every text immediately, so nothing could be timed."
    best = max(points, key=lambda point: point.measured)
    if best.measured <= 1:
        return f"Timed: all sizes are slower than plain decoding; the best is {best.name} with {best.measured:.2f}."
    return f"Timed: {best.name} is the fastest of these, {best.measured:.2f} times plain decoding."


@cache
def opening() -> tuple[CostTable, dict[str, tuple], dict]:
    """The costs, the cards and the best cell."""
    past = recorded.read()
    here, source = replace(past.cost, machine=past.machine, note=past.note), Source("recorded", past.label)
    cards, best = forecast_cards(next(iter(choices(past.calibration.vectors).values())), here, source)
    return here, cards | {"predicted": timed_card(past.points, here, source, past.calibration.vectors[0])}, best
