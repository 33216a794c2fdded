"""Search for the smallest tree on which a rule that is declared lossless is wrong.

Every small tree with small fractions is enumerated, then some larger ones; `greedy` does the same
at temperature 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import gcd

import numpy as np

from ..config.run_config import RunConfig, compatible
from ..config.strategy import BUILDERS, SCHEMES, VERIFIERS
from ..tree import Topology
from ..verifiers.base import Verifier
from .counterexample import (
    Counterexample,
    Parents,
    Row,
    Rows,
    Search,
    failure_text,
    fits,
    normalised,
)
from .enumerate import enumerate_tree
from .greedy import search_greedy
from .lossless import Row as TableRow

SHAPES: tuple[Parents, ...] = ((-1, 0), (-1, 0, 0), (-1, 0, 1), (-1, 0, 0, 0), (-1, 0, 1, 2))
DEEP: tuple[Parents, ...] = (
    (-1, 0, 0, 1),
    (-1, 0, 0, 2),
    (-1, 0, 1, 1),
    (-1, 0, 0, 1, 3),
    (-1, 0, 1, 2, 2),
)
DENOMINATORS = {2: 6, 3: 4}  # tokens -> the largest one of a row
ROUNDING = 1e-9


@dataclass(frozen=True)
class SearchCase:
    """A search for a tree on which a rule is wrong, as a line of the table.

    Args:
        verifier: menu name of the rule.
        greedy: whether it is tried at temperature 0, else above it.
    """

    verifier: str
    greedy: bool

    def prove(self) -> TableRow:
        """What was found; no runs where nothing is declared."""
        rule = VERIFIERS[self.verifier]()
        found = search_greedy(rule) if self.greedy else search_drawn(rule)
        return TableRow(
            builder="small trees",
            verifier=self.verifier,
            scheme="any" if self.greedy else "declared",
            temperature=0.0 if self.greedy else 1.0,
            error=found.error,
            runs=found.trees,
            drafter="given rows",
            counterexample=found.counterexample,
        )


def find_counterexample(rule: Verifier) -> Counterexample | None:
    """The first tree in order of size on which a rule is wrong, above temperature 0 or at it.

    Args:
        rule: the rule, with the children for which `compatible` declares it lossless.
    """
    return search_drawn(rule).counterexample or search_greedy(rule).counterexample


def search_drawn(rule: Verifier) -> Search:
    """Enumerate a rule above temperature 0 on small trees, up to the first on which it is wrong.

    Nothing is tried of a rule that works at temperature 0 only, that is declared lossy, or whose
    noise is keyed by position and cannot be enumerated.
    """
    tried = 0
    largest = 0.0
    if rule.greedy_only or rule.shared_noise or not rule.lossless:
        return Search(tried, largest, None)
    for parents, p, q in _small_trees():
        if not fits(rule, parents):
            continue
        shape = Topology(parents)
        levels = int(shape.depth.max())
        targets = _by_depth(p, levels)
        drafts = _by_depth(q, levels)
        for scheme in _lossless_schemes(rule, shape):
            tried += 1
            example = Counterexample(rule.name, scheme, parents, p, q)
            try:
                outcome = enumerate_tree(rule, shape, targets, drafts, scheme)
            except Exception as error:
                return Search(tried, np.nan, replace(example, failure=failure_text(error)))
            largest = float(np.maximum(largest, outcome.deviation))
            if outcome.deviation <= ROUNDING:
                continue
            # Wrong, or NaN, for which no comparison is true: the text that shows it most, and the
            # exact chance that the target itself writes it.
            text = outcome.worst
            target = Fraction(1)
            for depth, token in enumerate(text):
                target *= p[min(depth, len(p) - 1)][token]
            example = replace(example, text=text, probability=outcome.texts[text], target=target)
            return Search(tried, largest, example)
    return Search(tried, largest, None)


def _by_depth(rows: Rows, levels: int) -> np.ndarray:
    """The row of each depth, float64 [depths, V]."""
    return np.array(rows if len(rows) > 1 else rows * levels, float)


def _lossless_schemes(rule: Verifier, shape: Topology) -> list[str]:
    """The schemes for which a rule is declared lossless on trees like this one."""
    builder = BUILDERS["chain"]()
    if shape.rank.any():  # a node has siblings
        builder = BUILDERS["batch"](width=2)
    config = RunConfig(builder=builder, verifier=rule, temperature=1.0)
    return [scheme for scheme in SCHEMES if compatible(config, scheme).lossless]


def _small_trees() -> Iterator[tuple[Parents, Rows, Rows]]:
    """Trees in order of size, each with p and q by depth; a single row stands for every depth."""
    yield from _trees_with_one_row()
    yield from _trees_with_a_row_a_level()
    yield from _larger_trees()


def _trees_with_one_row() -> Iterator[tuple[Parents, Rows, Rows]]:
    """All of these shapes and fractions: by drafted nodes, tokens, then denominators."""
    for parents, (tokens, largest) in product(SHAPES, DENOMINATORS.items()):
        rows = {size: [*_fractions(tokens, size)] for size in range(1, largest + 1)}
        for size, of_p, of_q in product(rows, rows, rows):
            if max(of_p, of_q) != size:
                continue
            # The order of the tokens means nothing, so p falls.
            falling = [p for p in rows[of_p] if list(p) == sorted(p, reverse=True)]
            for p, q in product(falling, rows[of_q]):
                yield parents, (p,), (q,)


def _trees_with_a_row_a_level() -> Iterator[tuple[Parents, Rows, Rows]]:
    """Small trees with halves; they show rules that mix up the levels."""
    few = [*_fractions(2, 1), *_fractions(2, 2)]
    for parents in SHAPES[:3]:
        levels = max(Topology(parents).depth)
        for p in product(few, repeat=levels + 1):
            for q in product(few, repeat=levels):
                yield parents, p, q


def _larger_trees() -> Iterator[tuple[Parents, Rows, Rows]]:
    """Trees with branches below branches, with random fractions."""
    # The same trees every time, so that a counterexample can be looked up again.
    generator = np.random.default_rng(0)

    def random_rows(count: int, tokens: int) -> Rows:
        weights = generator.integers(1, 5, (count, tokens))
        return tuple(map(normalised, weights.tolist()))

    for parents in DEEP:
        levels = max(Topology(parents).depth)
        for tokens in (2, 2, 2, 3):
            yield parents, random_rows(levels + 1, tokens), random_rows(levels, tokens)


def _fractions(tokens: int, size: int) -> Iterator[Row]:
    """Every row of so many tokens with this denominator and no smaller one."""
    for parts in product(range(size + 1), repeat=tokens):
        if sum(parts) == size and gcd(*parts) == 1:
            yield tuple(Fraction(part, size) for part in parts)
