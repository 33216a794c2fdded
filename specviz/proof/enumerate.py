"""The exact distribution of a random program, by enumerating every random outcome; and of a rule on one small node.

A program is any function of a `Randomness`. It is run again and again; each run follows a plan of answers and then
takes the first possible one, until every sequence of answers has been taken once. No seeds, no statistics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any, TypeVar

import numpy as np

from ..randomness import Randomness
from ..sampling import draw_children
from ..tree import TokenTree
from ..verifiers.base import Verifier


class Planned(Randomness):
    """Randomness that follows a plan of answers and remembers what else could have been answered."""

    def __init__(self, plan: list[int]) -> None:
        self.plan = plan
        self.taken: list[int] = []
        self.options: list[int] = []
        self.weight = 1.0

    def _take(self, weights: list[float], answers: list[int]) -> int:
        turn = len(self.taken)
        choice = self.plan[turn] if turn < len(self.plan) else 0
        self.taken.append(choice)
        self.options.append(len(answers))
        self.weight *= weights[choice]
        return answers[choice]

    def flip(self, prob: float) -> tuple[bool, float]:
        if not -1e-9 <= prob <= 1 + 1e-9:  # also rejects NaN, whose branches would weigh nothing
            raise ValueError(f"the probability of flip must be from 0 to 1; got {prob}.")
        if prob >= 1:
            return True, 0.0
        if prob <= 0:
            return False, 0.0
        answer = bool(self._take([prob, 1 - prob], [1, 0]))
        return answer, prob / 2 if answer else (1 + prob) / 2

    def draw(self, probs: np.ndarray) -> int:
        weights = probs.tolist()  # a handful of numbers, for which plain Python is faster than numpy
        total = sum(weights)
        if not (min(weights) >= 0 and 0 < total < math.inf):
            raise ValueError(f"the weights of draw must be from 0 and not all 0; got {probs}.")
        possible = [token for token, weight in enumerate(weights) if weight > 0]
        return self._take([weights[token] / total for token in possible], possible)

    def noise(self, position: int, size: int) -> np.ndarray:
        raise ValueError("noise keyed by position is continuous and cannot be enumerated. Compare texts instead.")


class TooManyRuns(ValueError):
    """A program that has more outcomes than there is patience for."""


Result = TypeVar("Result", bound=Hashable)


def distribution_of(program: Callable[[Planned], Result], most: float = math.inf) -> dict[Result, float]:
    """The exact distribution of what `program(rng)` returns, outcome -> probability.

    Args:
        program: a function of a `Randomness` whose every other input is fixed; it must end after finitely many answers.
        most: how many runs of it may be made.

    Raises:
        TooManyRuns: if it takes more.
    """
    outcomes: dict[Result, float] = {}
    plan: list[int] | None = []
    runs = 0
    while plan is not None:
        runs += 1
        if runs > most:
            raise TooManyRuns(f"the program takes more than {most:,} runs; make it smaller, or allow more.")
        rng = Planned(plan)
        outcome = program(rng)
        outcomes[outcome] = outcomes.get(outcome, 0.0) + rng.weight
        plan = _next_plan(rng)
    return outcomes


def _next_plan(rng: Planned) -> list[int] | None:
    """The plan after the one that was just followed, like an odometer; None after the last."""
    plan = rng.taken
    while plan and plan[-1] + 1 == rng.options[len(plan) - 1]:
        plan.pop()
    if not plan:
        return None
    plan[-1] += 1
    return plan


@dataclass(frozen=True)
class Shape:
    """The tree: `children` below the root, or a chain of `levels`."""

    children: int = 1
    levels: int = 1


@dataclass(frozen=True)
class Outcome:
    """What a rule accepts and writes on a node.

    Attributes:
        accepted: the expected number of accepted tokens.
        texts: the distribution of the first `levels` tokens, text -> probability.
        wanted: the target's own.
        runs: how many outcomes were enumerated.
    """

    accepted: float
    texts: dict[tuple[int, ...], float]
    wanted: dict[tuple[int, ...], float]
    runs: int

    @property
    def worst(self) -> tuple[int, ...]:
        """The text whose probability differs most; the first of them."""
        return max(self.texts, key=lambda text: abs(self.texts[text] - self.wanted[text]))

    @property
    def deviation(self) -> float:
        """The largest difference."""
        return float(np.max([abs(self.texts[text] - self.wanted[text]) for text in self.texts]))  # which keeps a NaN


def enumerate_node(rule: Verifier, p: np.ndarray, q: np.ndarray, shape: Shape, scheme: str) -> Outcome:
    """Run a rule on a node under every random outcome.

    Args:
        rule: the rule; one that is keyed cannot be enumerated.
        p, q: the target's and the draft's row, float64 [V].
        shape: of the tree.
        scheme: how children are drawn.
    """
    rows = [reduce(np.multiply.outer, [p] * level, np.ones(())) for level in range(shape.levels + 1)]
    found, accepted, runs = np.zeros_like(rows[-1]), 0.0, 0

    def program(rng: Randomness) -> tuple[int, tuple[int, ...]]:
        nonlocal runs
        runs += 1
        return _attempt(rule, p, q, shape, scheme, rng)

    for (length, text), weight in distribution_of(program).items():
        accepted += length * weight
        found[text] += weight * rows[shape.levels - len(text)]  # what is not written yet follows the target
    texts = list(product(range(len(p)), repeat=shape.levels))
    law, own = ({text: float(law[text]) for text in texts} for law in (found, rows[-1]))
    return Outcome(accepted, law, own, runs)


def _attempt(
    rule: Verifier, p: np.ndarray, q: np.ndarray, shape: Shape, scheme: str, rng: Randomness
) -> tuple[int, tuple[int, ...]]:
    """Draft and verify once: how many tokens were accepted, and the first `levels` of what was written."""
    tree, leaves = TokenTree(0, scheme=scheme), [0]
    for level in range(shape.levels):
        tree.draft_distributions[leaves[0]] = q
        leaves = [tree.add(level, token) for token in draw_children(q, shape.children, scheme, rng, level + 1)]
    # After a leaf a row of one token: what would follow is not looked at, so chance need not be asked for it.
    rows: Any = {i: p if i < shape.levels else np.eye(len(p))[0] for i in range(len(tree))}
    verdict = rule(tree, rows, rng)
    written = [*(tree.tokens[i] for i in verdict.path), verdict.bonus]
    return len(verdict.path), tuple(written[: shape.levels])
