"""The measurements that the tabs open with, as JSON in assets/curves.json; `python -m app.record_curves` makes them."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from specviz.cost_table import CostTable
from specviz.measure import Acceptance
from specviz.measure_nodes import Doubt, RejectionRates
from specviz.plots.predicted import Point

from .calibration import Found
from .stage import ASSETS

PATH = ASSETS / "curves.json"


@dataclass(frozen=True)
class Recorded:
    """What was measured, with which pair, and on which machine in words."""

    found: Found
    cost: CostTable
    points: tuple[Point, ...]
    pair: str
    machine: str

    @property
    def label(self) -> str:
        return f"recorded, {self.pair}"

    @property
    def note(self) -> str:
        """On the costs, in place of the one that says they were measured here."""
        return f"Recorded in the loop on {self.machine}, medians over the steps; measure this machine to replace it."


@lru_cache
def read() -> Recorded:
    data = json.loads(PATH.read_text(encoding="utf-8"))
    found = Found(
        tuple(_made(Acceptance, row) for row in data["vectors"]),
        _doubt(data["doubt"]),
        _made(RejectionRates, data["rates"]),
    )
    cost = CostTable.from_json(json.dumps(data["cost"]))
    return Recorded(found, cost, tuple(Point(*row) for row in data["points"]), data["pair"], data["machine"])


def _made(cls: type, data: dict[str, Any]) -> Any:
    """The dataclass of JSON data, its lists as tuples."""
    return cls(**{f.name: _tuples(data[f.name]) for f in fields(cls)})


def _doubt(data: dict[str, Any]) -> Doubt:
    """JSON has no infinity: it is null there."""
    columns = {name: tuple(math.inf if x is None else x for x in column) for name, column in data.items()}
    return Doubt(**columns)


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _tuples(item) for name, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
