"""The closed forms of every rule on one node, in one table: `FORMS`.

They are written apart from the rules themselves, so that each can check the other. Children are drawn as the rule asks
for first, and a rule with parameters has its defaults. p = target, q = draft, float64 distributions [V].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..distributions import entropy, residual
from ..randomness import Randomness
from ..sampling import draw_children, most_probable, without
from ..verifiers.spectr import division_factor, leftover
from ..verifiers.typical import Typical
from .node import (
    naive_acceptance,
    race_acceptance,
    sequoia_acceptance,
    sequoia_rejections,
    specinfer_acceptance,
    spectr_acceptance,
    target_match_acceptance,
)

EXACT, DRAWN, COUNTED = "exact", "expected over coins, children drawn", "counted"

Acceptance = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
Shares = Callable[[np.ndarray, np.ndarray, int, int, Randomness], np.ndarray]


@dataclass(frozen=True)
class NodeOnText:
    """One node of a text before all rules at once, with what several of them need.

    Args:
        p, q: the distributions.
        widths: rising numbers of children.
        rng, position: where children and noise come from.
    """

    p: np.ndarray
    q: np.ndarray
    widths: Sequence[int]
    rng: Randomness
    position: int

    def at_widths(self, acceptance: np.ndarray) -> np.ndarray:
        """What the first children are accepted with, for every width, where later ones change nothing for them."""
        return np.cumsum(acceptance)[np.array(self.widths) - 1]

    @cached_property
    def drawn(self) -> list[int]:
        """The most children, drawn without replacement."""
        return draw_children(self.q, self.widths[-1], "distinct", self.rng, self.position)

    @cached_property
    def sequoia(self) -> np.ndarray:
        """Sequoia's acceptance for each width, [widths]."""
        return 1 - sequoia_rejections(self.p, self.q, self.drawn)[np.array(self.widths) - 1]

    @cached_property
    def dyspec(self) -> np.ndarray:
        """DySpec's acceptance for each width, [widths]."""
        if int((self.q > 0).sum()) >= self.widths[-1]:
            return self.sequoia
        return 1 - sequoia_rejections(self.p, self.q, self.drawn, fallback=False)[np.array(self.widths) - 1]

    @cached_property
    def top(self) -> np.ndarray:
        """The acceptance of the draft's most probable tokens for each width, [widths]."""
        return self.at_widths(target_match_acceptance(self.p, self.q, self.widths[-1]))

    @cached_property
    def one_child(self) -> np.ndarray:
        """1 - TV for one child; nan for more."""
        return np.where(np.array(self.widths) == 1, float(np.minimum(self.p, self.q).sum()), np.nan)

    @cached_property
    def race(self) -> np.ndarray:
        """1 where the target's winner is among the draft's first arrivals; it never is where q gives it nothing."""
        noise = self.rng.noise(self.position, len(self.p))
        with np.errstate(divide="ignore"):
            winner = int(np.argmin(noise / self.p))
            earlier = (noise / self.q < noise[winner] / self.q[winner]).sum() if self.q[winner] > 0 else np.inf
        return (np.array(self.widths) > earlier).astype(float)


@dataclass(frozen=True)
class Forms:
    """What is known of one rule on one node beside its own code; None where there is no closed form.

    Args:
        acceptance: (p, q, k) -> the chance of each of k children to be the accepted one, float64 [k], over all draws
            of the children and all coins; small V where they are drawn without replacement.
        at_widths: the chance that one of the first k children is accepted, for every k of `NodeOnText.widths`; any V.
        shares: (p, q, x, k, rng) -> for each of k children the chance that it was the one which brought x, the
            token that the text has next, float64 [k]: P(it is accepted and is x) / p(x).
        method: how `at_widths` is found, `EXACT`, `DRAWN` or `COUNTED`.
        gap: why a form is missing.
    """

    acceptance: Acceptance | None
    at_widths: Callable[[NodeOnText], np.ndarray] | None
    shares: Shares | None
    method: str = EXACT
    gap: str = ""


# ---- one node ----


