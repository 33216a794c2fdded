"""The cost of a step, as a table: t(n) of the target, the draft by pass width, and the overhead.

A target pass over n nodes costs `target(n)`, a draft pass over w nodes `draft(w)`, and everything
else (the rule's arithmetic, drawing, masks, commit, record) a sum that grows with n and with the
rows turned into probabilities. `specviz calibrate` measures such a table on this machine;
`machines` has projections for others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from math import log2
from statistics import median
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import model_validator

from ..base.codec import JsonObject, NonNegative, Positive, Record, one_of
from ..record.step import Step
from ..tree import Topology

QUARTILES = (0.25, 0.5, 0.75)


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
        return _line(nodes, self.sizes, self.target_s)

    def draft(self, nodes: float) -> float:
        """Seconds of one draft pass that reads so many nodes."""
        return _line(nodes, self.widths, self.draft_s)

    def overhead(self, nodes: float) -> float:
        """Seconds of a step over so many nodes beyond its passes and its inner nodes' rows."""
        return _line(nodes, self.sizes, self.overhead_s)

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

    @property
    def display_unit(self) -> tuple[str, float]:
        """The unit to show times in, and how many of it make one of the columns'."""
        if self.unit == "s":
            return "ms", 1000.0
        return "target passes", 1.0

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


class Pass(NamedTuple):
    """A drafter was asked once: whether for the root's row, which comes first, for how many nodes,
    and the seconds."""

    first: bool
    nodes: int
    seconds: float


class Shape(NamedTuple):
    """The steps of one shape of tree, and medians over them: nodes, inner nodes, and seconds beyond
    the passes."""

    nodes: int
    inner: float
    overhead: float
    steps: Sequence[Step]


def fit_costs(
    runs: Sequence[tuple[Sequence[Step], Sequence[Pass]]], settings: JsonObject
) -> CostTable:
    """The costs that follow from counted steps: medians over them.

    Args:
        runs: of each shape of tree its steps, and the draft's passes in them; plain decoding is one
            of them.
        settings: of the table.
    """
    shapes_of_runs = [_shape_of(steps) for steps, _ in runs]
    shapes_of_runs.sort(key=lambda shape: shape.nodes)
    by_size: dict[int, list[Shape]] = {}
    for shape in shapes_of_runs:
        by_size.setdefault(shape.nodes, []).append(shape)
    # A step is taken apart: passes were timed themselves, and of the rest so much belongs to each
    # row of q.
    row_s = _cost_of_row(by_size.values())
    target = []
    overhead = []
    for shapes in by_size.values():
        steps = list(chain.from_iterable(shape.steps for shape in shapes))
        target.append(np.quantile([step.seconds.target for step in steps], QUARTILES))
        overhead.append(median(max(0.0, shape.overhead - row_s * shape.inner) for shape in shapes))
    # A pass over more nodes costs no less, whatever noise says.
    target_s = np.maximum.accumulate(target)
    # A tree of one node is plain decoding, what every price is relative to.
    plain_steps = chain.from_iterable(shape.steps for shape in by_size[1])
    plain = np.quantile([step.seconds.total for step in plain_steps], QUARTILES)
    passes = list(chain.from_iterable(passes for _, passes in runs))
    widths, draft_s, opening_s = _draft_costs(passes)
    return CostTable(
        machine="this machine",
        projection=False,
        note="Measured here, in the decoding loop, on trees of rising size; medians over steps.",
        plain_s=float(plain[1]),
        sizes=tuple(by_size),
        target_s=tuple(target_s[:, 1].tolist()),
        overhead_s=tuple(overhead),
        widths=widths,
        draft_s=tuple(draft_s[:, 1].tolist()),
        row_s=row_s,
        opening_s=opening_s,
        settings=settings,
        spread={
            "plain": plain[::2].tolist(),
            "target": target_s[:, ::2].tolist(),
            "draft": draft_s[:, ::2].tolist(),
        },
    )


def _shape_of(steps: Sequence[Step]) -> Shape:
    return Shape(
        nodes=int(median(len(step.parents) for step in steps)),
        inner=median(len(set(step.parents)) - 1 for step in steps),
        overhead=median(step.seconds.verify + step.seconds.other for step in steps),
        steps=steps,
    )


def _cost_of_row(groups: Iterable[Sequence[Shape]]) -> float:
    """Seconds for each inner node: two depths of one size differ in their inner nodes only.

    It is no more than any shape's whole overhead would allow.
    """
    # The median over sizes, so that one disturbed size does not decide.
    slopes = []
    limits = []
    for shapes in groups:
        for shape in shapes:
            if shape.inner:
                limits.append(shape.overhead / shape.inner)
        if len(shapes) == 2 and shapes[1].inner > shapes[0].inner:
            flat, deep = shapes
            slopes.append((deep.overhead - flat.overhead) / (deep.inner - flat.inner))
    # Noise may say that a row gives time back, or that it costs more than the whole step has.
    if slopes:
        return max(0.0, min(median(slopes), *limits))
    return 0.0


def _draft_costs(passes: list[Pass]) -> tuple[tuple[int, ...], np.ndarray, float]:
    """Widths, the quartiles of seconds at each, [widths, 3], and what the first pass takes more."""
    opening = [each.seconds for each in passes if each.first]
    below = [each.seconds for each in passes if each.nodes == 1 and not each.first]
    # Heads make the rows of all levels with the first one, so only the first pass of a step is
    # dear.
    opening_s = 0.0
    if opening and below:
        opening_s = max(0.0, median(opening) - median(below))
    # Where later passes over one node were seen, they say what such a pass takes.
    later = [each for each in passes if not (each.first and below)]
    later.sort(key=lambda each: each.nodes)
    widths = []
    draft_s = []
    # Widths vary from step to step: those between two powers of two are one entry.
    for _, octave in groupby(later, lambda each: int(log2(each.nodes))):
        alike = list(octave)
        widths.append(round(median(each.nodes for each in alike)))
        draft_s.append(np.quantile([each.seconds for each in alike], QUARTILES))
    return tuple(widths), np.array(draft_s), opening_s


def _line(x: float, xs: Sequence[float], ys: Sequence[float]) -> float:
    """The value at x on straight lines through the points, the last line drawn on, never
    falling."""
    if x <= xs[-1] or len(xs) == 1:
        return float(np.interp(x, xs, ys))
    # Beyond what was measured the last slope goes on, but a larger pass never costs less.
    return ys[-1] + max(0.0, (ys[-1] - ys[-2]) / (xs[-1] - xs[-2])) * (x - xs[-1])
