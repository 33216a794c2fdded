"""Trees that are planned for how sure the draft is of the next token, along the target's own texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..acceptance.along_text import ends_along, path_shares, renewals
from ..builders.sequoia import best_tree
from ..tree import Topology
from ..verifiers import VERIFIERS
from .claim import measurement
from .on_rows import WIDEST
from .workbench import MOST_TEXTS, Text, Workbench

LEVELS = 8
SURE = 0.5  # from this largest draft probability on


@measurement("counted")
def by_context(bench: Workbench, text: Text, temperature: float, nodes: int) -> dict[str, float]:
    """Tokens and passes of one tree, and of two for positions where the draft is sure and where it is not.

    All three are planned from the acceptance along other texts, which nothing else is counted on.
    """
    trees = bench.kept(("contexts", temperature, nodes), lambda: _planned(bench, temperature, nodes))
    shares, sure = _read(bench, text, temperature)
    if len(shares) <= LEVELS:
        return {}
    found = {name: _follow(pair, shares, sure) for name, pair in {"one": trees[:1] * 2, "two": trees[1:]}.items()}
    return {f"{name} {kind}": sums[i] for name, sums in found.items() for i, kind in enumerate(("tokens", "passes"))}


def _read(bench: Workbench, text: Text, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """Shares of a text, [tokens, width], and where the draft is sure, [tokens]."""
    config, written = bench.config(text, temperature), bench.written(text, temperature)
    found = path_shares(bench.pair, VERIFIERS["sequoia"](), [written], config, WIDEST)
    assert found is not None
    (shares,) = found
    return shares, np.array([row.q.max() >= SURE for row in bench.rows(text, temperature)], bool)


def _planned(bench: Workbench, temperature: float, nodes: int) -> list[Topology]:
    """The best trees for all positions, for those where the draft is not sure, and for those where it is."""
    other = replace(bench, seeds=(max(bench.seeds) + 1,), texts_each=MOST_TEXTS, _kept={})
    read = [_read(other, text, temperature) for text in other.texts()]
    chosen = ((lambda sure: sure | True), np.logical_not, (lambda sure: sure))
    return [_best([(shares, starts(sure)) for shares, sure in read], nodes) for starts in chosen]


def _best(read: list[tuple[np.ndarray, np.ndarray]], nodes: int) -> Topology:
    """The best tree for steps that begin at some positions of texts."""
    vectors = []
    for level in range(LEVELS):
        below = [shares[level:][starts[: len(starts) - level]] for shares, starts in read if len(shares) > level]
        rows = np.concatenate(below)
        vectors.append(tuple(rows.mean(0)) if len(rows) else (0.0,) * WIDEST)
    return best_tree(tuple(vectors), nodes, LEVELS, WIDEST)[0]


def _follow(trees: list[Topology], shares: np.ndarray, sure: np.ndarray) -> tuple[float, float]:
    """Expected tokens and steps of one text; a step takes the second tree where the draft is sure, else the first."""
    ends = np.zeros((2, LEVELS + 1, len(shares) - LEVELS))
    for i, tree in enumerate(trees):
        found = ends_along(tree, shares)[:, : ends.shape[2]]
        ends[i, : len(found)] = found
    return renewals(np.where(sure[: ends.shape[2]], ends[1], ends[0]))
