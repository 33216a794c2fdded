"""Every number about runs, and its interval, each defined once.

Rates are ratios of sums over steps; texts are the unit of every interval, so one text gives none.
Times leave out the first step of each run, which also reads the prompt. What the limits or an end
of text cut off does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import nan, pi, sqrt, tan
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .step import Step

PARTS = ("draft", "target", "verify", "other")
COMPARED = ("accepted", "rejected", "passed")


@dataclass(frozen=True)
class Counts:
    """Sums over steps, of one run or of several together; every rate follows from them, nan where
    there is nothing.

    Args:
        tokens, passes: tokens written, and passes of the target.
        nodes, draft_passes: drafted nodes, without roots and probes, and passes of the draft.
        accepted, compared: nodes that were accepted, and that were compared at all.
        timed_tokens, timed_passes, seconds: those of the steps whose time counts; the seconds by
            `PARTS`.
        elapsed: seconds of all steps, the first as well.
        guesses: how many nodes each drafter guessed, by its name and what became of them.

    >>> Counts(tokens=6, passes=2).tokens_per_pass
    3.0
    """

    tokens: int = 0
    passes: int = 0
    nodes: int = 0
    draft_passes: int = 0
    accepted: int = 0
    compared: int = 0
    timed_tokens: int = 0
    timed_passes: int = 0
    seconds: tuple[float, ...] = (0.0,) * len(PARTS)
    elapsed: float = 0.0
    guesses: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def of(cls, steps: Iterable[Step], uncut: bool = False) -> Counts:
        """The sums over the steps of a run.

        Args:
            steps: those of the run.
            uncut: whether all that the rule accepted counts, also behind an end of text, for
                comparison with a prediction.
        """
        outcomes: Counter[str] = Counter()
        guesses: Counter[tuple[str, str]] = Counter()
        sums: Counter[str] = Counter()
        spent: Counter[str] = Counter()
        elapsed = 0.0
        for step in steps:
            tokens = len(step.path) + 1 if uncut else len(step.emitted)
            outcome = step.outcome if uncut else step.written.outcome
            outcomes.update(outcome)
            # Older records do not say who drafted a node.
            pairs = zip(step.drafter, outcome, strict=False)
            guesses.update((name, outcome) for name, outcome in pairs if name)
            sums.update(tokens=tokens, passes=1, draft_passes=step.draft_passes)
            elapsed += step.seconds.total
            # The first step also reads the prompt, so its time says nothing of the others.
            if step.index > 0:
                sums.update(timed_tokens=tokens, timed_passes=1)
                spent.update({part: getattr(step.seconds, part) for part in PARTS})
        return cls(
            nodes=outcomes.total() - outcomes["root"] - outcomes["probe"],
            accepted=outcomes["accepted"],
            compared=sum(outcomes[outcome] for outcome in COMPARED),
            seconds=tuple(spent[part] for part in PARTS),
            guesses=guesses,
            elapsed=elapsed,
            **sums,
        )

    def __add__(self, other: Counts) -> Counts:
        # Every field adds up, the tuple of seconds part by part.
        sums = {name: getattr(self, name) + value for name, value in vars(other).items()}
        return Counts(**sums | {"seconds": tuple(map(add, self.seconds, other.seconds))})

    @property
    def tokens_per_pass(self) -> float:
        """Tokens written per pass of the target."""
        return _over(self.tokens, self.passes)

    @property
    def acceptance(self) -> float:
        """Accepted over compared nodes; nodes that were not visited do not count."""
        return _over(self.accepted, self.compared)

    @property
    def drafted(self) -> float:
        """Nodes below the root of a step, on average."""
        return _over(self.nodes, self.passes)

    @property
    def draft_passes_per_step(self) -> float:
        """Passes of the draft per step."""
        return _over(self.draft_passes, self.passes)

    @property
    def tokens_per_s(self) -> float:
        """Tokens written per second of the engine's time."""
        return _over(self.timed_tokens, sum(self.seconds))

    @property
    def seconds_per_token(self) -> float:
        """Seconds of the engine's time per token."""
        return _over(sum(self.seconds), self.timed_tokens)

    @property
    def seconds_per_step(self) -> float:
        """Seconds of a step."""
        return _over(sum(self.seconds), self.timed_passes)

    @property
    def step_parts(self) -> dict[str, float]:
        """Seconds of a step by part."""
        spent = zip(PARTS, self.seconds, strict=True)
        return {part: _over(seconds, self.timed_passes) for part, seconds in spent}

    def time_scale(self, rate: float) -> float:
        """What the run's times are multiplied by for it to have `rate` tokens per second; 1 where
        that is no rate."""
        return self.tokens_per_s / rate if rate > 0 else 1.0

    def at_rate(self, rate: float) -> Counts:
        """The same run with the times that it takes at `rate` tokens per second, as its steps share
        them."""
        scale = self.time_scale(rate)
        return replace(self, seconds=tuple(scale * part for part in self.seconds))

    def speedup(self, plain: Counts) -> float:
        """Tokens per second over those of plain decoding."""
        return _over(self.tokens_per_s, plain.tokens_per_s)


