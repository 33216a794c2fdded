"""Shapes planned from an acceptance vector: the source of the vector, and its updates during a run."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from ..acceptance.vectors import RunningAcceptance, check_acceptance, find_acceptance, reach
from ..tree import Topology
from .filling import StaticBuilder, fill

DEEPEST = 16  # levels of a tree of which only the size is given
Probability = Annotated[float, Field(ge=0, le=1)]
Acceptance = Annotated[
    tuple[Probability, ...] | tuple[tuple[Probability, ...], ...],
    AfterValidator(lambda value: check_acceptance(value, "")),
]
_reach = lru_cache(maxsize=64)(reach)  # a shape is planned once for many steps


class PlannedBuilder(StaticBuilder):
    """A static builder with an `acceptance`: "auto" (stored for pair, drafter, rule and temperature), "measured" (auto
    at first, then following the run), or numbers."""

    key_title: ClassVar[str] = "estimated acceptance probability"
    small: ClassVar[dict[str, Any]] = {"size": 4, "depth": 2, "width": 2, "acceptance": (0.5, 0.3)}
    size: int = Field(16, ge=1, le=1024, title="Tree size (nodes)", description="Number of nodes, including the root.")
    depth: int = Field(6, ge=1, le=64, title="Max depth", description="Maximum number of levels below the root.")
    width: int = Field(32, ge=1, le=64, title="Max branching", description="Maximum number of children per node.")
    acceptance: Literal["auto", "measured"] | Acceptance = Field(
        "auto",
        title="Acceptance",
        description="The acceptance vector: auto (stored for this drafter, rule and temperature), measured (follows "
        "the run), or numbers, one list for all levels or one per level.",
    )

    def plan(self, acceptance: tuple) -> Topology:
        """The shape for a vector."""
        raise NotImplementedError

    @classmethod
    def sized(cls, nodes):
        return {"size": nodes, "depth": DEEPEST}

    @property
    def is_chain(self) -> bool:
        levels = self.vector if isinstance(self.vector[0], tuple) else (self.vector,)
        return self.width == 1 or self.size <= 2 or all(len(level) == 1 for level in levels)

    @property
    def vector(self) -> tuple:
        """The vector before the first step."""
        if isinstance(self.acceptance, RunningAcceptance):
            return self.acceptance.vector
        return find_acceptance("sequoia", 1.0) if isinstance(self.acceptance, str) else self.acceptance

    @property
    def shape(self) -> Topology:
        return self.plan(self.vector)

    def prepare(self, verifier, temperature, drafter, pair):
        if not isinstance(self.acceptance, str):
            return self
        stored = find_acceptance(verifier.name, temperature, drafter, pair)
        resolved = RunningAcceptance.begin(stored) if self.acceptance == "measured" else stored
        return self.model_copy(update={"acceptance": resolved})

    def start(self):
        return self.acceptance if isinstance(self.acceptance, RunningAcceptance) else None

    def __call__(self, draft, rng, scheme, tokens_left, state):
        vector = self.vector if state is None else state.vector
        shape = self.plan(vector)
        chance = _reach(shape, vector)
        tree = fill(draft, shape, scheme, rng, tokens_left, keys=chance)
        tree.grew(acceptance=vector, expected=sum(chance), split=tuple(tree.topology.weight.tolist()))
        return tree

    def learn(self, state, tree, verdict, rows=None):
        return None if state is None else state.learn(tree.children, verdict.path)
