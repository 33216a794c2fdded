"""The measurements that Measure opens with, as JSON in assets/curves.json;
`python -m app.tabs.record curves` makes them; and the chains in assets/chains.json, which
`python -m app.tabs.record chains` counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache

from specviz.base import codec
from specviz.base.files import CHAINS, CURVES
from specviz.drafters import DRAFTERS
from specviz.measure.cost_table import CostTable
from specviz.measure.forecast import Forecast, forecast
from specviz.measure.this_machine import Point
from specviz.record.vectors import PAIR_TITLES, find_acceptance

from ...service.pair_ref import LABELS

RULE = "sequoia"  # of the trees whose speedup is predicted
SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
DEPTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)
PLACES = {"memory": "in memory", "disk": "on disk"}  # of the target's weights


@dataclass(frozen=True)
class Recorded:
    """What was measured of the pair that the page opens with; keys are where the weights lie,
    "memory" or "disk"."""

    costs: dict[str, CostTable]
    # Trees with their predicted and measured speedup, at temperature 0.8.
    points: dict[str, tuple[Point, ...]]
    machine: str
    date: str

    @property
    def label(self) -> str:
        day = date.fromisoformat(self.date)
        return f"recorded on {self.machine}, {day.day} {day:%b %Y}"


@cache
def read() -> Recorded:
    """The recorded measurements; raises a `ValueError` if the file is damaged."""
    return codec.read(Recorded, CURVES.read_text(encoding="utf-8"), "curves")


@dataclass(frozen=True)
class Chains:
    """How many of its `depth` tokens a chain of the pair that the page opens with had accepted, in
    each step; by temperature."""

    depth: int
    accepted: dict[str, list[int]]


@cache
def chains() -> Chains:
    """The recorded chains; raises a `ValueError` if the file is damaged."""
    return codec.read(Chains, CHAINS.read_text(encoding="utf-8"), "chains")


def source_of(cost: CostTable) -> str:
    """What people read of the pair and the drafter whose costs were measured."""
    pair = cost.settings["pair"]
    title = PAIR_TITLES.get(pair) or LABELS.get(pair, pair)
    drafter = DRAFTERS[cost.settings["drafter"]]
    return f"{title}, drafted by {drafter.title_in_sentence}"


def predict(cost: CostTable, temperature: float) -> Forecast:
    """The speedup of the best tree of each size: expected tokens over the time of a step."""
    # Each place by the drafter whose costs were measured there.
    vector = find_acceptance(RULE, temperature, cost.settings["drafter"], cost.settings["pair"])
    # No size beyond those whose pass was timed.
    timed = [size for size in SIZES if size <= cost.sizes[-1]]
    return forecast(vector, cost, timed, DEPTHS)
