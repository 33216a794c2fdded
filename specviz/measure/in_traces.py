"""Acceptance from recorded runs: by depth and rank, and node by node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..record.step import Step
from ..record.trace import Trace
from ..tree import Topology


def whole_steps(trace: Trace) -> list[Step]:
    """The steps of a run after the first that had room for a tree as deep as the run's deepest.

    The last steps of a run have smaller trees, which is not the tree's doing. Trees that are
    smaller because a drafter had little to say count: how much it has to say goes with how hard a
    place is, so the rest alone would be biased.
    """
    end = len(trace.prompt_tokens) + (
        len(trace.tokens) if trace.stop == "context" else trace.config.max_new_tokens
    )
    end = min(end, trace.pair.get("max_positions", end))
    deepest = max((int(Topology(step.parents).depth.max()) for step in trace.steps), default=0)
    return [step for step in trace.steps if step.index > 0 and step.start + 1 + deepest < end]


@dataclass(frozen=True)
class DepthAcceptance:
    """How often the k-th child of an accepted node is accepted, level by level, as matrices
    [levels][ranks].

    Args:
        tried: how often an accepted node of level d (0 is the root) had a child of rank k.
        accepted: how often that child was accepted.
    """

    tried: tuple[tuple[int, ...], ...]
    accepted: tuple[tuple[int, ...], ...]

    @property
    def rates(self) -> tuple[tuple[float | None, ...], ...]:
        """accepted / tried; None where nothing was tried."""
        return tuple(
            tuple(hits / tries if tries else None for hits, tries in zip(*rows, strict=True))
            for rows in zip(self.accepted, self.tried, strict=True)
        )


def depth_acceptance(traces: Iterable[Trace], ranks: int = 32) -> DepthAcceptance:
    """Count over recorded runs.

    Args:
        traces: runs with one builder, rule and temperature.
        ranks: how many children of a node to look at.

    >>> config = specviz.RunConfig("ab", "chain:depth=2", max_new_tokens=30, temperature=0)
    >>> acceptance = depth_acceptance([specviz.run(specviz.toy_pair(), config)])
    >>> acceptance.tried, acceptance.accepted  # [level][rank]
    (((15,), (8,)), ((9,), (6,)))
    """
    tried: list[list[int]] = []
    accepted: list[list[int]] = []
    width = 0
    for step in (step for trace in traces for step in trace.steps):
        shape = Topology(step.parents)
        for level, (node, following) in enumerate(
            zip((0, *step.path), (*step.path, None), strict=True)
        ):
            children = shape.children[node][:ranks]
            if children and len(tried) <= level:
                tried.append([0] * ranks)
                accepted.append([0] * ranks)
            for rank, child in enumerate(children):
                tried[level][rank] += 1
                accepted[level][rank] += child == following
            width = max(width, len(children))
    tries, hits = (tuple(tuple(row[:width]) for row in matrix) for matrix in (tried, accepted))
    return DepthAcceptance(tries, hits)
