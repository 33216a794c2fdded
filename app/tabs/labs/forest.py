"""The trees of the lab: every builder fitted to the sizes that a visitor chose, as plain data. No model."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from statistics import fmean, stdev
from typing import Any, NamedTuple

from specviz import BUILDERS
from specviz.acceptance.vectors import reach
from specviz.builders.base import TreeBuilder
from specviz.builders.filling import StaticBuilder
from specviz.randomness import Seeded
from specviz.tree import Topology

from .synthetic import Grown, grow

POSITIONS = 64  # positions that a dynamic builder is tried on, fewer where its trees are large
NODES = 2048  # nodes that it may draft in all, and at least LEAST positions
LEAST = 4
NO_SHAPE = "It has no shape without a text: its draft is copied from the text, not given by the vector."
OVER = "It exceeds the tree size: its children per level are set separately."


class Sizes(NamedTuple):
    """The chosen sizes: tree size in nodes with the root, levels below it, width, children of a planned node, children
    of "branching" per level, and how far the synthetic distributions differ and which of them are drawn."""

    nodes: int = 64
    levels: int = 12
    width: int = 3
    children: int = 32
    branching: tuple[int, ...] = (3, 2, 1, 1)
    spread: float = 0.5
    seed: int = 0


class Tree(NamedTuple):
    """One tree to look at.

    Args:
        name, title: of the tree, the name unique among those shown together.
        kind: "static", "synthetic" (drawn on synthetic distributions) or "none" (there is no shape).
        settings: its parameters in words.
        shape: the tree; None where there is none.
        chance: each node's chance to be accepted, [n].
        tokens, error: expected tokens per pass and their standard error (0 where they are a closed form).
        passes: draft passes, a mean where the tree is one of several.
        note: a further sentence, or "".
    """

    name: str
    title: str
    kind: str
    settings: str
    shape: Topology | None = None
    chance: tuple[float, ...] = ()
    tokens: float = 0.0
    error: float = 0.0
    passes: float = 0.0
    note: str = ""


@lru_cache(maxsize=32)
def every_builder(vector: tuple[float, ...], sizes: Sizes) -> tuple[Tree, ...]:
    """The tree of each builder of the menu."""
    return tuple(tree_of(name, vector, sizes) for name, builder in BUILDERS.items() if not builder.alone)


def tree_of(name: str, vector: tuple[float, ...], sizes: Sizes) -> Tree:
    """The tree of one builder, fitted to the sizes."""
    cls = BUILDERS[name]
    if not cls.reads_draft:
        return Tree(name, cls.title, "none", "", note=NO_SHAPE)
    builder = fitted(cls, vector, sizes)
    if not isinstance(builder, StaticBuilder):
        return dynamic(name, builder, vector, sizes)
    over = len(builder.shape) > sizes.nodes
    return static(name, cls.title, builder, vector, OVER if over else "")


def static(name: str, title: str, builder: StaticBuilder, vector: tuple[float, ...], note: str = "") -> Tree:
    """The tree of a builder with a static shape; its expected tokens are a closed form."""
    return shaped(name, title, builder.shape, vector, in_words(builder), note)


def shaped(
    name: str, title: str, shape: Topology, vector: tuple[float, ...], settings: str = "", note: str = ""
) -> Tree:
    """A shape as a tree to look at; it is drafted level by level."""
    chance = tuple(reach(shape, vector))
    return Tree(name, title, "static", settings, shape, chance, sum(chance), 0.0, float(shape.depth.max()), note)


def dynamic(name: str, builder: TreeBuilder, vector: tuple[float, ...], sizes: Sizes) -> Tree:
    """The tree at some synthetic positions: the one with median expected tokens, and the means over all of them."""
    grown = list(_enough(grow(builder, vector, sizes.spread, POSITIONS, Seeded(sizes.seed))))
    tokens = [tree.tokens for tree in grown]
    shown = sorted(grown, key=lambda tree: tree.tokens)[len(grown) // 2]
    nodes = fmean(len(tree.shape) for tree in grown)
    return Tree(
        name, builder.title, "synthetic", in_words(builder), shown.shape, shown.chance, fmean(tokens),
        stdev(tokens) / len(tokens) ** 0.5, fmean(tree.passes for tree in grown),
        f"The median of {len(grown)} synthetic positions, {nodes:.1f} nodes on average; tokens and passes are "
        "means.",
    )  # fmt: skip


def _enough(trees: Iterator[Grown]) -> Iterator[Grown]:
    nodes = 0
    for count, tree in enumerate(trees, 1):
        yield tree
        nodes += len(tree.shape)
        if nodes >= NODES and count >= LEAST:
            return


def fitted(cls: type[TreeBuilder], vector: tuple[float, ...], sizes: Sizes) -> TreeBuilder:
    """A builder whose trees have at most so many nodes and levels, its other parameters as the visitor chose them.

    Only the names of the parameters are known here, so a new builder is fitted as well.
    """
    known = cls.parameter_schema()
    drafted = sizes.nodes - 1
    values: dict[str, Any] = {
        "size": sizes.nodes,
        "depth": min(sizes.levels, drafted),
        "longest": min(sizes.levels, drafted),
        "width": min(sizes.children if "acceptance" in known else sizes.width, drafted),
        "widths": sizes.branching,
        "acceptance": vector,
    }
    if not {"size", "depth"} & set(known):
        values["width"] = drafted
    given = {name: _within(known[name], value) for name, value in values.items() if name in known}
    if "threshold" in known:
        return _lowest_threshold(cls, given, vector, sizes)
    if "size" in known or "depth" not in known:
        return cls(**given)
    return next(filter(None, (_small(cls, given | {"depth": d}, sizes) for d in range(given["depth"], 0, -1))))


def _within(schema: Any, value: Any) -> Any:
    return min(value, schema["maximum"]) if schema.get("type") == "integer" else value


def _small(cls: type[TreeBuilder], given: dict[str, Any], sizes: Sizes) -> TreeBuilder | None:
    """The builder, unless its trees have too many nodes."""
    try:
        builder = cls(**given)
    except ValueError:  # more than any builder makes
        return None
    return None if isinstance(builder, StaticBuilder) and len(builder.shape) > sizes.nodes else builder


def _lowest_threshold(cls: type[TreeBuilder], given: dict[str, Any], vector: tuple, sizes: Sizes) -> TreeBuilder:
    """Halved for as long as the tree at a position like the vector is not cut at its most nodes."""
    chosen = cls(**given | {"threshold": 0.5})
    for halvings in range(2, 13):
        lower = cls(**given | {"threshold": 0.5**halvings})
        (tree,) = grow(lower, vector, 0.0, 1, Seeded(0))
        if len(tree.shape) >= sizes.nodes:
            break
        chosen = lower
    return chosen


def in_words(builder: TreeBuilder) -> str:
    """The parameters of a builder: "nodes 32, levels 8"."""
    words = []
    for name, value in builder.parameters.items():
        schema = builder.parameter_schema()[name]
        if schema.get("type") == "array":
            words.append(f"{schema['title'].lower()} {', '.join(map(str, value))}")
        elif schema.get("type") in ("integer", "number"):
            words.append(f"{schema['title'].lower()} {value:.4g}")
    return ", ".join(words)
