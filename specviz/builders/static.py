"""Static trees: a shape chosen before any token is drawn, filled level by level with one draft pass
per level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, groupby
from math import sqrt
from operator import mul
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from ..base.codec import JsonObject
from ..base.errors import ParameterError
from ..config.strategy import number
from ..sampling.distributions import Distributions
from ..sampling.randomness import Randomness
from ..tree import Growth, TokenTree, Topology
from ..verifiers.base import Verdict
from .base import MAX_NODES, Draft, State, TreeBuilder


class StaticBuilder(TreeBuilder):
    """A builder whose shape is fixed before any token is drawn."""

    @property
    def shape(self) -> Topology:
        """The shape of its trees, nodes breadth first."""
        raise NotImplementedError

    @property
    def is_chain(self) -> bool:
        # A second child anywhere has rank 1.
        return not self.shape.rank.any()

    def __call__(self, draft: Draft, rng: Randomness, tokens_left: int, state: State) -> TokenTree:
        return fill(draft, self.shape, rng, tokens_left)


def fill(
    draft: Draft,
    shape: Topology,
    rng: Randomness,
    tokens_left: int,
    keys: Sequence[float] | None = None,
) -> TokenTree:
    """Fill a shape with drawn tokens, breadth first.

    Levels deeper than `tokens_left` - 1 are left out, and so is what the vocabulary, or a sparse
    drafter, is too small for: this is decided before the tokens concerned are drawn.

    Args:
        draft, rng, tokens_left: as a builder is given them.
        shape: the tree, nodes breadth first.
        keys: what its nodes were chosen by, [n].
    """
    tree = draft.tree
    nodes = {0: 0}  # node of the shape -> node of the tree
    for level in inner_levels(shape)[: tokens_left - 1]:
        # A node that could not be drawn has no descendants either.
        spots = [spot for spot in level if spot in nodes]
        if not spots:
            break
        draft.expand([nodes[spot] for spot in spots])
        for spot in spots:
            node = nodes[spot]
            below = shape.children[spot]
            # How many are drawn follows from the row alone. If it followed from the tokens, a rule
            # would divide by the wrong chances.
            tokens = draft.draw_children(node, len(below), rng)
            # Fewer tokens than places where the row ran out: the last places stay empty.
            for child, token in zip(below, tokens, strict=False):
                nodes[child] = tree.add(node, token, keys[child] if keys else None)
    if tree.parents == list(shape.parents):
        tree.shape = shape  # with its cached properties
    return tree


@lru_cache(maxsize=64)
def inner_levels(shape: Topology) -> tuple[tuple[int, ...], ...]:
    """The nodes that have children, level by level from the root."""
    inner = [node for node in shape.breadth_first if shape.children[node]]
    return tuple(tuple(level) for _, level in groupby(inner, key=lambda node: shape.depth[node]))


def grow_shape(widths: Iterable[int]) -> Topology:
    """The full tree in which every node of level i has widths[i] children."""
    parents = [-1]
    level = range(1)
    for width in widths:
        for node in level:
            parents += [node] * width
        # The nodes that were just added, numbered on from the level before.
        level = range(level.stop, len(parents))
    return Topology(tuple(parents))


class LevelWidths(StaticBuilder):
    """A builder of full trees: every node of a level has the same number of children."""

    @property
    def level_widths(self) -> Sequence[int]:
        """How many children the nodes of each level have: chains of `depth` tokens, `width` of
        them, one by default."""
        # Alternatives at the root only, and each of them goes on as a chain.
        return [getattr(self, "width", 1)] + [1] * (getattr(self, "depth", 1) - 1)

    @property
    def is_paths(self) -> bool:
        return all(width == 1 for width in self.level_widths[1:])

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        if 1 + sum(accumulate(self.level_widths, mul)) > MAX_NODES:
            raise ParameterError(
                self.name, f"have at most {MAX_NODES} nodes", hint="Reduce its width or depth."
            )
        return self

    @cached_property
    def shape(self) -> Topology:
        return grow_shape(self.level_widths)


class Chain(LevelWidths):
    """A chain of `depth` tokens: speculative decoding as first published (Leviathan et al. 2023;
    Chen et al. 2023)."""

    name = "chain"
    title = "Chain"
    small: ClassVar[JsonObject] = {"depth": 2}
    depth: int = number(4, 1, 64, "Length", "Number of drafted tokens.")


class KAry(LevelWidths):
    """Every node has `width` children, `depth` levels (Medusa's Cartesian tree; Sequoia, section
    2.1)."""

    name = "k-ary"
    title = "k-ary"
    small: ClassVar[JsonObject] = {"width": 2, "depth": 2}
    width: int = number(2, 1, 32, "Branching", "Number of children per node.")
    depth: int = number(3, 1, 64, "Depth", "Number of levels below the root.")

    @property
    def level_widths(self) -> Sequence[int]:
        return [self.width] * self.depth


class Branching(LevelWidths):
    """Every node of level i has `widths[i]` children: SpecInfer's expansion (Miao et al. 2023,
    section 3)."""

    name = "branching"
    title = "Branching"
    small: ClassVar[JsonObject] = {"widths": (2, 1)}
    widths: tuple[Annotated[int, Field(ge=1, le=64)], ...] = Field(
        (3, 2, 1, 1),
        min_length=1,
        title="Children per level",
        description="Number of children per node of each level.",
    )

    @property
    def level_widths(self) -> Sequence[int]:
        return self.widths


class Batch(LevelWidths):
    """`width` alternatives for the next token, one draft pass (the "batch" of Kobus and Gündüz
    2025, section 2)."""

    name = "batch"
    title = "Batch"
    small: ClassVar[JsonObject] = {"width": 2}
    width: int = number(8, 1, 256, "Children", "Number of drafted alternatives for the next token.")


class KSequences(LevelWidths):
    """`width` chains of `depth` tokens that share only the root (Sequoia, section 2.1), as in
    SpecInfer and SpecTr.

    Equal first tokens stay separate nodes: merging them would drop tries that the rule relies on.
    """

    name = "k-sequences"
    title = "k sequences"
    small: ClassVar[JsonObject] = {"width": 2, "depth": 2}
    width: int = number(3, 1, 64, "Sequences", "Number of chains.")
    depth: int = number(4, 1, 64, "Length", "Number of tokens per chain.")

    @classmethod
    def sized(cls, nodes: int) -> JsonObject:
        # About as many sequences as each is long, a little longer than wide.
        depth = round(sqrt(nodes - 1)) + 1
        return {"width": max(1, (nodes - 1) // depth), "depth": depth}


class Heuristic(TreeBuilder):
    """A chain with adaptive length: two tokens more after a fully accepted draft, one fewer
    otherwise.

    This is the "heuristic" schedule of Hugging Face transformers, with SVIP's limit of 40 tokens
    (Zhang et al. 2024, section 3.1.1). The length is decided before anything is drawn.
    """

    name = "heuristic"
    title = "Heuristic chain"
    is_chain: ClassVar[bool] = True
    small: ClassVar[JsonObject] = {"depth": 2}
    depth: int = number(5, 1, 64, "Initial length", "Number of tokens of the first draft.")
    longest: int = number(40, 1, 64, "Max length", "Maximum number of drafted tokens.")

    def start(self) -> int:
        return min(self.depth, self.longest)

    def __call__(self, draft: Draft, rng: Randomness, tokens_left: int, state: int) -> TokenTree:
        tree = fill(draft, grow_shape([1] * state), rng, tokens_left)
        tree.growth = Growth(length=state)
        return tree

    def learn(
        self, state: int, tree: TokenTree, verdict: Verdict, rows: Distributions | None = None
    ) -> int:
        if len(tree) == 1:  # the text had no room for a draft
            return state
        if len(verdict.path) == len(tree) - 1:  # all of it was accepted
            return min(self.longest, state + 2)
        return max(1, state - 1)


class Plain(TreeBuilder):
    """Plain decoding: only the root, so every pass of the target writes one token."""

    name = "plain"
    title = "Plain decoding"
    is_chain: ClassVar[bool] = True
    reads_draft = False
    autoregressive = True

    def __call__(self, draft: Draft, rng: Randomness, tokens_left: int, state: object) -> TokenTree:
        return draft.tree
