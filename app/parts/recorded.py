"""The measurements that the tabs open with, as JSON in assets/curves.json; `python -m app.record_curves` makes them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, get_type_hints

from specviz import codec
from specviz.acceptance.calibration import Calibration
from specviz.files import CURVES
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
        return f"recorded, {self.pair}"

    @property
    def note(self) -> str:
        """The note on the costs, in place of the one for costs measured here."""
        return f"Recorded on {self.machine}, medians over steps. Measure this machine to replace it."


@lru_cache
def read() -> Recorded:
    """What was recorded.

    Raises:
        ValueError: if the file is damaged.
    """
    past = codec.read(Recorded, json.loads(CURVES.read_text(encoding="utf-8")), "curves")
    studies = {name: study(name, info) for name, info in past.studies.items()}
    return replace(past, studies=studies)


def study(name: str, data: Any) -> Any:
    """The info of a study's figure, out of JSON."""
    return codec.read(get_type_hints(PLOTS[name].info)["return"], data, name)
