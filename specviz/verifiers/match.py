"""Rules that fix the target's token first and then accept the child that has it. They never read
the draft's rows."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np
from pydantic import Field

from ..record.step import Step
from ..sampling.distributions import Distributions
from ..sampling.randomness import Randomness, first_arrivals
from ..tree import Chart, TokenTree
from .base import ShownRows, Verdict, Verifier
from .decisions import Decisions
from .explanations import ROOT, untried

ARRIVALS = 5  # of a race that are recorded


class MatchRule(Verifier):
    """A token of the target is drawn after each node that is reached; the child that has it is
    accepted."""

    reads_draft = False
    match_reason: ClassVar[str] = "the target drew this token"  # why a child was accepted
    mismatch_reason: ClassVar[str] = "the target drew another token"  # why one was rejected

    def draw(self, tree: TokenTree, p: Distributions, rng: Randomness, node: int) -> int:
        """The target's token after a node."""
        return rng.draw(p[node])

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        decisions = Decisions(tree)

        def token_after(node: int) -> int:
            token = self.draw(tree, p, rng, node)
            decisions.note(node, after=ShownRows(node, (token,)))
            return token

        return decisions.follow(token_after, p)

    def explain(self, step: Step, node: int) -> str:
        outcome = step.outcome[node]
        reason = self.match_reason if outcome == "accepted" else self.mismatch_reason
        return untried(step, node) or f"{outcome.capitalize()}: {reason}."


def race_winner(tree: TokenTree, p: Distributions, rng: Randomness, node: int) -> int:
    """The token that arrives first in the race after a node, argmin E / p, with noise E keyed by
    its position."""
    return int(first_arrivals(p[node], rng.noise(tree.next_position(node), len(p[node])))[0])


class TargetMatch(MatchRule):
    """One draw from p per accepted node, and one more: the top-k rule (Sequoia, section 2.2).

    The chance to accept is the mass of the children under p, less than what a coupling of p and q
    can reach.
    """

    name = "target-match"
    title = "Target match"
    schemes = ("top", "top-draw", "distinct", "iid", "race")
    keyed: bool = Field(
        False,
        title="Keyed noise",
        description="Draw by a race keyed by position; the seed alone determines the text.",
    )
    shared_noise = property(lambda self: self.keyed)

    def draw(self, tree: TokenTree, p: Distributions, rng: Randomness, node: int) -> int:
        if self.keyed:
            return race_winner(tree, p, rng, node)
        return rng.draw(p[node])


class Naive(MatchRule):
    """Naive sampling: independent draws of the draft, accepted if they contain the target's own
    draw.

    As `target-match`, but with children drawn with replacement: the baseline of SpecInfer and
    Sequoia (section 2.2).
    """

    name = "naive"
    title = "Naive sampling"
    schemes = ("iid", "distinct", "top-draw", "top", "race")


class Race(MatchRule):
    """Exponential races shared by draft and target (Kobus and Gündüz 2025, algorithms 2 and 5).

    The token that arrives first under p is written; the first arrivals under q are the likeliest
    winners.
    """

    name = "race"
    title = "Race"
    schemes = ("race", "top", "top-draw", "distinct", "iid")
    shared_noise = True
    match_reason = "it won the target's race"
    mismatch_reason = "another token won the target's race"

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        decisions = Decisions(tree)

        def winner(node: int) -> int:
            # A draft that drew its children by a race had the same noise, so its first arrivals
            # often win here too.
            noise = rng.noise(tree.next_position(node), len(p[node]))
            q = tree.draft_distributions.get(node)
            decisions.note(node, race=partial(_race_charts, noise, p[node], q))
            return int(first_arrivals(p[node], noise)[0])

        return decisions.follow(winner)


def _race_charts(noise: np.ndarray, p: np.ndarray, q: np.ndarray | None) -> dict[str, Chart]:
    charts = {}
    for name, row in {"target": p, "draft": q}.items():
        if row is not None:
            tokens = first_arrivals(row, noise, ARRIVALS)
            times = noise[tokens] / row[tokens]
            charts[name] = Chart(tuple(tokens.tolist()), {"times": tuple(times.tolist())})
    return charts


class ExactMatch(MatchRule):
    """Greedy verification: accept the target's most probable token, at temperature 0 only (SVIP,
    algorithm 3)."""

    name = "exact-match"
    title = "Exact match"
    schemes = ("top", "top-draw", "distinct", "iid")
    greedy_only = True
    match_reason = "it is the target's most probable token"
    mismatch_reason = "the target's most probable token is different"

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        return Decisions(tree).follow(lambda node: int(np.argmax(p[node])))


class PlainRule(Verifier):
    """Plain decoding: the target's own token, argmin E / p with noise E keyed by its position, is
    written.

    Rules with shared noise (`race`, keyed `target-match`) promise the same text.
    """

    name = "plain"
    title = "Plain decoding"
    reads_draft = False
    shared_noise = True
    autoregressive = True

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        # At temperature 0 the row is one token, which wins every race; looking for it is cheaper.
        if p.sampling.temperature == 0:
            return Decisions(tree).verdict(int(np.argmax(p[0])))
        return Decisions(tree).verdict(race_winner(tree, p, rng, 0))

    def explain(self, step: Step, node: int) -> str:
        return ROOT
