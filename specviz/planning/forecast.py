"""Predicted speedup of a tree on a machine: expected tokens per pass over the seconds per step.

    speedup(n, d) = G(n, d) plain / (t(n) + draft passes of the tree's levels + overhead)

G(n, d) is the best tree of n nodes and d levels for an acceptance vector, and 1.0 is plain decoding on the same
machine (Sequoia, section 4.1; there a draft pass costs the same at any width, and
d c counts a pass for the root's level too, which its own algorithm numbers 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..acceptance.vectors import expected_tokens
from ..builders.sequoia import best_trees
from ..builders.static import grow_shape
from ..tree import Topology
from .cost_table import CostTable

SIZES = (*range(2, 17), 20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512, 768)
DEPTHS = (*range(1, 13), 14, 16, 18, 20)


@dataclass(frozen=True)
class Cell:
    """One tree on one machine.

    Args:
        size, depth: nodes with the root, and levels below it.
        tokens_per_pass: expected.
        step_s, parts: seconds of a step, and how they split into draft, target and overhead.
        speedup: predicted, against plain decoding.
    """

    size: int
    depth: int
    tokens_per_pass: float
    step_s: float
    parts: dict[str, float]
    speedup: float


def predict(shape: Topology, acceptance: tuple, cost: CostTable, tokens: float | None = None) -> Cell:
    """The prediction for a static shape.

    Args:
        shape: the tree.
        acceptance: P[k], or one vector per level.
        cost: the machine.
        tokens: its expected tokens per pass where they are known already.

    >>> cost = CostTable("mine", False, "", 0.02, (1, 64), (0.02, 0.04), (0.0, 0.0), (1, 64), (0.001, 0.001))
    >>> found = predict(Topology((-1, 0, 0)), (0.5, 0.25), cost)
    >>> found.tokens_per_pass, round(found.speedup, 2)
    (1.75, 1.62)
    """
    tokens = expected_tokens(shape, acceptance) if tokens is None else tokens
    parts = cost.parts(shape)
    step_s = sum(parts.values())
    return Cell(len(shape), int(shape.depth.max()), tokens, step_s, parts, tokens * cost.plain_s / step_s)


@dataclass(frozen=True)
class Forecast:
    """Sequoia's trees of all sizes and depths on one machine.

    Args:
        sizes, depths: the axes.
        cells: cells[i][j] is size i with at most depth j; None where the size does not fit in the depth.
        cost: the machine.
    """

    sizes: tuple[int, ...]
    depths: tuple[int, ...]
    cells: tuple[tuple[Cell | None, ...], ...]
    cost: CostTable

    @property
    def best(self) -> Cell:
        """The cell of largest predicted speedup, the smaller tree among equals."""
        return max((cell for row in self.cells for cell in row if cell), key=lambda cell: cell.speedup)


def forecast(
    acceptance: tuple,
    cost: CostTable,
    sizes: Sequence[int] = SIZES,
    depths: Sequence[int] = DEPTHS,
    width: int = 32,
) -> Forecast:
    """Predict every size and depth.

    Args:
        acceptance: P[k], or one vector per level.
        cost: the machine; sizes beyond twice its largest are left out.
        sizes, depths: nodes with the root, and levels.
        width: most children of a node.

    Source: Sequoia (Chen et al. 2024), section 4.1.

    >>> cost = CostTable("mine", False, "", 0.02, (1, 64), (0.02, 0.04), (0.0, 0.0), (1, 64), (0.001, 0.001))
    >>> best = forecast((0.7, 0.1), cost, sizes=(2, 4, 8), depths=(1, 2, 4)).best
    >>> best.size, best.depth
    (8, 4)
    """
    sizes = [size for size in sizes if size <= 2 * cost.sizes[-1]]
    trees = best_trees(acceptance, sizes, depths, width)
    cells = []
    for size in sizes:
        row = []
        for shallower, depth in zip((0, *depths), depths, strict=False):
            shape, tokens = trees[size, depth]
            # A tree that needs no more levels than an earlier column stands there already.
            fits = len(shape) == size and int(shape.depth.max()) > shallower
            row.append(predict(shape, acceptance, cost, tokens) if fits else None)
        cells.append(tuple(row))
    return Forecast(tuple(sizes), tuple(depths), tuple(cells), cost)


def sweep_sequences(
    acceptance: tuple, cost: CostTable, widths: Sequence[int], lengths: Sequence[int], most: int = 1024
) -> tuple[tuple[Cell | None, ...], ...]:
    """Predict k sequences of every number and length (Sequoia, tables 5 and 6).

    Args:
        acceptance, cost: as in `forecast`.
        widths, lengths: how many sequences, and of how many tokens.
        most: nodes beyond which there is no cell.

    Returns:
        cells[i][j] for widths[i] sequences of lengths[j] tokens; None where they are too many.
    """
    return tuple(
        tuple(
            predict(grow_shape([width] + [1] * (length - 1)), acceptance, cost) if width * length < most else None
            for length in lengths
        )
        for width in widths
    )


def shape_curves(
    acceptance: tuple, sizes: Sequence[int], width: int = 4, depth: int = 24, children: int = 32
) -> dict[str, list[tuple[int, float]]]:
    """Expected tokens per pass against tree size for every kind of static shape.

    Args:
        acceptance: P[k], or one vector per level.
        sizes: nodes with the root; a shape that cannot have just so many has the next smaller number it can.
        width: sequences of "k-sequences" and children of "k-ary".
        depth: most levels of Sequoia's trees.
        children: most children of a node of Sequoia's trees.

    Returns:
        For each kind its points (nodes, tokens per pass), without repetition.
    """
    trees = best_trees(acceptance, sizes, [min(depth, max(sizes) - 1)], children)
    curves: dict[str, dict[int, float]] = {"sequoia": {}, "k-ary": {}, "k-sequences": {}, "chain": {}, "batch": {}}
    for size in sizes:
        shape, tokens = trees[size, min(depth, max(sizes) - 1)]
        curves["sequoia"][len(shape)] = tokens
        length = (size - 1) // width
        for kind, widths in (
            ("k-ary", _full(size, width)),
            ("k-sequences", [width] + [1] * (length - 1) if length else []),
            ("chain", [1] * (size - 1)),
            ("batch", [size - 1]),
        ):
            if widths and widths[0]:
                shape = grow_shape(widths)
                curves[kind][len(shape)] = expected_tokens(shape, acceptance)
    return {kind: sorted(points.items()) for kind, points in curves.items()}


def _full(size: int, width: int) -> list[int]:
    """The widths of the largest full k-ary tree of at most `size` nodes."""
    levels, nodes, level = 0, 1, width
    while nodes + level <= size:
        levels, nodes, level = levels + 1, nodes + level, level * width
    return [width] * levels


def marginal_values(
    acceptance: tuple, cost: CostTable, sizes: Sequence[int], width: int = 32
) -> list[tuple[int, float, float]]:
    """What one more node brings, as in figure 4 of the exponential-races paper, and what it costs.

    Args:
        acceptance, cost, width: as in `forecast`.
        sizes: rising numbers of nodes.

    Returns:
        (nodes, tokens gained a node, tokens lost a node) between neighbours: tokens that plain decoding would have
        written in the time that the node takes. Growing pays as long as the gain is larger.
    """
    rows = forecast(acceptance, cost, sizes, width=width).cells
    best = [max(filter(None, row), key=lambda cell: cell.speedup) for row in rows if any(row)]
    return [
        (
            after.size,
            (after.tokens_per_pass - before.tokens_per_pass) / (after.size - before.size),
            (after.step_s - before.step_s) / cost.plain_s / (after.size - before.size),
        )
        for before, after in pairwise(best)
    ]
