"""Acceptance read off recorded runs: by depth and rank, and node by node. Nothing is run again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .measure import wilson
from .record import Trace
from .tree import Topology


@dataclass(frozen=True)
class DepthAcceptance:
    """How often the k-th child of an accepted node is accepted, level by level, as matrices [levels][ranks].

    Args:
        tried: how often an accepted node of level d (0 is the root) had a child of rank k.
        accepted: how often that child was accepted.
    """

    tried: tuple[tuple[int, ...], ...]
    accepted: tuple[tuple[int, ...], ...]

    @property
    def rates(self) -> tuple[tuple[float | None, ...], ...]:
        """accepted / tried; None where nothing was tried."""
        return _cells(lambda hits, tries: hits / tries, self.accepted, self.tried)

    @property
    def intervals(self) -> tuple[tuple[tuple[float, float] | None, ...], ...]:
        """Wilson intervals at 95 %; None where nothing was tried."""
        return _cells(lambda hits, tries: wilson(hits / tries, tries), self.accepted, self.tried)

    @property
    def vector(self) -> tuple[float, ...]:
        """All levels together: the vector of a source without memory."""
        hits, tries = (tuple(map(sum, zip(*matrix, strict=True))) for matrix in (self.accepted, self.tried))
        return tuple(hit / tried if tried else 0.0 for hit, tried in zip(hits, tries, strict=True))

    def levels(self, least: int = 30) -> tuple[tuple[float, ...], ...]:
        """One vector per level, for `acceptance` of Sequoia's builder; cells tried less often take the overall rate."""
        overall = self.vector
        return tuple(
            tuple(hit / tried if tried >= least else p for hit, tried, p in zip(hits, tries, overall, strict=True))
            for hits, tries in zip(self.accepted, self.tried, strict=True)
        )


def _cells(value, *matrices):
    return tuple(
        tuple(value(*cells) if cells[-1] else None for cells in zip(*rows, strict=True))
        for rows in zip(*matrices, strict=True)
    )


def depth_acceptance(traces: Iterable[Trace], levels: int | None = None, ranks: int = 32) -> DepthAcceptance:
    """Count over recorded runs.

    Args:
        traces: runs with one builder, rule and temperature.
        levels: how many levels to tell apart; deeper nodes count with the last. None tells all apart.
        ranks: how many children of a node to look at.
    """
    tried: list[list[int]] = []
    accepted: list[list[int]] = []
    width = 0
    for step in (step for trace in traces for step in trace.steps):
        shape, path = Topology(step.parents), step.path
        for depth, (node, taken) in enumerate(zip((0, *path), (*path, None), strict=True)):
            level = depth if levels is None else min(depth, levels - 1)
            children = shape.children[node][:ranks]
            if children:
                while len(tried) <= level:
                    tried.append([0] * ranks)
                    accepted.append([0] * ranks)
            for rank, child in enumerate(children):
                tried[level][rank] += 1
                accepted[level][rank] += child == taken
            width = max(width, len(children))
    return DepthAcceptance(*(tuple(tuple(row[:width]) for row in matrix) for matrix in (tried, accepted)))


@dataclass(frozen=True)
class ComparedNodes:
    """Every node that a rule compared, as columns: q and p of its token, its chance by the rule, and whether it was
    accepted; probabilities are None where the record has none (DySpec, figure 2)."""

    draft_prob: tuple[float | None, ...]
    target_prob: tuple[float | None, ...]
    accept_prob: tuple[float | None, ...]
    accepted: tuple[bool, ...]


def compared_nodes(traces: Iterable[Trace]) -> ComparedNodes:
    """The compared nodes of recorded runs, in order."""
    rows = [
        (step.draft_prob[node], step.target_prob[node], step.accept_prob[node], outcome == "accepted")
        for trace in traces
        for step in trace.steps
        for node, outcome in enumerate(step.outcome)
        if outcome in ("accepted", "rejected", "passed")
    ]
    return (
        ComparedNodes(*(tuple(column) for column in zip(*rows, strict=True))) if rows else ComparedNodes((), (), (), ())
    )
