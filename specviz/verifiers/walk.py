"""The top-down walk shared by several rules, and the record of a rule's decisions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..record.step import Detail, Step
from ..sampling.children import most_probable
from ..sampling.distributions import Distributions
from ..sampling.randomness import Randomness
from ..tree import Chart, TokenTree
from .base import Verdict

ROOT = "The last committed token: the tree grows from here."
LIKELIEST = 4  # with the token in question, five bars; with the one that was rejected last, six
WHOLE = 12  # a row of so few tokens is kept whole


class Bars:
    """Charts of the target's most probable tokens after one node, of which `p` is the row, float64
    [V].

    Called with further tokens it returns a function that makes a chart: "p", and each row under its
    keyword.
    """

    def __init__(self, p: np.ndarray) -> None:
        self.p = p

    @cached_property
    def likeliest(self) -> list[int]:
        """The tokens that all charts of the node show."""
        count = LIKELIEST if len(self.p) > WHOLE else len(self.p)
        return most_probable(self.p, count)

    def __call__(self, *others: int, **rows: np.ndarray) -> Callable[[], Chart]:
        # Sorting a vocabulary costs more than the rule itself, so it waits until the step is drawn.
        def make() -> Chart:
            tokens = list(dict.fromkeys([*self.likeliest, *others]))
            by_name = {"p": self.p, **rows}
            bars = {name: tuple(row[tokens].tolist()) for name, row in by_name.items()}
            return Chart(tuple(tokens), bars)

        return make


class Walk:
    """Outcomes, acceptance probabilities and uniform draws of one `tree`, recorded while a rule
    walks down it."""

    def __init__(self, tree: TokenTree) -> None:
        n = len(tree)
        # What the walk never comes to stays "unreached".
        self.outcome = ["root"] + ["unreached"] * (n - 1)
        for node in tree.probes:
            self.outcome[node] = "probe"
        self.accept_prob: list[float | None] = [None] * n
        self.coin: list[float | None] = [None] * n
        self.order: list[int] = []  # the nodes that were tried, first to last
        self.path: list[int] = []
        self._notes: dict[int, dict[str, object]] = {}

    def flip(self, child: int, prob: float, rng: Randomness) -> bool:
        """Try a child: accept it with probability `prob`."""
        answer = self.toss(child, prob, rng)
        self.decide(child, answer)
        return answer

    def toss(self, node: int, prob: float, rng: Randomness) -> bool:
        """Draw u for a node without deciding its outcome, for rules in which one draw decides
        several nodes."""
        answer, coin = rng.flip(prob)
        self.order.append(node)
        self.accept_prob[node] = float(prob)
        self.coin[node] = coin
        return answer

    def mark(self, child: int, accepted: bool) -> None:
        """Try a child without a draw: record that it was compared, and whether it was accepted."""
        self.order.append(child)
        self.decide(child, accepted)

    def decide(self, child: int, accepted: bool) -> None:
        """Record what became of a child, whether it was tried itself or not."""
        self.outcome[child] = "accepted" if accepted else "rejected"
        if accepted:
            self.path.append(child)

    def accept_path(self, tree: TokenTree, node: int) -> None:
        """Record that all nodes down to one were accepted, the upper ones without a try."""
        for above in tree.topology.path(node):
            self.decide(above, True)

    def note(self, node: int, **fields: object) -> None:
        """Record fields of `Detail` for a node, as they are or as functions that make them once
        they are read."""
        self._notes.setdefault(node, {}).update(fields)

    def end(self, bonus: int) -> Verdict:
        """Finish the record: the target adds `bonus` after the last accepted node."""
        return Verdict(
            path=tuple(self.path),
            bonus=int(bonus),
            outcome=tuple(self.outcome),
            accept_prob=tuple(self.accept_prob),
            coin=tuple(self.coin),
            order=tuple(self.order),
            detail=self._notes,
        )


def follow(
    walk: Walk, tree: TokenTree, token_after: Callable[[int], int], p: Distributions | None = None
) -> Verdict:
    """Draw the target's token after each node, and continue if a child has it.

    Args:
        walk, tree: the record, and what is verified.
        token_after: the target's token after a node; called once for each node that is reached.
        p: the target's rows where the token was drawn from them, so that a child is accepted with
            its probability.
    """
    node = 0
    while True:
        token = token_after(node)
        for child in tree.children[node]:
            if p is not None:
                walk.accept_prob[child] = float(p[node][tree.tokens[child]])
            walk.mark(child, tree.tokens[child] == token)
            # Of equal siblings the first one counts.
            if tree.tokens[child] == token:
                break
        else:  # nobody drafted it, so the text gets the target's token and the step ends
            return walk.end(token)
        node = child


def ratio(p: float, q: float) -> float:
    """min(1, p / q); a child the draft gave no mass is accepted exactly where the target has
    some."""
    if q > 0:
        return min(1.0, float(p / q))
    return 1.0 if p > 0 else 0.0


def carry(excess_mass: float, weight: float) -> float:
    """What is left of a path's acceptance `weight` once a continuation was rejected, S / (S + 1 -
    weight).

    `excess_mass` is S, the mass sum [weight p - q]+ (Sun et al. 2024, equation 4; Weng et al. 2025,
    equation 3).
    """
    total = excess_mass + (1.0 - weight)  # in this order a weight of 1 stays 1, however small S is
    return float(excess_mass / total) if total > 0 else 1.0


def trial(step: Step, node: int) -> tuple[str, float | None, float | None]:
    """The outcome of a node, the chance that it would be accepted with, and the draw u."""
    return step.outcome[node], step.accept_prob[node], step.coin[node]


def untried(step: Step, node: int) -> str:
    """Why a node was not compared, "" where it was."""
    if step.outcome[node] == "root":
        return ROOT
    if step.outcome[node] == "probe":
        return "Probe: it asks the target for its next token and is not compared."
    if step.outcome[node] != "unreached":
        return ""
    parent = step.parents[node]
    if step.outcome[parent] not in ("root", "accepted"):
        return "Not visited: the token before it was not accepted."
    if ("accepted", parent) in zip(step.outcome, step.parents, strict=True):
        return "Not visited: a sibling before it was accepted."
    return (
        "Not visited: every token with draft probability above 0 had been tried, so the rule "
        "stopped."
    )


def explain_coin(step: Step, node: int, formula: str, first: str = "min(1, p/q)") -> str:
    """The sentence of a rule that flips one coin a node with probability `formula`, for a first
    child with `first`."""
    if step.parents.index(step.parents[node]) == node:  # no sibling before it: nothing is left over
        formula = first
    outcome, prob, coin = trial(step, node)
    if why := untried(step, node):
        return why
    if prob is None or coin is None:
        return f"{outcome.capitalize()} by {formula}."
    compared = f"{outcome.capitalize()}: u = {coin:.3f} {'<' if outcome == 'accepted' else '≥'}"
    if fraction := _fraction(step, node, prob):
        return f"{compared} {fraction} ({formula})."
    return f"{compared} {formula} = {prob:.3f}."


def _fraction(step: Step, node: int, prob: float) -> str | None:
    """The residual over the remaining draft in numbers, where that is what the node was accepted
    with."""
    tried = step.detail.get(node, Detail()).tried
    token = step.tokens[node]
    if tried is None or not {"residual", "draft"} <= tried.rows.keys() or token not in tried.tokens:
        return None
    place = tried.tokens.index(token)
    residual = tried.rows["residual"][place]
    draft = tried.rows["draft"][place]
    # Numbers that do not give the recorded chance, of a rule with a weight say, would confuse.
    if draft <= 0 or abs(min(1.0, residual / draft) - prob) > 0.001:
        return None
    return f"{_digits(residual)} / {_digits(draft)} = {_digits(residual / draft)}"


def _digits(number: float) -> str:
    """A probability with two digits that count at least, so that a reader who divides two of them
    finds the third."""
    if number == 0 or number >= 0.1:
        return f"{number:.3f}"
    return f"{number:#.2g}"
