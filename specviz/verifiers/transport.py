"""Optimal transport for children that are the draft's k - 1 most probable tokens and one draw.

F are the most probable tokens, y is the draw from q' = norm(q without F). Every child gets a share
of the node's weight, and no other shares accept more: y gets min(1, weight p / q'), and F what the
draw leaves, in proportion to p. `GreedyDraft` decides from the root down, `Transport` from the
leaves up.
"""

from __future__ import annotations

from typing import ClassVar

from ..sampling.children import without
from ..sampling.distributions import excess
from .decisions import carry, ratio
from .frames import LeavesFirst, Selection, SelectionRule, TopDown


class TransportSelection(Selection):
    """The optimal shares of a node's weight (Hu et al. 2025 with weight 1; any weight by the frame
    of Weng et al. 2026, reconstructed here from its abstract)."""

    def __post_init__(self) -> None:
        *top, drawn = self.tokens
        p = self.weight * self.p
        draft = without(self.q, top)
        # The drawn child is compared with the chance of its draw, as by speculative sampling.
        drawn_share = ratio(p[drawn], draft[drawn])
        excess_row, mass = excess(p, draft)
        if top:
            excess_row[top] = 0.0
            mass = float(excess_row.sum())
        most = p[top]
        # What the draw leaves to F on average, sum [q' - weight p]+. In this order of summation it
        # is never below what F can use, however small the numbers are.
        spare = mass + (1.0 - self.weight) + float(most.sum())
        shares = (1.0 - drawn_share) * most / spare if spare > 0 else most
        self.shares = iter([*shares.tolist(), drawn_share])
        self.none_before = 1.0  # the chance that no child before was accepted
        self.weight = carry(mass, self.weight)
        self.residual = excess_row / mass if mass > 0 else self.p

    def chance(self, token: int) -> float:
        self.share = next(self.shares)
        return ratio(self.share, self.none_before)

    def reject(self, token: int) -> None:
        self.none_before -= self.share


class TransportRule(SelectionRule):
    """A rule for children that are the most probable tokens and one draw."""

    selection = TransportSelection
    schemes = ("top-draw",)
    own_scheme_only = True
    depends_on_siblings = True


class GreedyDraft(TransportRule, TopDown):
    """The children in turn, each with its share of what those before it left (Hu et al. 2025).

    Its paper calls it Greedy, after the draft's most probable tokens; it works at any temperature.
    """

    name = "greedy-draft"
    title = "Greedy draft"
    formula: ClassVar[str] = "share/what the children before it left"
    first_formula: ClassVar[str] = "its share of the target’s probability"


class Transport(TransportRule, LeavesFirst):
    """The shares of every node, leaves first; the first success accepts the path to its node.

    A child has its share of the node's weight as its own weight. If all children fail the node
    itself is tested with S / (S + 1 - weight), S the target's excess over the shares.
    """

    name = "transport"
    title = "Transport"
    number: ClassVar[str] = "share"
    meaning: ClassVar[str] = ", the part of the target’s probability that it can take"
