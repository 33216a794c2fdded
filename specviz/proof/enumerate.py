"""The exact distribution of a random program, by enumerating every random outcome; and of a rule on
one small tree.

A program is any function of a `Randomness`. It is run again and again; each run follows a plan of
answers and then takes the first possible one, until every sequence of answers has been taken once.
No seeds, no statistics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

import numpy as np

from ..sampling.children import draw_children
from ..sampling.distributions import Distributions, Sampling
from ..sampling.randomness import Randomness
from ..tree import TokenTree, Topology
from ..verifiers.base import Verifier


class ScriptedRandomness(Randomness):
    """Randomness that follows a plan of answers, and adds the first possible one where the plan
    ends.

    Args:
        plan: for each question which answer is chosen, and of how many.

    Attributes:
        weight: the chance of all answers so far.
    """

    def __init__(self, plan: list[tuple[int, int]]) -> None:
        self._plan = plan
        self._questions = 0
        self.weight = 1.0

    def _choose(self, weights: Sequence[float]) -> int:
        # Beyond the plan the first answer is taken, and the plan is longer by this question.
        if self._questions == len(self._plan):
            self._plan.append((0, len(weights)))
        choice, _ = self._plan[self._questions]
        self._questions += 1
        self.weight *= weights[choice]
        return choice

    def flip(self, prob: float) -> tuple[bool, float]:
        if not -1e-9 <= prob <= 1 + 1e-9:  # also rejects NaN, whose branches would weigh nothing
            raise ValueError(f"the probability of flip must be from 0 to 1; got {prob}.")
        if not 0 < prob < 1:  # no question: a second answer would have no chance
            return prob >= 1, 0.0
        if self._choose([prob, 1 - prob]) == 0:
            return True, prob / 2
        return False, (1 + prob) / 2  # a u that this answer could have had

    def draw(self, probs: np.ndarray) -> int:
        # A handful of numbers, for which plain Python is faster than numpy.
        weights = probs.tolist()
        total = sum(weights)
        if not (min(weights) >= 0 and 0 < total < math.inf):
            raise ValueError(f"the weights of draw must be from 0 and not all 0; got {probs}.")
        possible = [token for token, weight in enumerate(weights) if weight > 0]
        return possible[self._choose([weights[token] / total for token in possible])]

    def noise(self, position: int, size: int) -> np.ndarray:
        raise ValueError(
            "noise keyed by position is continuous and cannot be enumerated. Compare texts instead."
        )


Result = TypeVar("Result", bound=Hashable)
Text = tuple[int, ...]


def distribution_of(
    program: Callable[[ScriptedRandomness], Result],
    randomness: type[ScriptedRandomness] = ScriptedRandomness,
) -> dict[Result, float]:
    """The exact distribution of what `program(rng)` returns, outcome -> probability.

    Args:
        program: a function of a `Randomness` whose every other input is fixed; it must end after
            finitely many answers.
        randomness: the class of the randomness it is given.
    """
    outcomes: dict[Result, float] = {}
    plan: list[tuple[int, int]] = []
    while True:
        rng = randomness(plan)
        outcome = program(rng)
        outcomes[outcome] = outcomes.get(outcome, 0.0) + rng.weight
        # The next plan, as an odometer counts: what has had its last answer is dropped, and the
        # question before it gets its next one.
        while plan and plan[-1][0] + 1 == plan[-1][1]:
            plan.pop()
        if not plan:
            return outcomes
        choice, options = plan[-1]
        plan[-1] = choice + 1, options


@dataclass(frozen=True)
class Outcome:
    """What is written under every random outcome, beside the target's own distribution.

    Attributes:
        target: of the first tokens, text -> probability.
        errors: by how much the probability of each text is too large.
        runs: how many outcomes were enumerated.
        accepted: the expected number of accepted tokens, of `enumerate_tree`.
    """

    target: dict[Text, float]
    errors: dict[Text, float]
    runs: int
    accepted: float = math.nan

    @property
    def texts(self) -> dict[Text, float]:
        """The distribution of what is written."""
        return {text: self.target[text] + error for text, error in self.errors.items()}

    @property
    def worst(self) -> Text:
        """The text whose probability differs most; the first of them."""
        return max(self.errors, key=lambda text: abs(self.errors[text]))

    @property
    def deviation(self) -> float:
        """The largest difference."""
        # numpy's max keeps a NaN, the worst of errors, which Python's may lose.
        return float(np.max(np.abs(list(self.errors.values()))))


def compare_with_target(
    written: dict[Text, float], row: Callable[[Text], np.ndarray], length: int
) -> Outcome:
    """The distribution of the first `length` tokens beside the target's.

    Args:
        written: text -> probability; shorter texts are completed by the target's own distribution,
            longer ones cut.
        row: the target's distribution after a text, [V].
        length: how many tokens are compared.
    """

    def chance(text: Text, start: int) -> float:
        """Of the target to write `text` once its first tokens are there."""
        return float(np.prod([row(text[:i])[text[i]] for i in range(start, length)]))

    # Every text there is, since a wrong rule may write what the target never would.
    texts = list(product(range(len(row(()))), repeat=length))
    target = {text: chance(text, 0) for text in texts}
    errors = {text: -prob for text, prob in target.items()}
    for prefix, weight in written.items():
        # What was not written in these steps the target would write next, by its own distribution.
        start = min(len(prefix), length)
        for text in texts if start < length else (prefix[:length],):
            if text[:start] == prefix[:start]:
                errors[text] += weight * chance(text, start)
    return Outcome(target, errors, len(written))


class GivenRows(Distributions):
    """The target's rows after the nodes of a tree, [n] of float64 [V] each, which no rule may
    change."""

    def __init__(self, rows: Sequence[np.ndarray], temperature: float = 1.0) -> None:
        super().__init__(rows, Sampling(temperature))
        self._rows = dict(enumerate(map(read_only, rows)))


def read_only(row: np.ndarray) -> np.ndarray:
    """A view of a row into which nothing can be written."""
    view = row.view()
    view.flags.writeable = False
    return view


def enumerate_tree(
    rule: Verifier, shape: Topology, p: np.ndarray, q: np.ndarray, scheme: str
) -> Outcome:
    """Run a rule under every random outcome on a small tree whose rows depend on the depth alone.

    Args:
        rule: the rule; one that is keyed cannot be enumerated.
        shape: the tree that is filled with drawn tokens.
        p: the target's row at each depth, [depths, V]. As many tokens are compared, so one more
            than levels shows what follows a leaf.
        q: the draft's row for each level, [levels, V].
        scheme: how children are drawn.
    """
    # Beyond the tokens that are compared a row of one token, so that chance need not be asked for
    # it.
    rows = [*p, *np.tile(np.eye(p.shape[1])[0], (len(q) + 1, 1))]
    accepted = 0.0
    runs = 0

    def write(rng: ScriptedRandomness) -> Text:
        nonlocal accepted, runs
        # Drawing and deciding are enumerated together: an error may be in what one tells the other.
        tree = _draw_tree(shape, q, scheme, rng)
        target = GivenRows([rows[depth] for depth in tree.depths])
        verdict = rule(tree, target, rng)
        accepted += len(verdict.path) * rng.weight
        runs += 1
        return (*(tree.tokens[node] for node in verdict.path), verdict.bonus)[: len(p)]

    comparison = compare_with_target(distribution_of(write), lambda text: p[len(text)], len(p))
    return replace(comparison, runs=runs, accepted=accepted)


def _draw_tree(shape: Topology, q: np.ndarray, scheme: str, rng: Randomness) -> TokenTree:
    """The shape filled from the draft's row of each depth; where fewer tokens can be drawn than it
    has children, the others and all below them are left out."""
    tree = TokenTree(0, scheme=scheme)
    nodes = {0: 0}  # node of the shape -> node of the tree
    for spot, below in enumerate(shape.children):
        if not below or spot not in nodes:
            continue
        node = nodes[spot]
        row = tree.draft_distributions[node] = read_only(q[tree.depths[node]])
        tokens = draw_children(row, len(below), scheme, rng, tree.next_position(node))
        for child, token in zip(below, tokens, strict=False):
            nodes[child] = tree.add(node, token)
    return tree
