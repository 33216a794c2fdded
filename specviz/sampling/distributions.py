"""Probability distributions: from logits to the distributions that are sampled and compared. p =
target, q = draft.

A distribution is a float64 vector over the vocabulary with sum 1, after temperature, top-k and
top-p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from .randomness import argsmallest

MIN_TEMPERATURE = 0.001  # below it, differences that rounding makes would decide
TINY_PROB = 1e-290  # smaller chances count as none: noise divided by them would overflow
TOP_P_CANDIDATES = 256  # tokens that are sorted first in search of top-p's mass
CHUNK = 1 << 16  # numbers that are worked on at once: as many as a core's own cache holds


def _refuse_bool(value: object) -> object:
    """A value, but neither true nor false, which Python takes for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError(f"must be 0 or a number from {MIN_TEMPERATURE}")
    return value


Temperature = Annotated[  # 0 for greedy decoding
    Literal[0] | Annotated[float, Field(ge=MIN_TEMPERATURE, allow_inf_nan=False)],
    BeforeValidator(_refuse_bool),
]
TopP = Annotated[float, Field(gt=0, le=1)]
TopK = Annotated[int, Field(ge=1)]


@dataclass(frozen=True)
class Sampling:
    """How logits become probabilities.

    Args:
        temperature: 0 takes the most probable token; otherwise logits are divided by it.
        top_p: keep the smallest set of most probable tokens whose mass reaches this, in (0, 1].
        top_k: keep this many most probable tokens; None keeps all.
    """

    temperature: Temperature = 1.0
    top_p: TopP = 1.0
    top_k: TopK | None = None

    @property
    def unfiltered(self) -> bool:
        """True where only the temperature acts, so a probability needs no look at the other tokens'
        ranks."""
        return self.top_p >= 1 and self.top_k is None


