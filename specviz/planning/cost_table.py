"""The cost of a step, as a table: t(n) of the target, the draft by pass width, and the overhead.

A target pass over n nodes costs `target(n)`, a draft pass over w nodes `draft(w)`, and everything else (the rule's
arithmetic, drawing, masks, commit, record) a sum that grows with n and with the rows turned into probabilities.
`cost` measures such a table on this machine, `machines` has those of others.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from ..errors import shown
from ..files import parse_json
from ..tree import Topology
from ..validation import LARGEST


@dataclass(frozen=True)
class CostTable:
    """Seconds of the parts of a step, as columns; between two entries it is read off the straight line.

    Args:
        machine: whose numbers these are.
        projection: whether they were assumed or taken from a paper rather than measured here.
        note: one sentence on where they come from.
        plain_s: one step of plain decoding, all in.
        sizes: n, the nodes of a tree with its root, rising from 1.
        target_s: one target pass over n nodes.
        overhead_s: what a step of n nodes takes beyond its passes and rows.
        widths: w, the nodes that one draft pass reads, rising from 1.
        draft_s: one draft pass over w nodes.
        row_s: overhead for each inner node.
        opening_s: what the drafter's first rows of a step take beyond one pass over one node: heads make all levels
            there.
        spread: for "plain", "target" and "draft" the quartiles of each entry, [low, high].
        settings: pair, rule and temperature, samples; plain JSON data.
        unit: what a 1 in the columns is: "s", seconds, or "pass", one pass of the target where a machine has no clock.
    """

    machine: str
    projection: bool
    note: str
    plain_s: float
    sizes: tuple[int, ...]
    target_s: tuple[float, ...]
    overhead_s: tuple[float, ...]
    widths: tuple[int, ...]
    draft_s: tuple[float, ...]
    row_s: float = 0.0
    spread: dict[str, list] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    unit: str = "s"
    opening_s: float = 0.0

    def target(self, nodes: float) -> float:
        """Seconds of one target pass over a tree."""
        return _line(nodes, self.sizes, self.target_s)

    def draft(self, nodes: float) -> float:
        """Seconds of one draft pass that reads so many nodes."""
        return _line(nodes, self.widths, self.draft_s)

    def overhead(self, nodes: float) -> float:
        """Seconds of a step over so many nodes beyond its passes and its inner nodes' rows."""
        return _line(nodes, self.sizes, self.overhead_s)

    def parts(self, shape: Topology) -> dict[str, float]:
        """Seconds of a step with a tree of this shape, drafted level by level: "draft", "target" and "overhead"."""
        inner = [int(shape.depth[node]) for node, children in enumerate(shape.children) if children]
        passes = np.bincount(inner).tolist() if inner else []
        return {
            "draft": sum(map(self.draft, passes)) + (self.opening_s if passes else 0.0),
            "target": self.target(len(shape)),
            "overhead": self.overhead(len(shape)) + self.row_s * len(inner),
        }

    def step(self, shape: Topology) -> float:
        """Seconds of a step with a tree of this shape."""
        return sum(self.parts(shape).values())

    @property
    def shown_in(self) -> tuple[str, float]:
        """The unit to show times in, and how many of it make one of the columns'."""
        return ("ms", 1000.0) if self.unit == "s" else ("target passes", 1.0)

    def to_json(self) -> str:
        return json.dumps(asdict(self), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> CostTable:
        """Read what `to_json` wrote.

        Raises:
            ValueError: if it is no such table; the message says what is wrong with it.
        """
        try:
            data = parse_json(text)
        except ValueError:
            raise ValueError("cost table is not valid JSON. The file may be truncated or damaged.") from None
        data = {"unit": "s", "opening_s": 0.0} | data if isinstance(data, dict) else data
        if not isinstance(data, dict) or (lost := [f.name for f in fields(cls) if f.name not in data]):
            what = lost[0] if isinstance(data, dict) else "machine"
            raise ValueError(f"cost table must be the output of `python -m specviz cost --json`; it has no {what!r}.")
        data = {f.name: data[f.name] for f in fields(cls)}
        if data["unit"] not in ("s", "pass"):
            raise ValueError("cost table is damaged: unit must be s or pass.")
        for steps, columns in (("sizes", ("target_s", "overhead_s")), ("widths", ("draft_s",))):
            for name in (steps, *columns):
                data[name] = _column(name, data[name], len(data[steps]) if isinstance(data[steps], list | tuple) else 0)
            if any(a >= b for a, b in zip(data[steps], data[steps][1:], strict=False)):
                raise ValueError(f"cost table is damaged: {steps} must rise.")
        for name in ("plain_s", "row_s", "opening_s"):
            (data[name],) = _column(name, [data[name]], 1)
        for name, kind in (("machine", str), ("note", str), ("projection", bool), ("spread", dict), ("settings", dict)):
            if not isinstance(data[name], kind):
                raise ValueError(f"cost table is damaged: {name} is not of the right kind.")
        return cls(**data)


def _column(name: str, values: Any, length: int) -> tuple[float, ...]:
    good = isinstance(values, list) and len(values) == length > 0
    if not (good and all(type(x) in (int, float) and 0 <= x <= LARGEST for x in values)):
        raise ValueError(f"cost table is damaged: {name} must have {length} numbers from 0; got {shown(values)}.")
    return tuple(values)


def _line(x: float, xs: Sequence[float], ys: Sequence[float]) -> float:
    """The value at x on straight lines through the points, the last line drawn on, never falling."""
    if x <= xs[-1] or len(xs) == 1:
        return float(np.interp(x, xs, ys))
    return ys[-1] + max(0.0, (ys[-1] - ys[-2]) / (xs[-1] - xs[-2])) * (x - xs[-1])
