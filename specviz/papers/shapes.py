"""Shapes of trees whose tokens are counted along texts, planned from the vector that is stored for
the pair."""

from __future__ import annotations

from functools import lru_cache

from ..builders.sequoia import best_tree, falling, likeliest_tree
from ..builders.static import grow_shape
from ..record.vectors import expected_tokens, find_acceptance
from ..tree import Topology

SIZES, DEEPEST, WIDEST = (4, 8, 16, 32, 64, 128, 256, 512), 16, 32
DRAFTS = (1, 2, 4, 8, 16, 32)


def planned(temperature: float) -> tuple[float, ...]:
    """The stored vector that trees are planned with, never one of the texts that they are counted
    on."""
    return find_acceptance("exact-match" if temperature == 0 else "sequoia", temperature)


@lru_cache
def shapes(kind: str, vector: tuple[float, ...]) -> dict[str, Topology]:
    """Shapes by name: "sizes" of every kind, one "tree", "chains", or the "strategies" of the races
    paper."""
    if kind == "tree":
        return {"tree": best_tree(vector, 16, 5, WIDEST)[0]}
    if kind == "chains":
        return {f"sequence {k}": grow_shape([1] * k) for k in (1, 2, 4, 8, 16)}
    return _strategies(vector) if kind == "strategies" else _sizes(vector)


def _strategies(vector: tuple[float, ...]) -> dict[str, Topology]:
    trees: dict[str, Topology] = {}
    for k in DRAFTS:
        trees[f"batch {k}"] = grow_shape([k])
        trees[f"optimal tree {k}"] = likeliest_tree(falling(vector), k + 1, DEEPEST, WIDEST)
        if k <= DEEPEST:
            trees[f"sequence {k}"] = grow_shape([1] * k)
    return trees


def _sizes(vector: tuple[float, ...]) -> dict[str, Topology]:
    trees: dict[str, Topology] = {}
    for n in SIZES:
        trees[f"Sequoia {n}"] = best_tree(vector, n, DEEPEST, WIDEST)[0]
        lengths = {k: (n - 1) // k for k in DRAFTS}
        several = [
            grow_shape([k] + [1] * (length - 1))
            for k, length in lengths.items()
            if 1 <= length <= DEEPEST
        ]
        if several:
            trees[f"best sequences {n}"] = max(
                several, key=lambda shape: expected_tokens(shape, vector)
            )
        if n - 1 <= DEEPEST:
            trees[f"one sequence {n}"] = grow_shape([1] * (n - 1))
    return trees
