"""Trees of as many nodes as are worth their cost: `size=auto`.

A tree of n nodes is expected to bring the sum of their weights,
tokens(n), and its step costs cost(n). The rate of a whole run is the sum of tokens over the sum of
costs, so a step should maximise tokens(n) - rate * cost(n) with the rate of the run, not its own
ratio tokens(n) / cost(n): an easy text then pays for a larger tree, a hard one stops early. Every
n is compared: where a pass's cost jumps, the first n that does not pay is not the last (CaDDTree,
arXiv 2606.01813, stops there).

A builder that knows all weights before it chooses compares every n (`best_count`). One that draws a
node before it knows the weights below stops where even nodes as heavy as the next one would not pay
(`is_worth`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ..config.strategy import number
from ..sampling.distributions import Distributions
from ..tree import TokenTree
from ..verifiers.base import Verdict
from .base import MAX_NODES, TreeBuilder


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
    gain = tokens / costs
    if rate.cost > 0:
        gain = tokens - rate.written / rate.cost * costs
    return int(np.argmax(gain)) + 1


def is_worth(weight: float, nodes: int, costs: np.ndarray, rate: Rate) -> bool:
    """Whether a tree may still gain by further nodes, the next one of this weight and the others
    no heavier.

    Args:
        weight: the chance of the next node, known before its token is drawn.
        nodes: how many there are, the root included.
        costs: what a step over 1, 2, ... nodes costs, [most nodes].
        rate: of the steps so far; before the first one that of plain decoding, 1.
    """
    # What a unit of cost brings elsewhere: a node has to bring more than it costs at that price.
    price = 1.0
    if rate.cost:
        price = rate.written / rate.cost
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
    def limit(self) -> int:
        """The most nodes that a tree may have."""
        if self.size == "auto":
            return 2 ** (len(self.costs) - 1)
        return self.size

    @property
    def step_costs(self) -> np.ndarray:
        """What a step over 1, 2, ... nodes costs, linear between the given numbers, [limit]."""
        # Measured at powers of two, where passes change their speed; straight lines lie between.
        sizes = 2 ** np.arange(len(self.costs))
        return self.draft_cost + np.interp(np.arange(1, self.limit + 1), sizes, self.costs)


class RatedBuilder(SizedByCost):
    """One whose trees differ from step to step, so that the rate of the run decides."""

    @property
    def is_chain(self) -> bool:
        return self.limit <= 2 or getattr(self, "width", 2) == 1

    def start(self) -> Rate | None:
        if self.size == "auto":
            return Rate()
        return None

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
