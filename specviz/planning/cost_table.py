"""The cost of a step, as a table: t(n) of the target, the draft by pass width, and the overhead.

A target pass over n nodes costs `target(n)`, a draft pass over w nodes `draft(w)`, and everything else (the rule's
arithmetic, drawing, masks, commit, record) a sum that grows with n and with the rows turned into probabilities.
`cost` measures such a table on this machine, `machines` has those of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from .. import codec
from ..codec import Damaged, NonNegative, Positive
from ..tree import Topology


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

    >>> cost = CostTable("mine", False, "", 0.02, (1, 64), (0.02, 0.04), (0.0, 0.0), (1, 64), (0.001, 0.001))
    >>> cost.target(64), round(cost.step(Topology((-1, 0, 0))), 4)  # seconds
    (0.04, 0.0216)
    """

    machine: str
    projection: bool
    note: str
    LATER: ClassVar = ("unit", "opening_s")
    plain_s: NonNegative
    sizes: tuple[Positive, ...]
    target_s: tuple[NonNegative, ...]
    overhead_s: tuple[NonNegative, ...]
    widths: tuple[Positive, ...]
    draft_s: tuple[NonNegative, ...]
    row_s: NonNegative = 0.0
    spread: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    unit: Annotated[str, Literal["s", "pass"]] = "s"
    opening_s: NonNegative = 0.0

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
        """The table as JSON text."""
        return codec.dumps(self, exact=True)

    @classmethod
    def from_json(cls, text: str) -> CostTable:
        """Read what `to_json` wrote.

        Raises:
            ValueError: if it is no such table; the message says what is wrong with it.
        """
        return codec.read(cls, codec.parse(text, "cost table"), "cost table")

    def check_fields(self) -> None:
        """See that the columns belong together."""
        for steps, columns in (("sizes", ("target_s", "overhead_s")), ("widths", ("draft_s",))):
            xs = getattr(self, steps)
            if not xs or list(xs) != sorted(set(xs)):
                raise Damaged("must rise", f".{steps}")
            for name in columns:
                if len(getattr(self, name)) != len(xs):
                    raise Damaged(f"must hold {len(xs)} numbers, one for each of {steps}", f".{name}")


def _line(x: float, xs: Sequence[float], ys: Sequence[float]) -> float:
    """The value at x on straight lines through the points, the last line drawn on, never falling."""
    if x <= xs[-1] or len(xs) == 1:
        return float(np.interp(x, xs, ys))
    return ys[-1] + max(0.0, (ys[-1] - ys[-2]) / (xs[-1] - xs[-2])) * (x - xs[-1])
