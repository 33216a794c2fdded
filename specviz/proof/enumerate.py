"""The exact distribution of a random program, by enumerating every random outcome; and of a rule on one small tree.

A program is any function of a `Randomness`. It is run again and again; each run follows a plan of answers and then
takes the first possible one, until every sequence of answers has been taken once. No seeds, no statistics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
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
    """Randomness that follows a plan of answers and records how many answers each question has.

    Attributes:
        choices, options: which answer was chosen at each question, and of how many; weight: the chance of all of them.
    """

    def __init__(self, plan: list[int]) -> None:
        self._plan = plan
        self.choices: list[int] = []
        self.options: list[int] = []
        self.weight = 1.0

    def _choose(self, weights: Sequence[float]) -> int:
        question = len(self.choices)
        choice = self._plan[question] if question < len(self._plan) else 0
        self.choices.append(choice)
        self.options.append(len(weights))
        self.weight *= weights[choice]
        return choice

    def flip(self, prob: float) -> tuple[bool, float]:
        if not -1e-9 <= prob <= 1 + 1e-9:  # also rejects NaN, whose branches would weigh nothing
            raise ValueError(f"the probability of flip must be from 0 to 1; got {prob}.")
        if prob >= 1:
            return True, 0.0
        if prob <= 0:
            return False, 0.0
        return (True, prob / 2) if self._choose([prob, 1 - prob]) == 0 else (False, (1 + prob) / 2)

    def draw(self, probs: np.ndarray) -> int:
        weights = probs.tolist()  # a handful of numbers, for which plain Python is faster than numpy
        total = sum(weights)
        if not (min(weights) >= 0 and 0 < total < math.inf):
            raise ValueError(f"the weights of draw must be from 0 and not all 0; got {probs}.")
        possible = [token for token, weight in enumerate(weights) if weight > 0]
        return possible[self._choose([weights[token] / total for token in possible])]

    def noise(self, position: int, size: int) -> np.ndarray:
        raise ValueError("noise keyed by position is continuous and cannot be enumerated. Compare texts instead.")


class TooManyRuns(ValueError):
    """A program has more outcomes than it was allowed."""


Result = TypeVar("Result", bound=Hashable)


def distribution_of(program: Callable[[Planned], Result], max_runs: float = math.inf) -> dict[Result, float]:
    """The exact distribution of what `program(rng)` returns, outcome -> probability.

    Args:
        program: a function of a `Randomness` whose every other input is fixed; it must end after finitely many answers.
        max_runs: how often it may be run.

    Raises:
        TooManyRuns: if it takes more.
    """
    outcomes: dict[Result, float] = {}
    plan: list[int] | None = []
    runs = 0
    while plan is not None:
        runs += 1
        if runs > max_runs:
            raise TooManyRuns(f"the program takes more than {max_runs:,} runs; make it smaller, or allow more.")
        rng = Planned(plan)
        outcome = program(rng)
        outcomes[outcome] = outcomes.get(outcome, 0.0) + rng.weight
        plan = _next_plan(rng)
    return outcomes


def _next_plan(rng: Planned) -> list[int] | None:
    """The plan after the one that was just followed, like an odometer; None after the last."""
    plan = rng.choices
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
    """What a rule accepts and writes on a small tree.

    Attributes:
        accepted: the expected number of accepted tokens.
        texts: the distribution of the first tokens, text -> probability.
        target: the target's own.
        runs: how many outcomes were enumerated.
    """

    accepted: float
    texts: dict[tuple[int, ...], float]
    target: dict[tuple[int, ...], float]
    runs: int

    @property
    def worst(self) -> tuple[int, ...]:
        """The text whose probability differs most; the first of them."""
        return max(self.texts, key=lambda text: abs(self.texts[text] - self.target[text]))

    @property
    def deviation(self) -> float:
        """The largest difference."""
        return float(np.max([abs(self.texts[text] - self.target[text]) for text in self.texts]))  # which keeps a NaN


def enumerate_node(rule: Verifier, p: np.ndarray, q: np.ndarray, shape: Shape, scheme: str) -> Outcome:
    """Run a rule on a small tree under every random outcome.

    Args:
        rule: the rule; one that is keyed cannot be enumerated.
        p: the target's row after every node, [V]; or a row for each depth, [depths, V]. As many tokens are compared
            as there are rows (of one row: as there are levels), so one more than levels shows what follows a leaf.
        q: the draft's row, [V], or one for each level, [levels, V].
        shape: of the tree.
        scheme: how children are drawn.
    """
    targets = p if p.ndim == 2 else np.tile(p, (shape.levels, 1))
    drafts = q if q.ndim == 2 else np.tile(q, (shape.levels, 1))
    length, vocab = targets.shape
    after = [_joint(targets[depth:]) for depth in range(length + 1)]  # of the tokens from a depth on
    law, accepted, runs = np.zeros_like(after[0]), 0.0, 0

    def program(rng: Randomness) -> tuple[int, tuple[int, ...]]:
        nonlocal runs
        runs += 1
        return _draft_and_verify(rule, targets, drafts, shape, scheme, rng)

    for (count, text), weight in distribution_of(program).items():
        accepted += count * weight
        law[text] += weight * after[len(text)]  # what is not written yet follows the target
    texts = list(product(range(vocab), repeat=length))
    found, target = ({text: float(table[text]) for text in texts} for table in (law, after[0]))
    return Outcome(accepted, found, target, runs)


def _joint(rows: np.ndarray) -> np.ndarray:
    return reduce(np.multiply.outer, rows, np.ones(()))


def _draft_and_verify(
    rule: Verifier, targets: np.ndarray, drafts: np.ndarray, shape: Shape, scheme: str, rng: Randomness
) -> tuple[int, tuple[int, ...]]:
    """How many tokens were accepted, and the first tokens of what was written."""
    tree, leaves = TokenTree(0, scheme=scheme), [0]
    for level, q in enumerate(drafts):
        tree.draft_distributions[leaves[0]] = q
        leaves = [tree.add(leaves[0], token) for token in draw_children(q, shape.children, scheme, rng, level + 1)]
    # Beyond the tokens that are compared a row of one token, so that chance need not be asked for it.
    rows: Any = [*targets, *np.tile(np.eye(targets.shape[1])[0], (shape.levels + 1, 1))]
    verdict = rule(tree, {node: rows[tree.depths[node]] for node in range(len(tree))}, rng)  # type: ignore[arg-type]
    written = [*(tree.tokens[node] for node in verdict.path), verdict.bonus]
    return len(verdict.path), tuple(written[: len(targets)])
