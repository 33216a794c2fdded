"""The exact distribution of a random program, by enumerating every random outcome.

A program is any function of a `Randomness`. It is run again and again; each run follows a plan of answers and then
takes the first possible one, until every sequence of answers has been taken once. No seeds, no statistics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np

from ..randomness import Randomness


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


Outcome = TypeVar("Outcome", bound=Hashable)


def distribution_of(program: Callable[[Planned], Outcome], most: float = math.inf) -> dict[Outcome, float]:
    """The exact distribution of what `program(rng)` returns, outcome -> probability.

    Args:
        program: a function of a `Randomness` whose every other input is fixed; it must end after finitely many answers.
        most: how many runs of it may be made.

    Raises:
        TooManyRuns: if it takes more.
    """
    outcomes: dict[Outcome, float] = {}
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
