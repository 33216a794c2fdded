"""The measurements that Measure opens with, as JSON in assets/curves.json;
`python -m app.tabs.record curves` makes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from specviz.base import codec
from specviz.base.files import CURVES
from specviz.measure.cost_table import CostTable
from specviz.measure.this_machine import Point


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
        return f"recorded on {self.machine}, {self.date}"


@cache
def read() -> Recorded:
    """The recorded measurements; raises a `ValueError` if the file is damaged."""
    recorded = codec.read(Recorded, CURVES.read_text(encoding="utf-8"), "curves")
    # Each table says on what it was measured, for the legends of the figures.
    costs = {}
    for weights, cost in recorded.costs.items():
        place = "on disk" if weights == "disk" else "in memory"
        costs[weights] = replace(cost, machine=f"{recorded.machine}, weights {place}")
    return replace(recorded, costs=costs)
