"""Static trees: a shape chosen before any token is drawn, filled level by level with one draft pass per level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..drafters.base import Draft
from ..randomness import Randomness
from ..sampling import children_of, draw_children
from ..tree import TokenTree, Topology
from .base import TreeBuilder


@dataclass(frozen=True)
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
    tree = draft.tree
    level = [(0, 0)]  # (node of the shape, node of the tree)
    for _ in range(tokens_left - 1):
        level = [(spot, node) for spot, node in level if shape.children[spot]]
        if not level:
            break
        rows = draft.expand([node for _, node in level])
        grown = []
        for (spot, node), q in zip(level, rows, strict=True):
            spots = shape.children[spot]
            count = children_of(q, len(spots), draft.sparse)
            tokens = draw_children(q, count, scheme, rng, tree.position(node))
            for child, token in zip(spots, tokens, strict=False):
                grown.append((child, tree.add(node, token, None if keys is None else keys[child])))
        level = grown
    if tree.parents == list(shape.parents):
        tree.topology = shape  # with all that was found out about it at earlier steps
    return tree


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
