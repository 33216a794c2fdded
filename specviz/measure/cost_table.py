"""The cost of a step, as a table: t(n) of the target, the draft by pass width, and the overhead.

A target pass over n nodes costs `target(n)`, a draft pass over w nodes `draft(w)`, and everything
else (the rule's arithmetic, drawing, masks, commit, record) a sum that grows with n and with the
rows turned into probabilities. `specviz calibrate` measures such a table on this machine;
`machines` has projections for others.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import log2
from typing import Annotated

import numpy as np
from pydantic import model_validator

from ..base.codec import JsonObject, NonNegative, Positive, Record, one_of
from ..base.lines import on_lines
from ..tree import Topology


@dataclass(frozen=True)
class CostTable(Record):
    """Seconds of the parts of a step, as columns; between two entries it is read off the straight
    line.

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
        opening_s: what the drafter's first rows of a step take beyond one pass over one node: heads
            make all levels there.
        spread: for "plain", "target" and "draft" the quartiles of each entry, [low, high].
        settings: pair, rule and temperature, samples; plain JSON data.
        unit: what a 1 in the columns is: "s", seconds, or "pass", one pass of the target where a
            machine has no clock.

    >>> measured = (0.02, (1, 64), (0.02, 0.04), (0.0, 0.0), (1, 64), (0.001, 0.001))
    >>> cost = CostTable("mine", False, "", *measured)
    >>> cost.target(64), round(cost.step(Topology((-1, 0, 0))), 4)  # seconds
    (0.04, 0.0216)
    """

    machine: str
    projection: bool
    note: str
    plain_s: NonNegative
    sizes: tuple[Positive, ...]
    target_s: tuple[NonNegative, ...]
    overhead_s: tuple[NonNegative, ...]
    widths: tuple[Positive, ...]
    draft_s: tuple[NonNegative, ...]
    row_s: NonNegative = 0.0
    spread: JsonObject = field(default_factory=dict)
    settings: JsonObject = field(default_factory=dict)
    unit: Annotated[str, one_of("s", "pass")] = "s"
    opening_s: NonNegative = 0.0

    def target(self, nodes: float) -> float:
        """Seconds of one target pass over a tree."""
        return float(on_lines(nodes, self.sizes, self.target_s))

    def draft(self, nodes: float) -> float:
        """Seconds of one draft pass that reads so many nodes."""
        return float(on_lines(nodes, self.widths, self.draft_s))

    def overhead(self, nodes: float) -> float:
        """Seconds of a step over so many nodes beyond its passes and its inner nodes' rows."""
        return float(on_lines(nodes, self.sizes, self.overhead_s))

    def parts(self, shape: Topology, passes: int | None = None) -> dict[str, float]:
        """Seconds of a step with a tree of this shape: "draft", "target" and "overhead".

        Args:
            shape: the tree.
            passes: of the draft; None for one a level.
        """
        inner = []
        for node, children in enumerate(shape.children):
            if children:
                inner.append(int(shape.depth[node]))
        draft = 0.0
        if inner:
            # Most builders ask the drafter once a level, for all inner nodes of it. Of one that
            # asks more often, each pass reads its share of them.
            widths = np.bincount(inner).tolist()
            if passes and passes != len(widths):
                widths = [len(inner) / passes] * passes
            draft = self.opening_s + sum(map(self.draft, widths))
        return {
            "draft": draft,
            "target": self.target(len(shape)),
            "overhead": self.overhead(len(shape)) + self.row_s * len(inner),
        }

    def step(self, shape: Topology, passes: int | None = None) -> float:
        """Seconds of a step with a tree of this shape, drafted as in `parts`."""
        return sum(self.parts(shape, passes).values())

    def price(self, shape: Topology, passes: int | None = None) -> float:
        """Plain steps that a step with a tree of this shape costs, drafted as in `parts`; at least
        1, for it makes the same pass."""
        if not self.plain_s:
            return 1.0
        return max(1.0, self.step(shape, passes) / self.plain_s)

    def price_range(self, shape: Topology) -> tuple[float, float]:
        """The price of a step with each time at a quartile: about a 95 % interval of medians over
        ten steps.

        Source: McGill et al. 1978. A projection has no spread.
        """
        if not self.spread:
            return (self.price(shape),) * 2
        # The ends of the price: a cheap step over a dear plain one, and the other way round.
        plain_low, plain_high = self.spread["plain"]
        target_low, target_high = zip(*self.spread["target"], strict=True)
        draft_low, draft_high = zip(*self.spread["draft"], strict=True)
        low = replace(self, plain_s=plain_high, target_s=target_low, draft_s=draft_low)
        high = replace(self, plain_s=plain_low, target_s=target_high, draft_s=draft_high)
        return low.price(shape), high.price(shape)

    def per_text(self, texts: int) -> CostTable:
        """The costs of one text where several are decoded together: a pass over b trees of n nodes
        costs one over b n.

        Args:
            texts: how many, from 1.
        """
        return replace(
            self,
            spread={},
            # What is no pass, such as the rule's arithmetic, each text pays for itself.
            plain_s=max(0.0, self.plain_s - self.target(1)) + self.target(texts) / texts,
            target_s=tuple(self.target(texts * size) / texts for size in self.sizes),
            draft_s=tuple(self.draft(texts * width) / texts for width in self.widths),
        )

    @property
    def size_costs(self) -> tuple[float, ...]:
        """What a step over 1, 2, 4, ... nodes costs without drafting, in steps of plain decoding:
        `costs` of a builder of size auto."""
        costs = []
        # At powers of two, between which a builder draws straight lines.
        for power in range(int(log2(self.sizes[-1])) + 1):
            seconds = self.target(2**power) + self.overhead(2**power)
            costs.append(round(seconds / self.plain_s, 3))
        return tuple(costs)

    @property
    def draft_cost(self) -> tuple[float, ...]:
        """What the first draft pass of a step costs, and then one over 1, 2, 4, ... nodes, in steps
        of plain decoding: `draft_cost` of a builder of size auto."""
        widths = [2**power for power in range(int(log2(self.widths[-1])) + 1)]
        # The rows of the nodes that it reads are made where it reads them.
        seconds = [self.draft(width) + width * self.row_s for width in widths]
        first = seconds[0] + self.opening_s
        return tuple(round(each / self.plain_s, 3) for each in (first, *seconds))

    @model_validator(mode="after")
    def _check(self) -> CostTable:
        of_sizes = (self.sizes, self.target_s, self.overhead_s)
        of_widths = (self.widths, self.draft_s)
        for steps, *columns in (of_sizes, of_widths):
            # Costs are read off straight lines between the entries, which must be in order.
            if not steps or list(steps) != sorted(set(steps)):
                raise ValueError("must have rising sizes and rising widths")
            if set(map(len, columns)) != {len(steps)}:
                raise ValueError("must have a cost for each of sizes and widths")
        return self
