"""Exponential races: what a text remembers, and trees that know where they stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..builders.sequoia import best_tree
from ..theory.bounds import chain_tokens
from ..tree import Topology
from ..verifiers import VERIFIERS
from .along_text import ends_along, path_shares, renewals
from .claim import claim, measurement
from .entry import Entry, Lines, Table, compare, curves, figure, tab
from .numbers import per_pass, share, times
from .on_rows import DRAFTS, WIDEST, along
from .workbench import MOST_TEXTS, Text, Workbench

LEVELS = 8
SURE = 0.5  # from this largest draft probability on
ON_TEXT = along(trees="strategies", temperature=1.0)


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


TREES = by_context(temperature=1.0, nodes=16)


def order_1(s, k: int) -> float:
    """Tokens of a chain of k drafts where the chance of acceptance depends on whether the token before was accepted."""
    return 1 + share("accepted")(s) * chain_tokens(share("both", "before")(s), k - 1)


def closer(s) -> float:
    """By how much order 1 is nearer than order 0 to what a chain of 16 brings along the texts."""
    brought = per_pass("sequence 16")(s)
    return abs(chain_tokens(share("accepted")(s), 16) - brought) - abs(order_1(s, 16) - brought)


def chains(s) -> Lines:
    """Chains along texts and by order 0 and 1."""
    alpha = share("accepted")(s)
    ks = [k for k in DRAFTS if f"sequence {k} tokens" in s]
    series = {
        "order 0": [(k, chain_tokens(alpha, k)) for k in ks], "order 1": [(k, order_1(s, k)) for k in ks],
        "along the texts": [(k, per_pass(f"sequence {k}")(s)) for k in ks],
    }  # fmt: skip
    return curves("drafts of a chain", "tokens per pass", series, ("order 0", "order 1"))


MEMORY = (
    Entry(
        "memory", "Section 5, order 0", "Text has memory: more is accepted than order 0 predicts",
        "“The empirical performance plateaus at a higher level than predicted by the measured [acceptance], "
        "indicating higher-order Markov dependencies”: regions where target and draft agree.",
        (
            claim("A chain of 16 drafts brings more tokens along the texts than order 0 says", ON_TEXT,
                lambda s: per_pass("sequence 16")(s) - chain_tokens(share("accepted")(s), 16), ">", 0),
            claim("Behind an accepted token the next is accepted more often than on average", ON_TEXT,
                lambda s: s["both"] / s["before"] - s["accepted"] / s["positions"], ">", 0),
        ),
        (figure(chains, ON_TEXT),), (tab("acceptance"),),
    ),
    Entry(
        "section-6", "Section 6", "Acceptance that depends on the context",
        "“Our current stateless approximation of the acceptance probability function oversimplifies the contextual "
        "nature of language. Developing more context-aware approximations could yield improvements in future work.”",
        (
            claim("A chance that depends on whether the token before was accepted predicts a chain of 16 more closely",
                ON_TEXT, closer, ">", 0),
            claim("Trees of 16 nodes planned for whether the draft is sure (its largest probability at least 1/2): "
                "tokens per pass over those of one tree", TREES, times(per_pass("two"), per_pass("one")), ">", 1),
        ),
        (figure(lambda s: Table(("Trees of 16 nodes", "Tokens per pass along the texts"),
            [["one for all positions", per_pass("one")(s)], ["two, by the draft's confidence", per_pass("two")(s)]]),
                TREES),),
        (compare(("sequoia:size=16,depth=8", "sequoia"), ("dyspec:size=16", "dyspec"), temperature=1.0),),
    ),
)  # fmt: skip
