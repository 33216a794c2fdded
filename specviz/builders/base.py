"""The contract of tree builders, and the draft as they see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self, TypeAlias

import numpy as np

from ..base.codec import JsonObject
from ..config.run_config import RunConfig
from ..config.strategy import SCHEMES, Strategy, number
from ..sampling.children import draw_children
from ..sampling.distributions import Distributions, Sampling
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from ..verifiers.base import Verdict

MAX_NODES = 1024
# What one step leaves to the next. Each builder has its own type, which nobody else looks into; a
# type variable would make pydantic build another class for every builder.
State: TypeAlias = Any


def tree_size(default: int) -> int:
    """The field of a parameter `size`."""
    description = "Maximum number of nodes, including the root."
    return number(default, 1, MAX_NODES, "Tree size (nodes)", description)


def max_depth(default: int) -> int:
    """The field of a parameter `depth` that bounds the levels of a tree."""
    return number(default, 1, 64, "Max depth", "Maximum number of levels below the root.")


class DraftSource(Protocol):
    """What a `Draft` reads rows from: a drafter's session."""

    passes: int

    def expand(self, tree: TokenTree, nodes: Sequence[int], sampling: Sampling) -> list[np.ndarray]:
        """Rows after nodes of a tree, in one pass."""

    def certainty_row(self, node: int, q: np.ndarray) -> np.ndarray:
        """The row that shows how certain the drafter is."""


@dataclass(eq=False)
class Draft:
    """The draft during one step, as a builder sees it: it grows one tree.

    Args:
        source: the drafter's session; None without a drafter.
        tree: a fresh tree with only its root.
        context: the committed token ids.
        sampling: how the drafter's rows are post-processed.
        clock: the time in seconds.
        sparse: whether no child should be drawn beyond the tokens with mass.
        passes, seconds: of a model that the tree took so far.
        widths: how many nodes each `expand` read.
    """

    source: DraftSource | None
    tree: TokenTree
    context: Sequence[int]
    sampling: Sampling
    clock: Callable[[], float] = float  # float() is 0.0: by default no time is read
    sparse: bool = False
    passes: int = 0
    seconds: float = 0.0
    widths: list[int] = field(default_factory=list)

    def expand(self, nodes: Sequence[int]) -> list[np.ndarray]:
        """The rows, float64 [V], after `nodes` of `tree`, in one pass; also stored in
        `tree.draft_distributions`.

        A row of zeros means that the drafter has no prediction after a node, which stays a leaf.
        """
        assert self.source is not None  # or the builder needs no drafter
        start = self.clock()
        passes = self.source.passes
        rows = self.source.expand(self.tree, nodes, self.sampling)
        self.passes += self.source.passes - passes
        self.seconds += self.clock() - start
        self.widths.append(len(nodes))
        self.tree.draft_distributions.update(zip(nodes, rows, strict=True))
        return rows

    def draw_children(self, node: int, count: int, rng: Randomness) -> list[int]:
        """Tokens for up to `count` children of an expanded `node`, drawn by the tree's scheme."""
        tree = self.tree
        q = tree.draft_distributions[node]
        position = tree.next_position(node)
        return draw_children(q, count, tree.scheme, rng, position, self.sparse)

    def certainty_row(self, node: int, q: np.ndarray) -> np.ndarray:
        """The row, [V], that shows how certain the drafter is after an expanded `node`: its row
        `q`, and at temperature 0, where every row looks certain, the one at temperature 1 if that
        is known."""
        assert self.source is not None
        return self.source.certainty_row(node, q)


class TreeBuilder(Strategy):
    """A method to draft a tree. The fields of a subclass are its parameters.

    >>> class Single(TreeBuilder):
    ...     name, title = "single", "Single"
    ...     def __call__(self, draft, rng, tokens_left, state):
    ...         if tokens_left > 1:
    ...             draft.tree.add(0, rng.draw(draft.expand([0])[0]))
    ...         return draft.tree
    >>> trace = specviz.run(specviz.toy_pair(), specviz.RunConfig("ab", Single(), max_new_tokens=8))
    >>> max(step.drafted for step in trace.steps)
    1
    """

    kind: ClassVar[str] = "builder"
    schemes: ClassVar[tuple[str, ...]] = tuple(SCHEMES)  # how its trees can be filled, best first
    reads_draft: ClassVar[bool] = True  # whether it needs a draft model
    # Whether it tries no tokens to which the draft gives no mass.
    stops_at_support: ClassVar[bool] = False
    autoregressive: ClassVar[bool] = False  # whether it drafts nothing, for plain decoding
    key_title: ClassVar[str] = "key"  # what the number is that its nodes are chosen by
    # Parameters to enumerate: a depth of two and, but for chains, a branch.
    small: ClassVar[JsonObject] = {}

    @classmethod
    def proof_instance(cls) -> Self:
        """The builder with its `small` parameters, as proofs take it."""
        return cls(**cls.small)

    @classmethod
    def sized(cls, nodes: int) -> JsonObject:
        """Parameters that give its trees about `nodes` nodes, the root included (`ValueError` if
        there are none)."""
        if "size" in cls.model_fields:
            return {"size": nodes}
        # A chain or a batch: all nodes but the root are its only dimension.
        names = {"depth", "width"} & cls.model_fields.keys()
        if len(names) == 1:
            return {names.pop(): nodes - 1}
        raise ValueError(f"{cls.title} has no tree size; omit sizes and set its parameters.")

    @property
    def is_chain(self) -> bool:
        """Whether no node of its trees has more than one child."""
        return False

    @property
    def is_paths(self) -> bool:
        """Whether its trees are equally long chains that share only the root."""
        return self.is_chain

    def prepare(self, config: RunConfig, info: JsonObject) -> Self:
        """The builder for this run, with every parameter that says "auto" resolved.

        Args:
            config: the run.
            info: what its pair says about itself, its "name" say.
        """
        return self

    def start(self) -> State:
        """The state before the first step, a plain value that is passed on and never kept."""
        return None

    def __call__(self, draft: Draft, rng: Randomness, tokens_left: int, state: State) -> TokenTree:
        """Grow `draft.tree` and return the tree, only its root where nothing is drafted.

        Args:
            draft: the draft during this step; `draft.tree.scheme` says how children are drawn.
            rng: where chance comes from.
            tokens_left: how many tokens the text may still grow by, at least 1; nodes deeper than
                one less are useless.
            state: what earlier steps left.
        """
        raise NotImplementedError

    def learn(
        self, state: State, tree: TokenTree, verdict: Verdict, rows: Distributions | None = None
    ) -> State:
        """The state for the next step, a new value.

        Args:
            state, tree, verdict: what this step began with, what was tried, and what was decided.
            rows: the target's distributions for the tree; None without a target.
        """
        return state
