"""Trees of as many nodes as are worth their cost: `size=auto`.

A tree of n nodes is expected to bring the sum of their weights, tokens(n), and its step costs
cost(n). The rate of a whole run is the sum of tokens over the sum of costs, so a step should
maximise tokens(n) - rate * cost(n) with the rate of the run, not its own ratio tokens(n) / cost(n):
an easy text then pays for a larger tree, a hard one stops early. Every n is compared: where a
pass's cost jumps, the first n that does not pay is not the last (CaDDTree, arXiv 2606.01813, stops
there).

The same price decides what the draft reads. A node's children are taken to have the probabilities
of its siblings: where the best tree with them is not worth a draft pass more than the best tree
without, no deeper level is read.

A weight is the draft's probability of a path, times the `agreement` for each of its tokens: a draft
that is too sure of itself, as small heads are, promises more than the target accepts.

A builder that knows all weights before it chooses compares every n (`best_count`). One that draws a
node before it knows the weights below stops where even nodes as heavy as the next one would not pay
(`is_worth`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from ..base.codec import JsonObject
from ..config.run_config import RunConfig
from ..sampling.distributions import Distributions
from ..tree import TokenTree
from ..verifiers.base import Verdict
from .base import MAX_NODES, TreeBuilder
from .step_costs import StepCosts, costs_by_count, stored_costs

SHARES = 8  # children that a node is taken to have
Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
TargetCosts = Annotated[tuple[Positive, ...], Field(min_length=2, max_length=11)]
DraftCosts = Annotated[tuple[NonNegative, ...], Field(min_length=1, max_length=12)]
# The defaults of runs that were saved before there was "auto".
OLD_COSTS = (1.0, 1.0, 1.24, 1.24, 1.74, 2.69, 4.38)
OLD_DRAFT_COST = 0.5


@dataclass(frozen=True)
class Rate:
    """Tokens and costs of the steps so far, whose ratio is the rate of the run.

    Attributes:
        written, cost: the tokens, and what the steps cost.
        promised, fulfilled: of the nodes that were reached and had children, how much probability
            the draft gave to these children, and how often one of them was accepted.
    """

    written: float = 0.0
    cost: float = 0.0
    promised: float = 0.0
    fulfilled: int = 0

    @property
    def agreement(self) -> float:
        """How much of what the draft promises is accepted, at most 1."""
        # One promise that was fulfilled stands at the beginning, so that one miss is no verdict.
        return min(1.0, (1 + self.fulfilled) / (1 + self.promised))


def best_count(weights: Sequence[float], costs: np.ndarray, price: float) -> int:
    """How many of the heaviest nodes are worth their cost, at least one.

    Args:
        weights: the chance of each node's path, [n]; they never rise.
        costs: what 1, 2, ... nodes cost, [n] or longer.
        price: the tokens that a unit of cost brings elsewhere in the run.
    """
    gain = np.cumsum(weights) - price * costs[: len(weights)]
    return int(np.argmax(gain)) + 1


def is_worth(weight: float, nodes: int, costs: np.ndarray, price: float) -> bool:
    """Whether a tree may still gain by further nodes, the next one of this weight and the others
    no heavier.

    Args:
        weight: the chance of the next node, known before its token is drawn.
        nodes: how many there are, the root included.
        costs: what a step over 1, 2, ... nodes costs, [most nodes].
        price: as for `best_count`.
    """
    # Further nodes are no heavier than the next one, so this is the most that 1, 2, ... of them
    # bring.
    more = costs[nodes:] - costs[nodes - 1]
    return bool((weight * np.arange(1, len(more) + 1) > price * more).any())


class SizedByCost(TreeBuilder):
    """A builder whose `size` may be "auto"."""

    size: Literal["auto"] | Annotated[int, Field(ge=1, le=MAX_NODES)] = Field(
        16,
        title="Tree size (nodes)",
        description="Maximum number of nodes, including the root: a number, or auto (as many as "
        "are worth their cost).",
    )
    costs: Literal["auto"] | TargetCosts = Field(
        "auto",
        title="Costs",
        description="For size auto: cost of a step over 1, 2, 4, 8, ... nodes without drafting, in "
        "steps of plain decoding, or auto (stored for the pair; `specviz calibrate` prints another "
        "pair's).",
    )
    draft_cost: Literal["auto"] | DraftCosts = Field(
        "auto",
        title="Costs of drafting",
        description="For size auto: cost of a step's first draft pass, and then of a pass over 1, "
        "2, 4, 8, ... nodes, in steps of plain decoding, or auto (stored for pair and drafter).",
    )

    @model_validator(mode="before")
    @classmethod
    def _read_old_defaults(cls, values: JsonObject) -> JsonObject:
        if values.get("draft_cost") == OLD_DRAFT_COST:
            values = values | {"draft_cost": "auto"}
        costs = values.get("costs")
        if isinstance(costs, list | tuple) and tuple(costs) == OLD_COSTS:
            values = values | {"costs": "auto"}
        return values

    def prepare(self, config: RunConfig, info: JsonObject) -> Self:
        prepared = super().prepare(config, info)
        if self.size != "auto":
            return prepared  # and costs decide nothing
        on_disk = info.get("offload") == "disk"  # where every pass reads the target's weights
        target, draft = stored_costs(config.drafter.name, info["name"], on_disk)
        # A copy without validation, since these were validated or are shipped.
        return prepared.model_copy(
            update={
                "costs": target if self.costs == "auto" else self.costs,
                "draft_cost": draft if self.draft_cost == "auto" else self.draft_cost,
            }
        )

    @property
    def table(self) -> StepCosts:
        """The costs; the embedded pair's where no run has resolved "auto"."""
        target, draft = stored_costs()
        return StepCosts(
            target if self.costs == "auto" else self.costs,
            draft if self.draft_cost == "auto" else self.draft_cost,
        )

    @property
    def limit(self) -> int:
        """The most nodes that a tree may have."""
        if self.size == "auto":
            return 2 ** (len(self.table.target) - 1)
        return self.size

    @property
    def step_costs(self) -> np.ndarray:
        """What a step over 1, 2, ... nodes costs without drafting, [limit]."""
        return costs_by_count(self.table.target, self.limit)

    @property
    def pass_costs(self) -> np.ndarray:
        """What a draft pass over 1, 2, ... nodes costs that is not a step's first, [limit]."""
        first, *later = self.table.draft
        return costs_by_count(tuple(later) or (first,), self.limit)


