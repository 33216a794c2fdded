"""One run of a rule on a node with given p and q, try by try: a step of the real loop on a pair
with constant rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from specviz.builders.base import TreeBuilder
from specviz.config.run_config import RunConfig
from specviz.decode import speculate
from specviz.models.table import TableModel, TablePair
from specviz.record.step import Step
from specviz.sampling.randomness import Seeded
from specviz.tree import Chart
from specviz.verifiers.base import Verifier

Rows = dict[str, list[float | None]]  # by name, [V]; None where a rule recorded nothing of a token


class OrderedCoins(Seeded):
    """A seed's randomness that records the order of its coins."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.coins: list[float] = []

    def flip(self, prob: float) -> tuple[bool, float]:
        accepted, coin = super().flip(prob)
        self.coins.append(coin)
        return accepted, coin


def run_node(
    p: tuple[float, ...],
    q: tuple[float, ...],
    builder: TreeBuilder,
    rule: Verifier,
    scheme: str,
    seed: int,
) -> dict[str, Any]:
    """One run, as plain data.

    Args:
        p, q: rows of the target and of the draft at every position, [V].
        builder: of the node and its children, or of a chain.
        rule, scheme, seed: what is run.

    Returns:
        drafted: tokens in drawing order; tries: what happened to each in the order of the rule;
            emitted: the tokens
        written; corrected: whether the last of them replaces a rejected token; last: the row that
        it was drawn from.
    """
    rng = OrderedCoins(seed)
    config = RunConfig([0], builder, rule, temperature=1.0, max_new_tokens=8, seed=seed)
    step = next(speculate(_constant_pair(p, q), config, rng, scheme=scheme))
    end = step.detail.get(step.path[-1] if step.path else 0)
    return {
        "drafted": list(step.tokens[1:]),
        "tries": list(_tries(step, rule, rng.coins, len(p))),
        "emitted": list(step.emitted),
        "corrected": step.corrected,
        "last": _ordered(end.after, len(p)).get("residual") if end and not end.race else None,
    }


def _tries(step: Step, rule: Verifier, coins: list[float], size: int) -> Iterator[dict[str, Any]]:
    compared = [
        node for node, outcome in enumerate(step.outcome) if outcome not in ("root", "unreached")
    ]
    order: dict[float | None, int] = {coin: at for at, coin in enumerate(coins)}
    compared.sort(
        key=lambda node: (order.get(step.coin[node], len(order)), node)
    )  # a rule may try the leaves first
    for at, node in enumerate(compared):
        after: Rows = {}
        if step.outcome[node] == "rejected":
            following = compared[at + 1] if at + 1 < len(compared) else 0
            if following and step.parents[following] == step.parents[node]:
                after = _tried(step, following, size)
            elif detail := step.detail.get(step.parents[node]):
                after = _ordered(detail.after, size)
        yield {
            "node": node,
            "token": step.tokens[node],
            "outcome": step.outcome[node],
            "accept_prob": step.accept_prob[node],
            "coin": step.coin[node],
            "before": _tried(step, node, size),
            "after": {name: row for name, row in after.items() if name != "p"},
            "why": rule.explain(step, node),
        }


def _tried(step: Step, node: int, size: int) -> Rows:
    detail = step.detail.get(node)
    return _ordered(detail.tried, size) if detail else {}


def _ordered(chart: Chart | None, size: int) -> Rows:
    """The rows of a chart in the order of the tokens."""
    if chart is None:
        return {}
    columns = {name: dict(zip(chart.tokens, row, strict=True)) for name, row in chart.rows.items()}
    return {name: [column.get(token) for token in range(size)] for name, column in columns.items()}


def _constant_pair(p: tuple[float, ...], q: tuple[float, ...]) -> TablePair:
    with np.errstate(divide="ignore"):
        target, draft = np.log(np.array(p)), np.log(np.array(q))
    return TablePair(
        TableModel(lambda context: target),
        TableModel(lambda context: draft),
        len(p),
        (),
        "distributions typed by hand",
    )
