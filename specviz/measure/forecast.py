"""Predicted speedup of a tree on a machine: expected tokens per pass over the seconds per step.

    speedup(n, d) = G(n, d) / price,    price = (t(n) + draft passes of the tree's levels +
    overhead) / plain step

G(n, d) is the best tree of n nodes and d levels for an acceptance vector, and 1.0 is plain decoding
on the same machine (Sequoia, section 4.1). A step makes a pass over at least one node, as a plain
step does, so its price is at least 1: no prediction exceeds its tokens per pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from ..builders.plans import best_trees
from ..record.vectors import expected_tokens
from ..tree import Topology
from .cost_table import CostTable

SIZES = (*range(2, 17), 20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512, 768)
DEPTHS = (*range(1, 13), 14, 16, 18, 20)
WIDTH = 32  # most children of a node


@dataclass(frozen=True)
class Cell:
    """One tree on one machine.

    Args:
        size, depth: nodes with the root, and levels below it.
        tokens_per_pass: expected.
        step_s, parts: seconds of a step, and how they split into draft, target and overhead.
        price: plain steps that a step costs, at least 1.
    """

    size: int
    depth: int
    tokens_per_pass: float
    step_s: float
    parts: dict[str, float]
    price: float

    @property
    def speedup(self) -> float:
        """Predicted, against plain decoding."""
        # Tokens of a step over what it costs, where a plain step brings one token and costs one.
        return self.tokens_per_pass / self.price


def predict(
    shape: Topology,
    acceptance: tuple,
    cost: CostTable,
    tokens: float | None = None,
    passes: int | None = None,
) -> Cell:
    """The prediction for a static shape.

    Args:
        shape: the tree.
        acceptance: P[k], or one vector per level.
        cost: the machine.
        tokens: its expected tokens per pass where they are known already.
        passes: of the draft; None for one a level.

    >>> measured = (0.02, (1, 64), (0.02, 0.04), (0.0, 0.0), (1, 64), (0.001, 0.001))
    >>> cost = CostTable("mine", False, "", *measured)
    >>> forecast = predict(Topology((-1, 0, 0)), (0.5, 0.25), cost)
    >>> forecast.tokens_per_pass, round(forecast.speedup, 2)
    (1.75, 1.62)
    """
    # The planner's table knows them already where the tree is one of its own.
    if tokens is None:
        tokens = expected_tokens(shape, acceptance)
    parts = cost.parts(shape, passes)
    step_s = sum(parts.values())
    price = cost.price(shape, passes)
    return Cell(len(shape), int(shape.depth.max()), tokens, step_s, parts, price)


@dataclass(frozen=True)
class Forecast:
    """Sequoia's trees of all sizes and depths on one machine.

    Args:
        cells: the trees of each size, the flattest first; a size that no tree has is left out.
    """

    cells: tuple[tuple[Cell, ...], ...]

    @property
    def trees(self) -> list[Cell]:
        """All cells, size by size."""
        return list(chain.from_iterable(self.cells))

    @property
    def best_of_sizes(self) -> list[Cell]:
        """The fastest tree of each size."""
        return list(map(fastest, self.cells))

    @property
    def best(self) -> Cell:
        """The fastest tree, the smaller one among equals."""
        return fastest(self.trees)


def fastest(cells: Iterable[Cell]) -> Cell:
    """The cell of largest predicted speedup, the first one among equals."""
    return max(cells, key=lambda cell: cell.speedup)


def forecast(
    acceptance: tuple,
    cost: CostTable,
    sizes: Sequence[int] = SIZES,
    depths: Sequence[int] = DEPTHS,
) -> Forecast:
    """Predict every size and depth.

    Args:
        acceptance: P[k], or one vector per level.
        cost: the machine; sizes beyond twice its largest are left out.
        sizes, depths: nodes with the root, and levels.

    Source: Sequoia (Chen et al. 2024), section 4.1.

    >>> measured = (0.02, (1, 64), (0.02, 0.04), (0.0, 0.0), (1, 64), (0.001, 0.001))
    >>> cost = CostTable("mine", False, "", *measured)
    >>> best = forecast((0.7, 0.1), cost, sizes=(2, 4, 8), depths=(1, 2, 4)).best
    >>> best.size, best.depth
    (8, 4)
    """
    sizes = [size for size in sizes if size <= 2 * cost.sizes[-1]]
    # One dynamic programme gives every size and depth; predicting each is then a table look-up.
    trees = best_trees(acceptance, sizes, depths, WIDTH)
    rows = []
    for size in sizes:
        cells = []
        for shallower, depth in zip((0, *depths), depths, strict=False):
            shape, tokens = trees[size, depth]
            # A tree that needs no more levels than a flatter one is that one again.
            if len(shape) == size and int(shape.depth.max()) > shallower:
                cells.append(predict(shape, acceptance, cost, tokens))
        # No tree has a size where the vector or the depth ends before it.
        if cells:
            rows.append(tuple(cells))
    return Forecast(tuple(rows))
