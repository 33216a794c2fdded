"""DySpec's trees: the positions most likely to be reached are filled (Xiong et al. 2024, equations
8 to 11).

A position's key is the probability that a verifier gets there: q along the path, times the mass
that the siblings before it left over. It is taken off the heap before its token is known, so no
drawn token is dropped for its value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush, nsmallest
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from ..base.codec import JsonObject
from ..config.strategy import number
from ..sampling.children import iter_children
from ..sampling.distributions import Distributions
from ..sampling.randomness import Randomness
from ..tree import Growth, TokenTree
from ..verifiers.base import Verdict
from .base import Draft, TreeBuilder, max_depth, tree_size
from .worth import Rate, RatedBuilder, is_worth

WAITING = 3  # how many of the waiting slots are recorded at each choice
LOW = 1e-5  # of a threshold
HIGH = 0.999
GAIN = 0.5  # the next threshold is multiplied by (nodes / wanted nodes) to this power
RISE = 1.25  # by how much the threshold rises after a tree that was cut


@dataclass
class Remainder:
    """What is left to draw after a node that the draft has read.

    Attributes:
        tokens: those of its children, drawn one by one.
        row: the draft's row without the tokens that were drawn, [V].
        mass, squares: the sums of the row and of its squares.
    """

    tokens: Iterator[int]
    row: np.ndarray
    mass: float
    squares: float


class SlotHeap:
    """The slots where a token could be drawn, the most likely one first; at most one slot a parent
    at any time."""

    def __init__(self, draft: Draft, rng: Randomness, agreement: float = 1.0) -> None:
        self.draft = draft
        self.tree = draft.tree
        self.rng = rng
        self.agreement = agreement  # how much of what the draft promises is accepted
        self.left: dict[int, Remainder] = {}  # of the nodes that were read
        self.slots: list[tuple[float, int]] = []  # minus the key, and the parent
        self.path_prob = [1.0]
        self.waiting: list[tuple[tuple[int, float], ...]] = []

    def add(self, parent: int, key: float) -> None:
        """Add a slot below a parent."""
        heappush(self.slots, (-key, parent))

    def chance(self, parent: int) -> float:
        """The chance that the token of a parent's slot is accepted, before it is drawn; an upper
        bound while the parent is unread."""
        chance = self.path_prob[parent] * self.agreement
        left = self.left.get(parent)
        if left and left.mass:
            # The draft's probability of the token that it will draw, in expectation.
            chance *= left.squares / left.mass
        return chance

    def heaviest(self) -> float:
        """The chance of the slot whose token is most likely to be accepted."""
        return max(self.chance(parent) for _, parent in self.slots)

    def read(self, nodes: list[int]) -> None:
        """Have the draft read nodes, in one pass."""
        for node, q in zip(nodes, self.draft.expand(nodes), strict=True):
            position = self.tree.next_position(node)
            tokens = iter_children(q, self.tree.scheme, self.rng, position)
            squares = float(np.square(q).sum())
            self.left[node] = Remainder(tokens, q.copy(), float(q.sum()), squares)

    def fill(self, threshold: float = 0.0) -> int | None:
        """Draw the token of the best slot; the slot after it is added if its key is above a
        threshold.

        Its node is returned, None where the drafter has nothing to say there.
        """
        minus_key, parent = heappop(self.slots)
        left = self.left[parent]
        if not left.row.any():
            return None
        # Recorded before the token is drawn: it may not decide anything about its own slot.
        self.waiting.append(
            tuple((other, -minus) for minus, other in nsmallest(WAITING, self.slots))
        )
        token = next(left.tokens)
        node = self.tree.add(parent, token, -minus_key)
        self.path_prob.append(
            self.path_prob[parent]
            * self.agreement
            * float(self.tree.draft_distributions[parent][token])
        )
        # Of some 50,000 numbers only one changes, but the mass has to end at exactly 0.
        left.squares = max(0.0, left.squares - float(left.row[token]) ** 2)
        left.row[token] = 0.0
        left.mass = float(left.row.sum())
        # The next sibling is tried where this token and its elders are rejected.
        key = self.path_prob[parent] * left.mass
        if key > threshold:
            self.add(parent, key)
        return node

    def finish(
        self, reorder: bool, threshold: float | None = None, cost: float | None = None
    ) -> TokenTree:
        """The tree with a record of how it grew, in the order in which the target is to read it."""
        self.tree.growth = Growth(waiting=tuple(self.waiting), threshold=threshold, cost=cost)
        self.tree.pass_order = self.tree.topology.heavy_path if reorder else None
        return self.tree


class SlotBuilder(TreeBuilder):
    """A builder that fills slots in the order of their keys."""

    key_title = "probability to be reached"
    schemes = ("distinct", "top", "race")
    stops_at_support = True


REORDER = Field(
    True,
    title="Heavy paths first",
    description="Order of the nodes in the target's pass: largest subtrees first, or as drawn.",
)


class DySpec(RatedBuilder, SlotBuilder):
    """The `size` - 1 slots of largest key, one after the other (algorithm 1).

    The draft reads a node once its first child is due, and with it the nodes whose turn is likely
    to come next. With size "auto" it stops where no slot is worth its cost: their chances are
    known before the tokens are drawn, so the stop depends on no token that is dropped.
    """

    name = "dyspec"
    title = "DySpec"
    small: ClassVar[JsonObject] = {"size": 4, "depth": 2}
    depth: int = max_depth(16)
    batch: int = number(
        8, 1, 64, "Nodes per draft pass", "The required node and the most likely next ones."
    )
    reorder: bool = REORDER

    def __call__(
        self, draft: Draft, rng: Randomness, tokens_left: int, state: Rate | None
    ) -> TokenTree:
        agreement = state.agreement if state else 1.0
        heap = SlotHeap(draft, rng, agreement)
        tree = draft.tree
        deepest = min(self.depth, tokens_left - 1)
        if deepest:
            heap.add(0, 1.0)
        costs = self.step_costs
        while heap.slots and len(tree) < self.limit:
            # Looked at, not taken: whether to go on is decided before a token is drawn.
            _, parent = heap.slots[0]
            if state and not is_worth(heap.heaviest(), len(tree), costs, self.price(state)):
                break
            if parent not in heap.left:
                # The others are never filled, so not read either.
                best = nsmallest(self.limit - len(tree), heap.slots)
                waiting = [node for _, node in best if node not in heap.left]
                unread = self.worth_reading(tree, waiting, heap.path_prob, state)[: self.batch]
                if parent not in unread:
                    break
                heap.read(unread)
            node = heap.fill()
            if node is not None and tree.depths[node] < deepest:
                heap.add(node, heap.path_prob[node])
        cost = None if state is None else self.step_cost(tree, draft.widths)
        return heap.finish(self.reorder, cost=cost)


class DySpecThreshold(SlotBuilder):
    """Level by level, every slot whose key is above a threshold (algorithm 2): one draft pass per
    level.

    With "auto" the threshold begins at 1 / size and follows the sizes of past trees; the source
    leaves that open (section 4.4). Where a level would overflow, slots are cut by their keys,
    before their tokens are drawn.
    """

    name = "dyspec-threshold"
    title = "DySpec by threshold"
    small: ClassVar[JsonObject] = {"size": 4, "depth": 2, "threshold": 0.2}
    threshold: Literal["auto"] | Annotated[float, Field(ge=LOW, le=HIGH)] = Field(
        "auto",
        title="Threshold",
        description="Fill every slot with a higher probability to be reached: auto (about 1 / tree "
        "size, adapted to "
        "the sizes of past trees), or a number.",
    )
    size: int = tree_size(32)
    depth: int = max_depth(8)
    reorder: bool = REORDER

    @property
    def is_chain(self) -> bool:
        return self.size <= 2

    def start(self) -> float | None:
        if self.threshold == "auto":
            return max(LOW, min(0.5, 1 / self.size))
        return None

    def __call__(
        self, draft: Draft, rng: Randomness, tokens_left: int, state: float | None
    ) -> TokenTree:
        heap = SlotHeap(draft, rng)
        tree = draft.tree
        level = [0]
        threshold = float(self.threshold if state is None else state)
        for _ in range(min(self.depth, tokens_left - 1)):
            if not level or len(tree) >= self.size:
                break
            heap.read(level)
            heap.slots = []  # what the level before left over is not deep enough
            for node in level:
                heap.add(node, heap.path_prob[node])
            level = []
            # Best first, so that it is the smallest keys for which no room is left.
            while heap.slots and len(tree) < self.size:
                filled = heap.fill(threshold)
                if filled is not None and heap.path_prob[filled] > threshold:
                    level.append(filled)
        return heap.finish(self.reorder, threshold=threshold)

    def learn(
        self,
        state: float | None,
        tree: TokenTree,
        verdict: Verdict,
        rows: Distributions | None = None,
    ) -> float | None:
        if state is None or len(tree) == 1:
            return state  # a number was given, or the text had no room for a tree
        # A full tree was cut off, so the threshold was too low; by how much is not known.
        change = RISE
        if len(tree) < self.size:
            change = ((len(tree) - 1) / max(1, self.size - 1)) ** GAIN
        return max(LOW, min(0.5, state * change))
