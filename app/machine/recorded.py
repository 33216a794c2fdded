"""The measurements that the tabs open with, as JSON in assets/curves.json; `python -m app.record_curves` makes them."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from functools import lru_cache
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from specviz.acceptance.calibration import Calibration
from specviz.acceptance.on_nodes import DraftUncertainty, RejectionRates
from specviz.acceptance.on_text import Acceptance
from specviz.paths import CURVES
from specviz.planning.cost_table import CostTable
from specviz.plots import PLOTS
from specviz.plots.predicted import Point


@dataclass(frozen=True)
class Recorded:
    """What was measured, with which pair, and on which machine in words; `studies` are infos of figures by name."""

    calibration: Calibration
    cost: CostTable
    points: tuple[Point, ...]
    studies: dict[str, Any]
    pair: str
    machine: str

    @property
    def label(self) -> str:
        """What the figures made of it are called."""
        return f"recorded, {self.pair}"

    @property
    def note(self) -> str:
        """On the costs, in place of the one that says they were measured here."""
        return f"Recorded in the loop on {self.machine}, medians over the steps; measure this machine to replace it."


@lru_cache
def read() -> Recorded:
    """The recording that ships with the page."""
    data = json.loads(CURVES.read_text(encoding="utf-8"))
    calibration = Calibration(
        tuple(_made(Acceptance, row) for row in data["vectors"]),
        _doubt(data["doubt"]),
        _made(RejectionRates, data["rates"]),
    )
    cost = CostTable.from_json(json.dumps(data["cost"]))
    studies = {
        name: rebuilt(get_type_hints(PLOTS[name].info)["return"], info) for name, info in data["studies"].items()
    }
    points = tuple(Point(*row) for row in data["points"])
    return Recorded(calibration, cost, points, studies, data["pair"], data["machine"])


def rebuilt(kind: Any, value: Any) -> Any:
    """What JSON made of a NamedTuple or a dataclass of plain data, turned back by its annotations."""
    inner = get_args(kind)
    if value is None or type(value) in (str, bool, int):
        return value
    if isinstance(kind, type) and hasattr(kind, "__annotations__"):
        return kind(**{name: rebuilt(of, value[name]) for name, of in get_type_hints(kind).items()})
    if get_origin(kind) is dict:
        return {name: rebuilt(inner[1], item) for name, item in value.items()}
    if get_origin(kind) is tuple:
        each = inner[:1] * len(value) if inner[-1] is ... else inner
        return tuple(rebuilt(of, item) for of, item in zip(each, value, strict=True))
    return (
        value if not isinstance(value, list | dict) else rebuilt(next(of for of in inner if of is not NoneType), value)
    )


def _made(cls: type, data: dict[str, Any]) -> Any:
    """The dataclass of JSON data, its lists as tuples; what an older recording lacks has its default."""
    return cls(**{f.name: _tuples(data[f.name]) for f in fields(cls) if f.name in data})


def _doubt(data: dict[str, Any]) -> DraftUncertainty:
    """JSON has no infinity, which a cross entropy can be: there it is null. Elsewhere null is what is not known."""
    columns = {name: tuple(column) for name, column in data.items()}
    columns["cross_entropy"] = tuple(math.inf if x is None else x for x in columns["cross_entropy"])
    return DraftUncertainty(**columns)


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _tuples(item) for name, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