class RatedBuilder(SizedByCost):
    """One whose trees differ from step to step, so that the rate of the run decides."""

    @property
    def is_chain(self) -> bool:
        return self.limit <= 2

    def start(self) -> Rate | None:
        if self.size == "auto":
            return Rate()
        return None

    def price(self, state: Rate) -> float:
        """The tokens that a unit of cost brings elsewhere in the run: its rate so far, at least
        that of plain decoding, which any step can choose."""
        plain = 1 / self.table.target[0]
        return max(plain, state.written / state.cost) if state.cost else plain

    def least_chance(self, state: Rate | None) -> float:
        """The chance below which no node pays, however many there are: the cheapest further node
        costs more."""
        if state is None:
            return 0.0
        return self.price(state) * float(np.diff(self.step_costs).min())

    def worth_reading(
        self, tree: TokenTree, nodes: Sequence[int], chances: Sequence[float], state: Rate | None
    ) -> list[int]:
        """Those of some nodes that are worth a draft pass, likeliest first; all where the size is
        given.

        Args:
            tree: what was drafted so far.
            nodes: those that the draft has not read, of which none is the ancestor of another.
            chances: of each node's path, [len(tree)].
            state: the rate so far.
        """
        nodes = sorted(nodes, key=lambda node: -chances[node])
        if state is None or not nodes:
            return nodes
        price = self.price(state)
        if not tree.draft_distributions:  # of the root nothing is known: one sure child at best
            return nodes if state.agreement > price * self.table.draft[0] else []
        costs = self.pass_costs
        children = tree.topology.children
        weights = np.array(chances)
        without = self._gain(weights, price)
        best_gain = 0.0
        best = 0
        for count, node in enumerate(nodes[: len(costs)], 1):
            # What a node's row will be is not known: it is taken to be like the one it came from.
            parent = tree.parents[node]
            like = [chances[child] / chances[parent] for child in children[parent][:SHARES]]
            weights = np.append(weights, chances[node] * np.array(like))
            gain = self._gain(weights, price) - without - price * costs[count - 1]
            if gain > best_gain:
                best_gain = gain
                best = count
        return nodes[:best]

    def _gain(self, weights: np.ndarray, price: float) -> float:
        """What the best tree of some candidates brings beyond the price of its cost."""
        heaviest = -np.sort(-weights)[: self.limit]
        return float((np.cumsum(heaviest) - price * self.step_costs[: len(heaviest)]).max())

    def step_cost(self, tree: TokenTree, widths: Sequence[int]) -> float:
        """What a step with this tree costs.

        Args:
            tree: what the target reads.
            widths: how many nodes each pass of the draft read.
        """
        cost = float(self.step_costs[len(tree) - 1])
        if widths:
            cost += self.table.draft[0] + float(sum(self.pass_costs[w - 1] for w in widths[1:]))
        return cost

    def learn(
        self,
        state: Rate | None,
        tree: TokenTree,
        verdict: Verdict,
        rows: Distributions | None = None,
    ) -> Rate | None:
        if state is None:
            return None
        promised = state.promised
        fulfilled = state.fulfilled
        for depth, node in enumerate((0, *verdict.path)):
            q = tree.draft_distributions.get(node)
            if q is not None and tree.children[node]:
                promised += float(sum(q[tree.tokens[child]] for child in tree.children[node]))
                fulfilled += depth < len(verdict.path)
        cost = state.cost + (tree.growth.cost or 0.0)
        return Rate(state.written + len(verdict.path) + 1, cost, promised, fulfilled)
