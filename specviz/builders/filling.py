"""Static trees: a shape chosen before any token is drawn, filled level by level with one draft pass per level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby

from ..drafters.base import Draft
from ..randomness import Randomness
from ..sampling import children_of, draw_children
from ..tree import TokenTree, Topology
from .base import TreeBuilder


class StaticBuilder(TreeBuilder):
    """A builder whose shape is fixed before any token is drawn."""

    @property
    def shape(self) -> Topology:
        """The shape of its trees, nodes breadth first."""
        raise NotImplementedError

    @property
    def is_chain(self) -> bool:
        return not self.shape.rank.any()

    def __call__(self, draft, rng, scheme, tokens_left, state):
        return fill(draft, self.shape, scheme, rng, tokens_left)


def fill(
    draft: Draft, shape: Topology, scheme: str, rng: Randomness, tokens_left: int, keys: Sequence[float] | None = None
) -> TokenTree:
    """Fill a shape with drawn tokens, breadth first.

    Levels deeper than `tokens_left` - 1 are left out, and so is what the vocabulary, or a drafter that has seen few
    tokens, is too small for (the children after the last drawn one, with everything below them): all of this is decided
    before the tokens concerned are drawn.

    Args:
        draft, scheme, rng, tokens_left: as a builder is given them.
        shape: the tree, nodes breadth first.
        keys: what its nodes were chosen by, [n].
    """
    tree, nodes = draft.tree, {0: 0}  # node of the shape -> node of the tree
    tree.plan = shape
    for level in inner_levels(shape)[: tokens_left - 1]:
        spots = [spot for spot in level if spot in nodes]
        if not spots:
            break
        rows = draft.expand([nodes[spot] for spot in spots])
        for spot, q in zip(spots, rows, strict=True):
            node, below = nodes[spot], shape.children[spot]
            count = children_of(q, len(below), draft.sparse)
            tokens = draw_children(q, count, scheme, rng, tree.position(node))
            for child, token in zip(below, tokens, strict=False):
                nodes[child] = tree.add(node, token, None if keys is None else keys[child])
            if len(tokens) < len(below):
                tree.plan = None
    if tree.parents == list(shape.parents):
        tree.topology = shape  # with all that was found out about it at earlier steps
    return tree


@lru_cache(maxsize=64)
def inner_levels(shape: Topology) -> tuple[tuple[int, ...], ...]:
    """The nodes that have children, level by level from the root."""
    inner = [node for node in shape.breadth_first if shape.children[node]]
    return tuple(tuple(level) for _, level in groupby(inner, key=lambda node: shape.depth[node]))


def grow_shape(widths: Iterable[int]) -> Topology:
    """The full tree in which every node of level i has widths[i] children.

    Args:
        widths: one number a level, from the root's children downwards.

    >>> grow_shape([2, 1]).parents
    (-1, 0, 0, 1, 2)
    """
    parents, level = [-1], [0]
    for width in widths:
        grown: list[int] = []
        for node in level:
            grown += range(len(parents), len(parents) + width)
            parents += [node] * width
        level = grown
    return Topology(tuple(parents))