def _dyspec_acceptance(p: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    return sequoia_acceptance(p, q, k, fallback=False)


def one_child_acceptance(p: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """Rules for chains: 1 - TV for the one child that a node may have."""
    return np.array([np.minimum(p, q).sum()])


def _raced_acceptance(p: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    return np.diff([race_acceptance(p, q, children) for children in range(k + 1)])


def typical_acceptance(p: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """The likeliest of the draft's k most probable tokens is accepted for sure where it is above the threshold."""
    chances = target_match_acceptance(p, q, k)
    accepted = np.zeros(len(chances))
    accepted[chances.argmax()] = float(chances.max() > _threshold(p))
    return accepted


def _typical_at_widths(node: NodeOnText) -> np.ndarray:
    taken = np.flatnonzero(target_match_acceptance(node.p, node.q, node.widths[-1]) > _threshold(node.p))
    return (np.array(node.widths) > (taken[0] if len(taken) else np.inf)).astype(float)


def _threshold(p: np.ndarray) -> float:
    rule = Typical()
    return min(rule.epsilon, rule.delta * float(np.exp(-entropy(p))))


def _spectr_at_widths(node: NodeOnText) -> np.ndarray:
    """By the rule's own search for rho, which is quicker than `spectr_acceptance`."""
    betas = [leftover(node.p, node.q, k, division_factor(node.p, node.q, k))[1] for k in node.widths]
    return np.array([1 - (1 - beta) ** k for beta, k in zip(betas, node.widths, strict=True)])


# ---- along a text: p(x) > 0 for the token x that the text has next ----


def match_shares(p: np.ndarray, q: np.ndarray, token: int, k: int, rng: Randomness) -> np.ndarray:
    """Rules that keep the target's own token, and every rule at temperature 0: which of the draft's best it is."""
    best = most_probable(q, k)
    return (np.array([*best, *[-1] * (k - len(best))]) == token).astype(float)


def iid_shares(p: np.ndarray, q: np.ndarray, token: int, k: int, rng: Randomness) -> np.ndarray:
    """SpecInfer, and with one child speculative sampling; exact."""
    shares, reached, r = np.zeros(k), 1.0, p
    for child in range(k):
        shares[child] = reached * min(r[token], q[token]) / p[token]
        reached *= max(0.0, 1 - float(np.minimum(r, q).sum()))
        r = residual(r, q)
    return shares


def distinct_shares(
    p: np.ndarray, q: np.ndarray, token: int, k: int, rng: Randomness, fallback: bool = True
) -> np.ndarray:
    """Sequoia, and without the fallback DySpec: exact for each child given the ones before it, which are drawn."""
    shares, reached, r, d, drawn = np.zeros(k), 1.0, p, q, []
    for child, other in enumerate(draw_children(q, k, "distinct", rng, 0)):
        if not fallback and q[other] == 0:
            break
        shares[child] = reached * min(r[token], d[token]) / p[token]
        reached *= max(0.0, 1 - float(r[other] / d[other]))
        if reached == 0:
            break
        drawn.append(other)
        r, d = residual(r, d), without(d, drawn)
    return shares


def _dyspec_shares(p: np.ndarray, q: np.ndarray, token: int, k: int, rng: Randomness) -> np.ndarray:
    return distinct_shares(p, q, token, k, rng, fallback=False)


def naive_shares(p: np.ndarray, q: np.ndarray, token: int, k: int, rng: Randomness) -> np.ndarray:
    """Naive sampling: the first of k independent draws that is the target's own token; exact."""
    return float(q[token]) * (1 - float(q[token])) ** np.arange(k)


# By menu name. A test names every rule of the menu that is missing here.
FORMS: dict[str, Forms] = {
    "sequoia": Forms(sequoia_acceptance, lambda node: node.sequoia, distinct_shares, DRAWN),
    "dyspec": Forms(_dyspec_acceptance, lambda node: node.dyspec, _dyspec_shares, DRAWN),
    # On the children of one node traversal is Sequoia's rule; they differ from the second level on.
    "traversal": Forms(
        sequoia_acceptance, lambda node: node.sequoia, None, DRAWN,
        "Along a text a child's chance depends on what is drafted below it.",
    ),
    "specinfer": Forms(
        specinfer_acceptance,
        lambda node: node.at_widths(specinfer_acceptance(node.p, node.q, node.widths[-1])),
        iid_shares,
    ),
    "spectr": Forms(
        spectr_acceptance, _spectr_at_widths, None,
        gap="Along a text a child's chance depends on how many siblings it has.",
    ),
    "target-match": Forms(target_match_acceptance, lambda node: node.top, match_shares),
    "naive": Forms(
        naive_acceptance,
        lambda node: node.at_widths(naive_acceptance(node.p, node.q, node.widths[-1])),
        naive_shares,
    ),
    "race": Forms(
        _raced_acceptance, lambda node: node.race, None, COUNTED,
        "The noise that wrote a text also drew the children, so given the text they are not free.",
    ),
    "typical": Forms(
        typical_acceptance, _typical_at_widths, None,
        gap="It is lossy, so the text that it writes is not the target's own.",
    ),
    "speculative-sampling": Forms(one_child_acceptance, lambda node: node.one_child, iid_shares),
    "block": Forms(
        one_child_acceptance, lambda node: node.one_child, None,
        gap="Along a text a token's chance depends on those after it.",
    ),
    "exact-match": Forms(target_match_acceptance, lambda node: node.top, match_shares),
}  # fmt: skip
