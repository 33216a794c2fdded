"""Expected tokens per pass against tree size, shape by shape, with bounds and plateaus (Sequoia, figures 1 and 6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from ..builders.sequoia import best_trees
from ..planning.forecast import shape_curves
from ..theory.bounds import leaf_bound, plateaus, tail_bound
from . import theme

TITLE = "Expected tokens per target pass by tree size"
HOW_TO_READ = (
    "Expected tokens per target pass. Chains, k sequences and k-ary trees approach their plateaus (dashed), while the "
    "best tree of each size grows with the logarithm of its size, below the bounds of the exponential-races paper "
    "(dotted)."
)
NAMES = {
    "sequoia": "best tree (Sequoia)", "k-ary": "k-ary", "k-sequences": "k sequences", "chain": "chain",
    "batch": "children of the root only",
}  # fmt: skip
DEPTH, CHILDREN = 24, 32


class Info(NamedTuple):
    """Curves by shape, bounds by name, each as points (nodes, tokens per pass), and plateaus by shape."""

    curves: dict[str, tuple[tuple[int, float], ...]]
    bounds: dict[str, tuple[tuple[int, float], ...]]
    plateaus: dict[str, float]
    width: int


def info(acceptance: tuple, sizes: Sequence[int], width: int = 4) -> Info:
    """Curves for an acceptance vector.

    Args:
        acceptance: P[k], or one vector per level (which has no bounds and no plateaus here).
        sizes: nodes with the root, from 2.
        width: sequences of "k sequences", children of "k-ary".
    """
    found = shape_curves(acceptance, sizes, width, DEPTH, CHILDREN)
    curves = {kind: tuple(points) for kind, points in found.items() if points}
    if isinstance(acceptance[0], tuple):
        return Info(curves, {}, {}, width)
    depth = min(DEPTH, max(sizes) - 1)
    lemma, whole = [], []
    for (size, _), (shape, _) in best_trees(acceptance, sizes, [depth], CHILDREN).items():
        lemma.append((size, tail_bound(acceptance, size - 1, int(shape.rank.max()) + 1)))
        if abs(sum(acceptance) - 1) < 1e-9:
            whole.append((size, leaf_bound(acceptance, size - 1)))
    named = {"lemma 4.2, best m": lemma, "theorem 4.1, by leaves": whole}
    bounds = {name: tuple((n, y) for n, y in points if math.isfinite(y)) for name, points in named.items()}
    ends = {kind: end for kind, end in plateaus(acceptance, width).items() if math.isfinite(end)}
    return Info(curves, {name: points for name, points in bounds.items() if points}, ends, width)


def draw(info: Info) -> go.Figure:
    if not info.curves:
        return theme.empty("Choose tree sizes of at least two nodes to see the expected tokens of each shape.")
    fig = theme.figure("tree size (nodes, including the root)", "expected tokens per target pass", TITLE)
    highest = max(tokens for points in info.curves.values() for _, tokens in points)
    for place, (kind, points) in enumerate(info.curves.items()):
        k = f" (k = {info.width})" if kind.startswith("k-") else ""
        x, y = zip(*points, strict=True)
        theme.curve(fig, x, y, NAMES[kind] + k, theme.series(place), "%{x} nodes: %{y:.3f} tokens")
        if kind in info.plateaus and info.plateaus[kind] < 2 * highest:
            colour = theme.series(place)["line"]["color"]
            theme.rule_line(fig, info.plateaus[kind], f"{NAMES[kind]} limit {info.plateaus[kind]:.2f}", colour)
    for name, points in info.bounds.items():
        x, y = zip(*points, strict=True)
        theme.guide(fig, x, y, f"bound: {name}", "%{x} nodes: at most %{y:.3f} tokens", "dot")
    theme.logarithmic("x", fig, sorted({n for points in info.curves.values() for n, _ in points if n & (n - 1) == 0}))
    fig.update_yaxes(range=[0, 1.5 * highest])
    return fig
