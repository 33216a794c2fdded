"""A cost table from counted steps: medians over them.

A step is taken apart. Its passes were timed themselves; of the rest, a part belongs to each row of
the draft, and what remains is the overhead of its size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, groupby
from math import log2
from statistics import median
from typing import NamedTuple

import numpy as np

from ..base.codec import JsonObject
from ..record.step import Step
from .cost_table import CostTable

QUARTILES = (0.25, 0.5, 0.75)


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
