"""Trees cut from a ranking: the likeliest of all candidates, as many as asked for or as are worth
their cost.

A drawn token may not be dropped because of its value, so children are the draft's most probable
tokens instead of draws, and only rules that never compare with q keep these trees lossless.

How many are worth it: a tree of the n heaviest nodes is expected to bring the sum of their weights,
tokens(n), and its step costs cost(n). The rate of a whole run is the sum of tokens over the sum of
costs, so a step should maximise tokens(n) - rate * cost(n) with the rate of the run, not its own
ratio tokens(n) / cost(n): an easy text then pays for a larger tree, a hard one stops early. Every
n is compared: where a pass's cost jumps, the first n that does not pay is not the last (CaDDTree,
arXiv 2606.01813, stops there).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ..config.strategy import number
from ..sampling.distributions import Distributions
from ..tree import Chart, TokenTree
from ..verifiers.base import Verdict
from .base import MAX_NODES, TreeBuilder

CUT = 8  # how many of the candidates that were cut are recorded


@dataclass(frozen=True)
class Rate:
    """Tokens and costs of the steps so far, whose ratio is the rate of the run."""

    written: float = 0.0
    cost: float = 0.0


def best_count(weights: Sequence[float], costs: np.ndarray, rate: Rate) -> int:
    """How many of the heaviest nodes a step should try, the root included.

    Args:
        weights: the chance of each node's path, [n], the root's 1 first; they never rise.
        costs: what a step over 1, 2, ... nodes costs, [n] or longer.
        rate: of the steps so far; before the first one the best ratio of this step alone decides.
    """
    tokens = np.cumsum(weights)  # the root's 1 stands for the token that every step brings
    costs = costs[: len(tokens)]
    if rate.cost == 0:
        return int(np.argmax(tokens / costs)) + 1
    return int(np.argmax(tokens - rate.written / rate.cost * costs)) + 1


class RankedBuilder(TreeBuilder):
    """A builder that ranks candidates by the draft's probability of their paths and keeps the
    best."""

    key_title = "the draft's probability of its path"
    schemes = ("top",)
    stops_at_support = True
    size: Literal["auto"] | Annotated[int, Field(ge=1, le=MAX_NODES)] = Field(
        16,
        title="Tree size (nodes)",
        description="Maximum number of nodes, including the root: a number, or auto (as many as "
        "are worth their cost).",
    )
    costs: tuple[Annotated[float, Field(gt=0)], ...] = Field(
        (1.0, 1.0, 1.24, 1.24, 1.74, 2.69, 4.38),
        min_length=2,
        max_length=11,
        title="Costs",
        description="For size auto: cost of a step over 1, 2, 4, 8, ... nodes without drafting, in "
        "steps of plain decoding. The default is the embedded pair's; `specviz calibrate` prints "
        "another pair's.",
    )
    draft_cost: float = number(
        0.5,
        0,
        100,
        "Cost of drafting",
        "For size auto: cost of drafting a tree, in steps of plain decoding.",
    )

    @property
    def is_chain(self) -> bool:
        return self.limit <= 2 or getattr(self, "width", 2) == 1

    @property
    def limit(self) -> int:
        """The most nodes that a tree may have."""
        return 2 ** (len(self.costs) - 1) if self.size == "auto" else self.size

    @property
    def step_costs(self) -> np.ndarray:
        """What a step over 1, 2, ... nodes costs, linear between the given numbers, [limit]."""
        sizes = 2 ** np.arange(len(self.costs))
        return self.draft_cost + np.interp(np.arange(1, self.limit + 1), sizes, self.costs)

    def start(self) -> Rate | None:
        return Rate() if self.size == "auto" else None

    def keep_best(
        self, candidates: TokenTree, path_prob: Sequence[float], state: Rate | None
    ) -> TokenTree:
        """The tree of the best candidates.

        Args:
            candidates: all that were drafted.
            path_prob: the draft's probability of each one's path, [n], the root's 1 first.
            state: the rate so far, for size auto.
        """
        # Stable, so parents stand before their children.
        ranked = sorted(range(len(candidates)), key=lambda node: -path_prob[node])
        size = self.limit
        if state is not None:
            weights = [path_prob[node] for node in ranked[: self.limit]]
            size = best_count(weights, self.step_costs, state)
        tree = subtree(candidates, ranked[:size], path_prob)
        cut = ranked[size:][:CUT]
        chart = Chart(
            tuple(candidates.tokens[node] for node in cut),
            {"keys": tuple(path_prob[node] for node in cut)},
        )
        expected = sum(path_prob[node] for node in ranked[:size])
        tree.record_growth(candidates=len(ranked) - 1, cut=chart, expected=expected)
        return tree

    def learn(
        self,
        state: Rate | None,
        tree: TokenTree,
        verdict: Verdict,
        rows: Distributions | None = None,
    ) -> Rate | None:
        if state is None:
            return None
        cost = float(self.step_costs[len(tree) - 1])
        return Rate(state.written + len(verdict.path) + 1, state.cost + cost)


def subtree(tree: TokenTree, nodes: Sequence[int], keys: Sequence[float]) -> TokenTree:
    """Some `nodes` of a tree as a tree, numbered in this order: the root first, parents before
    children."""
    best = TokenTree(tree.tokens[0], tree.start, tree.scheme)
    number = {0: 0}
    for node in nodes[1:]:
        number[node] = best.add(number[tree.parents[node]], tree.tokens[node], keys[node])
    best.origin = {number[node]: node for node in sorted(nodes)}
    rows = tree.draft_distributions
    best.draft_distributions = {
        new: rows[node] for new, node in best.origin.items() if node in rows
    }
    return best
