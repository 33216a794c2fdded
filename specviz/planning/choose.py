"""Choose a tree for a machine: the best of all candidates as predicted.

Sequoia's trees of many sizes and depths, chains, and k sequences are predicted from an acceptance vector and a cost
table. The choice is the best of these candidates, not of all trees: Sequoia's bring the most tokens for their nodes and
levels whatever a draft pass costs, so where drafting from a node is dear, a tree with fewer inner nodes may be some per
cent faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..acceptance.vectors import expected_tokens
from ..builders import BUILDERS
from ..builders.sequoia import PlannedBuilder
from ..builders.static import StaticBuilder
from ..compatibility import compatible
from ..config import RunConfig
from ..metrics import Interval, left_out_margin
from ..strategy import format_strategy
from .cost_table import CostTable
from .forecast import Cell, forecast, predict

CHAINS = (*range(1, 13), 14, 16, 20, 24)
SEQUENCES = tuple((width, length) for width in (2, 3, 4, 6, 8, 16) for length in (1, 2, 3, 4, 6, 8, 12))


@dataclass(frozen=True)
class Candidate:
    """A builder with what is predicted for its tree."""

    builder: StaticBuilder
    predicted: Cell

    @property
    def name(self) -> str:
        """The builder as it is written on the command line, without the vector that it was planned with."""
        one = self.builder
        planned = isinstance(one, PlannedBuilder)
        return format_strategy(one.replace(acceptance="auto") if planned else one, defaults=True)


def candidates(vector: tuple, cost: CostTable, config: RunConfig) -> list[Candidate]:
    """Every tree that comes into question, the one of largest predicted speedup first, the smaller among equals.

    Args:
        vector: P[k], or one vector per level.
        cost: the machine.
        config: rule, drafter and temperatures; what cannot run under them is left out, and so is what they make lossy
            where something else is lossless.
    """
    chain, sequences = BUILDERS["chain"], BUILDERS["k-sequences"]
    fixed = [chain(depth=depth) for depth in CHAINS]
    fixed += [sequences(width=width, depth=length) for width, length in SEQUENCES]
    found = [Candidate(builder, predict(builder.shape, vector, cost)) for builder in fixed]
    if not config.verifier.chain_only:
        cells = (cell for row in forecast(vector, cost).cells for cell in row if cell)
        best = BUILDERS["sequoia"]
        found += [Candidate(best(size=cell.size, depth=cell.depth, acceptance=vector), cell) for cell in cells]
    ways = [(one, compatible(replace(config, builder=one.builder))) for one in found]
    some = any(way.lossless for _, way in ways)
    found = [one for one, way in ways if way.possible and (way.lossless or not some)]
    return sorted(found, key=lambda one: (-one.predicted.speedup, one.predicted.size))


def best_candidate(vector: tuple, cost: CostTable, config: RunConfig) -> Candidate:
    """The candidate of largest predicted speedup, called a chain where it is one.

    Args:
        vector, cost, config: as for `candidates`.
    """
    best = candidates(vector, cost, config)[0]
    shape = best.builder.shape
    if best.builder.name != "chain" and not shape.rank.any() and shape.depth.max() <= 64:
        return Candidate(BUILDERS["chain"](depth=int(shape.depth.max())), best.predicted)
    return best


def runners_up(ranked: Sequence[Candidate], best: Candidate, count: int = 3) -> list[Candidate]:
    """The next candidates that differ from the best and from each other by a quarter of their nodes, or in kind."""
    found = [best]
    for one in ranked:
        if not any(_alike(one, other) for other in found):
            found.append(one)
        if len(found) > count:
            break
    return found[1:]


def _alike(one: Candidate, other: Candidate) -> bool:
    sizes = one.predicted.size, other.predicted.size
    near = one.builder.name == other.builder.name and 4 * (max(sizes) - min(sizes)) < max(sizes)
    return near or one.builder.shape.parents == other.builder.shape.parents


def spread_over_texts(one: Candidate, left_out: Sequence[tuple]) -> Interval:
    """How far the expected tokens of a candidate's tree may be off, as factors [low, high] of them at 95 %.

    From leaving out each text, with Student's t; (None, None) where there is one text only.

    Args:
        one: its predicted speedup may be off by the same factors, as far as the costs of the machine are right.
        left_out: the acceptance vector without each text in turn.
    """
    margin = left_out_margin(np.array([expected_tokens(one.builder.shape, vector) for vector in left_out]))
    if margin is None:
        return None, None
    width = float(margin) / one.predicted.tokens_per_pass
    return max(0.0, 1 - width), 1 + width


def best_rule(
    vectors: dict[str, tuple], config: RunConfig, cost_of: Callable[[str], CostTable]
) -> tuple[str, Candidate, CostTable]:
    """The rule and tree of largest predicted speedup, with the cost table that says so.

    A rule's own arithmetic and draws are part of a step. Every rule is first judged by the table of the first one;
    whichever leads is then costed with itself, until the leader is one that was.

    Args:
        vectors: rule -> acceptance vector.
        config: drafter and temperatures; its builder and rule are not used.
        cost_of: measures a rule's table, or returns the same one for all.
    """
    runs = {name: replace(config, verifier=name) for name in vectors}
    first = next(iter(vectors))
    costs = {first: cost_of(first)}
    while True:
        found = {
            name: best_candidate(vector, costs.get(name, costs[first]), runs[name]) for name, vector in vectors.items()
        }
        leader = max(found, key=lambda name: found[name].predicted.speedup)
        if leader in costs:
            return leader, found[leader], costs[leader]
        costs[leader] = cost_of(leader)