def softmax(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Probabilities of logits [..., V] at a temperature above 0, in float64."""
    row_max = logits.max(axis=-1, keepdims=True)
    check_finite(row_max.sum())
    row = logits.astype(np.float64)  # at once: a subtraction that widens takes twice as long
    row -= row_max
    if temperature != 1:
        row *= 1 / temperature
    np.exp(row, out=row)
    if row.min() < TINY_PROB:  # one look costs less than a mask over every row
        row[row < TINY_PROB] = 0.0
    row *= 1 / row.sum(axis=-1, keepdims=True)
    return row


def check_finite(total: float) -> None:
    """Raise a `ValueError` unless logits are numbers, given the sum of the highest of each row."""
    if not math.isfinite(total):
        raise ValueError(
            "logits must be finite numbers; the model returned NaN or infinity. It "
            "overflowed, or its weights are "
            "damaged: load it with dtype float32, or choose another model."
        )


def probabilities(logits: np.ndarray, sampling: Sampling) -> np.ndarray:
    """The distribution of one row of logits [V]: temperature, then top-k, then top-p; ties go to
    the lower token id."""
    if sampling.temperature == 0:
        best = np.argmax(logits)
        check_finite(logits[best])
        row = np.zeros(len(logits))
        row[best] = 1.0
        return row
    row = softmax(logits, sampling.temperature)
    if sampling.unfiltered:
        return row
    tokens = _filtered(row, sampling)
    filtered = np.zeros_like(row)
    filtered[tokens] = row[tokens]
    return filtered / filtered.sum()


def _filtered(row: np.ndarray, sampling: Sampling) -> np.ndarray:
    """The tokens that top-k and then top-p leave, most probable first, without sorting more of them
    than it takes."""
    limit = len(row)
    # The mass of top-p is nearly always in few tokens, so only those are sorted, then 16 times as
    # many where it is not.
    count = min(limit, TOP_P_CANDIDATES)
    if sampling.top_k is not None:
        count = limit = min(int(sampling.top_k), len(row))
    if sampling.top_p >= 1:
        return argsmallest(-row, limit)
    while True:
        order = argsmallest(-row, count)
        mass = np.cumsum(row[order])
        # The token that crosses the threshold is kept; top-p acts on what top-k left, renormalised.
        threshold = sampling.top_p * (mass[-1] if count == limit else row.sum())
        if mass[-1] >= threshold:
            return order[: int(np.searchsorted(mass, threshold)) + 1]
        count = min(limit, 16 * count)


# float [n, V]; or an array on a device, which numpy can read and whose method `rows` makes the rows
Logits = Any
Index = int | np.integer | slice | Sequence[int] | np.ndarray  # of nodes


class Distributions:
    """The probability distributions of a tree, computed from `logits` [n, V] when they are asked
    for.

    A walk reads at most depth + 1 rows, so most of them are never turned into probabilities.
    """

    def __init__(self, logits: Logits, sampling: Sampling) -> None:
        self.logits = logits
        self.sampling = sampling
        self._rows: dict[int, np.ndarray] = {}

    def __getitem__(self, node: int) -> np.ndarray:
        if node not in self._rows:
            row = probabilities(self.logits[node], self.sampling)
            row.flags.writeable = False  # a rule that changed it would change the record
            self._rows[node] = row
        return self._rows[node]

    def all_rows(self) -> list[np.ndarray]:
        """All rows."""
        return [self[node] for node in range(len(self.logits))]

    def gather(
        self, nodes: Sequence[int], tokens: Sequence[int]
    ) -> tuple[list[float], list[float]]:
        """Probabilities of `tokens[i]` after `nodes[i]`: those of the rows, and those of the model
        at temperature 1."""
        at_temperature_1 = self._gather_at(nodes, tokens, 1.0)
        if self.sampling == Sampling():
            return at_temperature_1, at_temperature_1
        # A temperature alone needs only the sum of a row's exponentials, not the row in float64.
        if self.sampling.unfiltered and self.sampling.temperature > 0:
            return self._gather_at(nodes, tokens, self.sampling.temperature), at_temperature_1
        # Top-k and top-p look at ranks, so here whole rows are needed.
        pairs = zip(nodes, tokens, strict=True)
        return [float(self[node][token]) for node, token in pairs], at_temperature_1

    def _gather_at(
        self, nodes: Sequence[int], tokens: Sequence[int], temperature: float
    ) -> list[float]:
        """The probabilities at a temperature, in the precision of the logits."""
        values: list[float] = []
        count = max(1, CHUNK // self.logits.shape[1])
        scale = np.float32(1 / temperature)
        for i in range(0, len(nodes), count):
            # Siblings share a row, whose exponentials are taken once.
            inner = sorted(set(nodes[i : i + count]))
            row = np.searchsorted(inner, nodes[i : i + count])
            column = np.asarray(tokens[i : i + count])
            part = self.logits[inner]
            row_max = part.max(axis=1, keepdims=True)
            check_finite(row_max.sum())
            part -= row_max
            part *= scale
            exponents = part[row, column]
            values += (np.exp(exponents) / np.exp(part, out=part).sum(axis=1)[row]).tolist()
        return values


class RowWithTopTokens(np.ndarray):
    """A row [V] that came with its first tokens, `ranked`: most probable first, ties by the lower
    id."""

    ranked: list[int] = []  # noqa: RUF012  never written to; what is computed from a row has none


class Mixture(np.ndarray):
    """Rows of several drafters at one node: as an array their mean, [V]; each child is drawn from
    one of `components`.

    Attributes:
        components: the rows, float64 [V] each.
        drafters: the name of the drafter that each of them came from.
        merge: whether equal tokens that were drawn independently become one child.
        drawn_by: the component that each child came from, where some were merged away. Whoever
            draws writes it here: a rule gets the row, perhaps without its tree.
    """

    components: tuple[np.ndarray, ...] = ()
    drafters: tuple[str, ...] = ()
    merge: bool = False
    drawn_by: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls, components: Sequence[np.ndarray], drafters: Sequence[str], merge: bool = False
    ) -> Mixture:
        """The mixture of rows of which each sums to 1, or to 0 where its drafter had nothing to
        say."""
        # A drafter that had nothing to say has a row of zeros; the mean is over the others.
        speaking = [row for row in components if row.any()]
        mean = np.mean(speaking, axis=0) if speaking else np.zeros_like(components[0])
        # An array to whoever only wants the mean; what draws children looks at the components.
        mixture = mean.view(cls)
        mixture.components = tuple(components)
        mixture.drafters = tuple(drafters)
        mixture.merge = merge
        return mixture


def distributions_of(logits: Logits, sampling: Sampling, ahead: int = 1) -> Distributions:
    """The distributions of a pass, wherever its logits [n, V] are.

    Logits on a device are sent row by row as they are read, but the first `ahead` together: a
    transfer takes longer than a row, and a rule is known to read those.
    """
    rows = getattr(logits, "rows", None)
    if rows is None:
        return Distributions(logits, sampling)
    return rows(sampling, ahead)


def excess(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, float]:
    """[p - q]+, float64 [V], and its sum."""
    left = p - q
    np.maximum(left, 0.0, out=left)
    return left, float(left.sum())


def residual(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The residual distribution after a rejection, norm([p - q]+) (Leviathan et al. 2023, section
    2.3).

    Where nothing is left (p = q up to rounding, so a rejection has probability zero) p itself is
    returned.
    """
    # Without the clipping of [p - q]+ tokens that the draft proposes too often would be written
    # again here; without the division the rest would not be a distribution.
    left, total = excess(p, q)
    if total == 0:
        return p
    left *= 1 / total
    return left


def total_variation(p: np.ndarray, q: np.ndarray) -> float:
    """Half the sum of |p - q|, in [0, 1]; one minus it is the acceptance of a single draft."""
    return 0.5 * float(np.abs(p - q).sum())


def entropy(row: np.ndarray) -> float:
    """Shannon entropy of a row in nats."""
    uncertainty = np.log(np.maximum(row, TINY_PROB))
    uncertainty *= row
    return float(-uncertainty.sum())
