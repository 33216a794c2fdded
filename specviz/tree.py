"""Token trees: the shape (`Topology`), the shape with its drafted tokens (`TokenTree`), and how it
grew (`Growth`).

Node 0 is the root: the last committed token. Every other node is a drafted token whose parent comes
before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field, model_validator

from .base.codec import MAX_ITEMS, JsonObject, Levels, Record, Text, Whole

TokenIds = Sequence[int]  # of a text
Nodes = Sequence[int]  # numbers of nodes of a tree


@dataclass(frozen=True)
class Topology:
    """The shape of a tree.

    Args:
        parents: index of each node's parent, [n]; `parents[0]` is -1 and `parents[i] < i` for every
            other node.

    >>> shape = Topology((-1, 0, 0, 1))
    >>> shape.children, shape.depth.tolist(), shape.path(3)
    (((1, 2), (3,), (), ()), [0, 1, 1, 2], (1, 3))
    """

    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.parents or self.parents[0] != -1:
            raise ValueError(
                f"parents must start with -1 (the root); got {list(self.parents[:5])}."
            )
        for node, parent in enumerate(self.parents[1:], 1):
            if not 0 <= parent < node:
                must = f"must be one of the nodes before it (0 to {node - 1})"
                raise ValueError(
                    f"parents[{node}] {must}; got {parent}. List parents before their children."
                )

    def __len__(self) -> int:
        return len(self.parents)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node in the order in which they were drawn."""
        children: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents[1:], 1):
            children[parent].append(node)
        return tuple(map(tuple, children))

    @cached_property
    def depth(self) -> np.ndarray:
        """The number of edges between the root and each node, int [n]."""
        depth = [0] * len(self.parents)
        for node, parent in enumerate(self.parents[1:], 1):
            # Parents come first, so a parent's depth is known here.
            depth[node] = depth[parent] + 1
        return np.array(depth)

    @cached_property
    def rank(self) -> np.ndarray:
        """The place of each node among its siblings, from 0, int [n]."""
        # Siblings in the order of drawing, in which rules try them.
        rank = np.zeros(len(self), int)
        for below in self.children:
            rank[list(below)] = range(len(below))
        return rank

    @cached_property
    def subtree_size(self) -> np.ndarray:
        """The number of nodes in the subtree of each node, itself included, int [n]."""
        size = [1] * len(self.parents)
        # From the last node up: every child is counted before its parent is added to its own.
        for node in range(len(self.parents) - 1, 0, -1):
            size[self.parents[node]] += size[node]
        return np.array(size)

    def path(self, node: int) -> tuple[int, ...]:
        """The nodes from below the root down to `node`, which is included; () for the root."""
        path = []
        while node > 0:
            path.append(node)
            node = self.parents[node]
        return tuple(reversed(path))

    @cached_property
    def breadth_first(self) -> tuple[int, ...]:
        """All nodes level by level."""
        return tuple(np.argsort(self.depth, kind="stable").tolist())

    @cached_property
    def heavy_path(self) -> tuple[int, ...]:
        """All nodes, each followed at once by its subtree, the child with the largest one first;
        ties as drawn."""
        size = self.subtree_size.tolist()
        # A path compares as the sizes of its subtrees, so a subtree stays together, the largest
        # first.
        keys = []
        for node in range(len(self)):
            keys.append([(-size[step], step) for step in self.path(node)])
        return tuple(sorted(range(len(self)), key=keys.__getitem__))


@dataclass(frozen=True)
class Chart(Record):
    """A few tokens and, under every name, a number for each of them: what is drawn as bars."""

    tokens: Annotated[tuple[Whole, ...], Field(max_length=64)]
    rows: Mapping[str, tuple[float, ...]]
    texts: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Chart:
        for column in (self.texts, *self.rows.values()):
            if len(column) != len(self.tokens):
                raise ValueError(
                    f"must have {len(self.tokens)} values in every row, one a token; got "
                    f"{len(column)}"
                )
        return self


