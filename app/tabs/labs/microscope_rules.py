"""The exact acceptance and output distribution of every rule on one node.

Both are computed by running the rule under every random outcome (`small_node`). If there are too many, a closed form
(`FORMS`) is used, and the result says so. p = target, q = draft.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from specviz.compatibility import Compatibility
from specviz.distributions import total_variation
from specviz.proof.enumerate import Shape, enumerate_node
from specviz.sampling import most_probable
from specviz.strategy import REGISTRIES
from specviz.theory import node as node_theory
from specviz.theory.forms import FORMS
from specviz.verifiers.base import Verifier

from .microscope import Node

MOST_RUNS = 20_000  # of one rule, by the estimate of `expected_runs`


@dataclass(frozen=True)
class Row:
    """The acceptance and output distribution of one rule on a node.

    Args:
        accepted: the expected number of accepted tokens, which is a probability where there is one level; None where
            the rule cannot work here or the outcomes are too many.
        ceiling: what no lossless rule passes with children drawn by this scheme.
        proof: "enumeration", "closed form" or "" where there is no number; runs: how many outcomes were enumerated.
        texts: the exact distribution of the first `levels` tokens, text -> probability; None where it was not
            enumerated.
        deviation: its largest difference from the target's own distribution.
    """

    rule: str
    title: str
    match: Compatibility
    accepted: float | None = None
    ceiling: float | None = None
    proof: str = ""
    runs: int = 0
    texts: dict[tuple[int, ...], float] | None = None
    deviation: float | None = None


def compare(node: Node, scheme: str | None = None) -> list[Row]:
    """A row for every rule of the menu, each with its default parameters.

    Args:
        scheme: how children are drawn; None lets each rule choose.
    """
    return [examine(node, cls(), scheme) for cls in REGISTRIES["verifier"].values() if not cls.alone]


def examine(node: Node, rule: Verifier, scheme: str | None = None) -> Row:
    """What one rule accepts and writes, exactly."""
    match = node.compatible(rule, scheme)
    row = Row(rule.name, rule.title, match)
    if not match.possible:
        return row
    row = replace(row, ceiling=ceiling(node, match.scheme))
    if rule.shared_noise:  # the winner of a race E / p has the law p, whatever its children are
        return replace(
            row, accepted=_keyed(node, match.scheme), proof="closed form", texts=own_law(node), deviation=0.0
        )
    if expected_runs(node, match.scheme) <= MOST_RUNS:
        return _enumerated(row, node, rule)
    forms = FORMS.get(rule.name)
    if forms is None or forms.acceptance is None or match.scheme != rule.schemes[0] or node.levels > 1:
        return row
    if match.scheme == "distinct" and math.perm(len(node.q), node.children - 1) > MOST_RUNS:
        return row
    return replace(row, accepted=float(forms.acceptance(*node.rows, node.children).sum()), proof="closed form")


def _enumerated(row: Row, node: Node, rule: Verifier) -> Row:
    found = enumerate_node(rule, *node.rows, Shape(node.children, node.levels), row.match.scheme)
    return replace(
        row, accepted=found.accepted, proof="enumeration", runs=found.runs, texts=found.texts,
        deviation=found.deviation,
    )  # fmt: skip


def own_law(node: Node) -> dict[tuple[int, ...], float]:
    """The target's own distribution of the first `levels` tokens, text -> probability."""
    return {
        text: math.prod(node.p[token] for token in text) for text in product(range(len(node.p)), repeat=node.levels)
    }


def expected_runs(node: Node, scheme: str) -> int:
    """About how many outcomes an enumeration would visit: every draft, and for each a few coins and the last token."""
    size, offered, k = len(node.q), sum(share > 0 for share in node.q), node.children
    if scheme == "iid" or node.levels > 1:
        drafts = 1 if scheme == "top" else offered ** (k * node.levels)
    elif scheme == "distinct":
        drafts = math.perm(offered, min(k, offered)) * math.perm(size - offered, max(0, min(k, size) - offered))
    else:
        drafts = 1
    return drafts * node.levels * (k + size)


# ---- closed forms ----


def ceiling(node: Node, scheme: str) -> float:
    """The most tokens that any lossless rule can expect to accept with children drawn by `scheme`.

    At one node it is the solution of the optimal-transport problem. Along a chain it is the sum of 1 - TV between the
    two models' laws of the first 1, 2, ... tokens, which no coupling passes and which need not be reached.
    """
    p, q = node.rows
    fixed = most_probable(q, node.children)
    if node.levels > 1:
        q = np.eye(len(q))[fixed[0]] if scheme == "top" else q
        target, draft, total = np.ones(1), np.ones(1), 0.0
        for _ in range(node.levels):
            target, draft = np.outer(target, p).ravel(), np.outer(draft, q).ravel()
            total += 1 - total_variation(target, draft)
        return total
    if scheme == "top":
        return float(p[fixed].sum())
    if scheme == "iid":
        return float(node_theory.transport_acceptance(p, q, node.children)[0])
    k = min(node.children, len(q) if scheme == "distinct" else int((q > 0).sum()))
    return node_theory.transport_acceptance_of(p, node_theory.distinct_sets(q, k))


def _keyed(node: Node, scheme: str) -> float:
    """Accepted tokens of a rule that follows the target's own race."""
    p, q = node.rows
    k = min(node.children, len(q))
    match scheme:
        case "race":
            share = node_theory.race_acceptance(p, q, k)
        case "iid":
            share = float(p @ (1 - (1 - q) ** node.children))
        case "top":
            share = float(p[most_probable(q, k)].sum())
        case _:  # the race knows nothing of children that were drawn apart from it
            sets = node_theory.distinct_sets(q, k)
            share = sum(weight * float(p[list(children)].sum()) for children, weight in sets.items())
    return sum(share**level for level in range(1, node.levels + 1))