def _over(amount: float, of: float) -> float:
    return amount / of if of else nan


def ratio(sums: np.ndarray) -> np.ndarray:
    """The first column over the second."""
    return sums[..., 0] / sums[..., 1]


def ratio_of_rates(sums: np.ndarray) -> np.ndarray:
    """A speedup, from columns of [tokens, seconds, tokens of plain decoding, its seconds]."""
    return ratio(sums[..., :2]) / ratio(sums[..., 2:])


def estimate(
    rows: ArrayLike,
    of: Callable[[np.ndarray], np.ndarray] = ratio,
    texts: Sequence[str] | None = None,
) -> tuple[Any, Any]:
    """A number that follows from sums over texts, and the half-width of its 95 % interval, None for
    a single text.

    Args:
        rows: what is summed, [..., texts, columns].
        of: from sums, [..., columns], to the number.
        texts: which text each row belongs to; None where every row is a text of its own.

    >>> of_texts = [[6, 2], [9, 4]]  # tokens and passes
    >>> [round(number, 2) for number in estimate(of_texts)]
    [2.5, 4.76]
    """
    sums = np.asarray(rows, dtype=float)
    if texts is not None:
        # A matrix of which row belongs to which text: one product adds them all up.
        names = list(dict.fromkeys(texts))
        belongs = [[name == text for text in texts] for name in names]
        sums = np.array(belongs, dtype=float) @ sums
    # Ratios of sums over all texts, and the same without each text in turn (jackknife).
    total = sums.sum(-2)
    value = of(total)
    margin = jackknife_margin(of(total[..., None, :] - sums)) if sums.shape[-2] > 1 else None
    return (value, margin) if sums.ndim > 2 else (float(value), margin and float(margin))


def jackknife_margin(left: np.ndarray) -> np.ndarray:
    """Half of a number's 95 % interval (Tukey 1958, Student's t), from its values without each
    text, [..., texts]."""
    # Each value without one text moves by that text's part: how much they spread is how uncertain
    # the whole is.
    number = left.shape[-1]
    squares = ((left - left.mean(-1, keepdims=True)) ** 2).sum(-1)
    return t_quantile(number - 1) * np.sqrt((number - 1) / number * squares)


@lru_cache
def t_quantile(freedom: int) -> float:
    """How many standard errors to either side hold 95 % of Student's t.

    Of t = sqrt(freedom) tan(angle) the angle has a density that is proportional to
    cos(angle)^(freedom - 1).
    """
    # The integral of the density to each angle, by the trapezoid rule, read backwards at 95 %.
    angles = np.linspace(0, pi / 2, 100_001)
    density = np.cos(angles) ** (freedom - 1)
    inside = np.cumsum(density) - (density + density[0]) / 2
    return sqrt(freedom) * tan(np.interp(0.95 * inside[-1], inside, angles))