@dataclass(frozen=True)
class Growth(Record):
    """How a tree grew; None if a builder does not record it.

    Args:
        length: how long a chain it chose.
        threshold: below which nothing was drawn.
        waiting: for each node after the root the best slots (parent, key) that were left waiting
            when it was taken.
        acceptance: the vector the shape was planned from; smoothed: whether it was made to fall
            first; expected: tokens per pass that were expected of it; split: the size of each
            node's subtree, [n].
        cost: of the step in steps of plain decoding, where it decided the size.
        candidates: how many nodes were ranked; cut: the best of those that were left out.
        guesses: how a drafter came to a node, node -> plain facts.
    """

    omit_empty: ClassVar[bool] = True
    length: Whole | None = None
    threshold: float | None = None
    waiting: tuple[tuple[tuple[Whole, float], ...], ...] | None = None
    acceptance: Levels | None = None
    smoothed: bool | None = None
    expected: float | None = None
    cost: float | None = None
    split: Annotated[tuple[Whole, ...], Field(max_length=MAX_ITEMS)] | None = None
    candidates: Whole | None = None
    cut: Chart | None = None
    guesses: Mapping[int, JsonObject] = field(default_factory=dict)


class TokenTree:
    """A tree of drafted tokens, grown node by node by a builder and then read by the target and a
    verifier.

    Args:
        root, start: the last committed token, and its absolute position in the text.
        scheme: how the children of a node are drawn from the draft's row: "iid", "distinct", "top",
            "top-draw" or "race".

    Attributes:
        parents, tokens, keys: of each node, [n]; the key is the number it was chosen by, or None.
        draft_distributions: the draft's probabilities after a node, node -> float64 [V], where it
            was asked for.
        growth: what the builder wants shown about it.
        probes: nodes that only ask the target what follows them; no rule compares or accepts them.
        origin: node -> the same node in the tree that the draft read, where a builder re-ranked;
            None elsewhere.
        pass_order: all nodes, parents first, as the target is to read them in its pass; None as
            they were drawn.

    >>> tree = TokenTree(root=5)
    >>> child = tree.add(0, token=7)
    >>> tree.add(child, token=8), tree.parents, tree.tokens
    (2, [-1, 0, 1], [5, 7, 8])
    """

    def __init__(self, root: int, start: int = 0, scheme: str = "iid") -> None:
        self.parents: list[int] = [-1]
        self.tokens: list[int] = [int(root)]
        self.depths: list[int] = [0]
        self.keys: list[float | None] = [None]
        self.draft_distributions: dict[int, np.ndarray] = {}
        self.start = start
        self.scheme = scheme
        self.growth = Growth()
        self.probes = list[int]()
        self.origin: dict[int, int] | None = None
        self.pass_order: Sequence[int] | None = None
        self.shape: Topology | None = None  # the latest `topology`

    def __len__(self) -> int:
        return len(self.parents)

    def add(self, parent: int, token: int, key: float | None = None) -> int:
        """Add a drafted `token` below `parent`, chosen by its `key`, and return the new node's
        index."""
        # One entry in each column: a node is its place in all of them.
        self.parents.append(parent)
        self.tokens.append(int(token))
        self.depths.append(self.depths[parent] + 1)
        self.keys.append(key)
        return len(self.parents) - 1

    @property
    def topology(self) -> Topology:
        """The shape grown so far."""
        # Only grown trees change, and only in length, so the length says whether the shape is of
        # today.
        if self.shape is None or len(self.shape) != len(self.parents):
            self.shape = Topology(tuple(self.parents))
        return self.shape

    @property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node that a rule may try, in drawing order: all of them but
        probes."""
        if not self.probes:
            return self.topology.children
        # A rule must not see probes: it would accept tokens that nobody drafted.
        probes = set(self.probes)
        children = []
        for below in self.topology.children:
            children.append(tuple(child for child in below if child not in probes))
        return tuple(children)

    def path_tokens(self, node: int) -> tuple[int, ...]:
        """The tokens from below the root down to `node`; () for the root."""
        tokens = []
        while node > 0:
            tokens.append(self.tokens[node])
            node = self.parents[node]
        return tuple(reversed(tokens))

    def next_position(self, node: int) -> int:
        """The absolute position in the text of the token that would follow `node`."""
        return self.start + self.depths[node] + 1
