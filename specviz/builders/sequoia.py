"""Sequoia's tree and the optimal tree: shapes planned from an acceptance vector P.

P[k] is the probability that the k-th child is accepted once its parent is. The product of P along a
node's path, summed over all nodes, is the expected number of tokens per pass.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import AfterValidator, Field

from ..base.codec import JsonObject, Probability
from ..config.run_config import RunConfig
from ..config.strategy import number
from ..record.running_acceptance import RunningAcceptance
from ..record.vectors import check_acceptance, find_acceptance, path_acceptance, stored
from ..sampling.distributions import Distributions
from ..sampling.randomness import Randomness
from ..tree import Growth, TokenTree, Topology
from ..verifiers.base import Verdict
from .base import Draft, max_depth, tree_size
from .plans import (
    best_tree,
    equal_levels,
    isotonic,
    levels_of,
    most_tokens,
    priority_queue_tree,
)
from .static import StaticBuilder, fill
from .worth import SizedByCost

DEEPEST = 16  # levels of a tree of which only the size is given
Acceptance = Annotated[
    tuple[Probability, ...] | tuple[tuple[Probability, ...], ...],
    AfterValidator(lambda value: check_acceptance(value, "")),
]
_reach = lru_cache(maxsize=64)(path_acceptance)  # a shape is planned once for many steps


class PlannedBuilder(StaticBuilder):
    """A static builder with an `acceptance`: "auto" (stored for pair, drafter, rule and
    temperature, "measured" where nothing is), "measured" (a stored one's first level at first, then
    following the run), or numbers."""

    key_title = "estimated acceptance probability"
    smooths: ClassVar[bool] = False  # whether its plan needs a vector that never rises
    small: ClassVar[JsonObject] = {"size": 4, "depth": 2, "width": 2, "acceptance": (0.5, 0.3)}
    size: int = tree_size(16)
    depth: int = max_depth(6)
    width: int = number(32, 1, 64, "Max branching", "Maximum number of children per node.")
    acceptance: Literal["auto", "measured"] | Acceptance = Field(
        "auto",
        title="Acceptance",
        description="The acceptance vector: auto (stored for this pair, drafter, rule and "
        "temperature; measured where none is), measured (follows the run), or numbers, one list "
        "for all levels or one per level.",
    )

    def plan(self, acceptance: tuple) -> Topology:
        """The shape for a vector."""
        raise NotImplementedError

    @classmethod
    def sized(cls, nodes: int) -> JsonObject:
        return {"size": nodes, "depth": DEEPEST}

    @property
    def is_chain(self) -> bool:
        # A bounded plan may have one child everywhere although it may have more.
        return self.size in (1, 2) or all(
            len(level) == 1 for level in levels_of(self.vector, self.depth, self.width)
        )

    @property
    def vector(self) -> tuple:
        """The vector before the first step."""
        if isinstance(self.acceptance, RunningAcceptance):
            return self.acceptance.vector
        if isinstance(self.acceptance, str):  # of a builder that no run has prepared
            return find_acceptance("sequoia", 1.0)
        return self.acceptance

    @property
    def shape(self) -> Topology:
        return self.plan(self.vector)

    def prepare(self, config: RunConfig, info: JsonObject) -> Self:
        if not isinstance(self.acceptance, str):
            return self
        drafter = config.drafter.name
        pair = info["name"]
        vector = find_acceptance(config.verifier.name, config.temperature, drafter, pair)
        # Another pair's or drafter's vector is only where learning begins.
        learns = self.acceptance == "measured" or not stored(drafter, pair)
        resolved = RunningAcceptance.begin(vector) if learns else vector
        # A copy without validation: a vector that learns is nothing that a user may pass.
        return self.model_copy(update={"acceptance": resolved})

    def start(self) -> RunningAcceptance | None:
        if isinstance(self.acceptance, RunningAcceptance):
            return self.acceptance
        return None

    def __call__(
        self,
        draft: Draft,
        rng: Randomness,
        tokens_left: int,
        state: RunningAcceptance | None,
    ) -> TokenTree:
        vector = state.vector if state else self.vector
        shape = self.plan(vector)
        # What the shape was planned by: shown as each node's key.
        chance = _reach(shape, vector)
        tree = fill(draft, shape, rng, tokens_left, keys=chance)
        tree.growth = Growth(
            acceptance=vector,
            smoothed=(self.smooths and isotonic(vector) != vector) or None,
            expected=sum(filter(None, tree.keys), 1.0),
            split=tuple(tree.topology.subtree_size.tolist()),
        )
        return tree

    def learn(
        self,
        state: RunningAcceptance | None,
        tree: TokenTree,
        verdict: Verdict,
        rows: Distributions | None = None,
    ) -> RunningAcceptance | None:
        return state and state.learn(tree.children, verdict.path)


class Sequoia(SizedByCost, PlannedBuilder):
    """The best tree of `size` nodes and `depth` levels for an acceptance vector, by dynamic
    programming.

    Source: Chen et al. 2024, section 3.1, algorithm 1; bounded depth and one vector per level:
        algorithm 4.

    Depth counts levels below the root; the paper's counts the root too: its size 64 and depth 12
    is `size=64, depth=11`. With size "auto" it is the tree with the most tokens per cost of a step.
    """

    name = "sequoia"
    title = "Sequoia"

    def plan(self, acceptance: tuple) -> Topology:
        size = self.size
        if size == "auto":
            return self.most_tokens_per_cost(acceptance)
        return best_tree(acceptance, size, self.depth, self.width)[0]

    def most_tokens_per_cost(self, acceptance: tuple) -> Topology:
        """The best tree of every size and depth that brings the most tokens per cost.

        Every step has this tree, so the rate of the run is that of one step.
        """
        best_rate = 0.0
        for depth in range(1, self.depth + 1):
            tokens = most_tokens(acceptance, self.limit, depth, self.width)
            rates = tokens / self.costs_with_drafting(depth)[: len(tokens)]
            if rates.max() > best_rate:
                best_rate = float(rates.max())
                size, levels = int(np.argmax(rates)) + 1, depth
        return best_tree(acceptance, size, levels, self.width)[0]

    def costs_with_drafting(self, depth: int) -> np.ndarray:
        """What a step costs with trees of 1, 2, ... nodes in at most `depth` levels, [limit].

        Each level is one draft pass; all but the first are taken to be equally wide.
        """
        nodes = np.arange(self.limit)  # without the root
        levels = np.minimum(depth, nodes)
        wide = np.maximum(1, nodes // depth)
        draft = self.table.draft[0] + (levels - 1) * self.pass_costs[wide - 1]
        return self.step_costs + np.where(nodes > 0, draft, 0.0)


class Optimal(PlannedBuilder):
    """The `size` - 1 nodes that are most likely to be accepted, by priority queue (Kobus and Gündüz
    2025, algorithm 3).

    This is optimal for acceptance vectors that never rise. For a vector that rises the shape is
    planned from the nearest one that does not; `smoothed` in the record of growth says so.
    """

    name = "optimal"
    title = "Optimal by priority queue"
    smooths = True

    def plan(self, acceptance: tuple) -> Topology:
        return priority_queue_tree(isotonic(acceptance), self.size, self.depth, self.width)


class EqualGrowth(PlannedBuilder):
    """The same number of new nodes in each of `depth` levels, (`size` - 1) / `depth`, those most
    likely to be accepted: every draft pass has one shape and can be a static graph (Yggdrasil,
    arXiv 2512.23858)."""

    name = "equal-growth"
    title = "Equal growth"
    smooths = True
    small: ClassVar[JsonObject] = PlannedBuilder.small | {"size": 5}

    @property
    def is_chain(self) -> bool:
        # With fewer than two nodes a level there is one, whatever the vector.
        return self.size - 1 < 2 * self.depth or super().is_chain

    def plan(self, acceptance: tuple) -> Topology:
        return equal_levels(isotonic(acceptance), self.size, self.depth, self.width)
