"""One node with given p and q, and a rule applied to it, explained try by try.

No rule is implemented again here: a run is a step of the real loop on a pair with constant distributions. The
acceptance of every rule on such a node is in `microscope_rules`. p = target, q = draft.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from specviz.builders.base import TreeBuilder
from specviz.compatibility import Compatibility, compatible
from specviz.config import RunConfig
from specviz.decode import speculate
from specviz.models.table import TableModel, TablePair
from specviz.randomness import Seeded
from specviz.record import Detail, Step
from specviz.strategy import REGISTRIES
from specviz.tree import Chart
from specviz.verifiers.base import Verifier

MOST_TOKENS, MOST_CHILDREN, MOST_LEVELS = 12, 6, 3
LARGEST, SMALLEST = 1e6, 1e-9  # a weight; a share of the sum
NAMES = "abcdefghijkl"
Ordered = dict[str, list[float | None]]  # rows by name, [V]; None where a rule kept nothing of a token


def normalised(name: str, weights: Any) -> tuple[tuple[float, ...], str]:
    """Normalise weights to a distribution; also returns a sentence on what was changed, or "".

    Args:
        name: what the row is called in sentences.
        weights: one number from 0 for each of 2 to 12 tokens.

    Raises:
        ValueError: if they are not that, or all 0.
    """
    if not isinstance(weights, list | tuple) or not 2 <= len(weights) <= MOST_TOKENS:
        raise ValueError(f"{name} must list one number for each of 2 to {MOST_TOKENS} tokens.")
    for token, weight in enumerate(weights):
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not (number and 0 <= weight <= LARGEST):
            raise ValueError(
                f"{name} of token {token + 1} must be a number from 0 to {LARGEST:.0f}; got {weight!r:.20}."
            )
    total = math.fsum(weights)
    if total == 0:
        raise ValueError(f"{name} must have at least one number greater than 0; all are 0.")
    shares = [weight / total if weight > SMALLEST * total else 0.0 for weight in weights]
    row = tuple(share / math.fsum(shares) for share in shares)
    said = "" if math.isclose(total, 1, abs_tol=1e-6) else f"{name} summed to {total:.6g}, so it was normalised."
    if any(weight > 0 and share == 0 for weight, share in zip(weights, row, strict=True)):
        said = f"{said} Shares of {name} below {SMALLEST:g} are treated as 0.".strip()
    return row, said


@dataclass(frozen=True)
class Node:
    """The node to examine: one node with its children, or a short chain with the same distributions at every level.

    Args:
        p, q: the target's and the draft's row, [V], V from 2 to 12; `normalised` makes them.
        children: k, from 1 to 6.
        levels: 1, or up to 3 for a chain of that length (children must be 1).

    Raises:
        ValueError: if one of these is out of its range.
    """

    p: tuple[float, ...]
    q: tuple[float, ...]
    children: int = 2
    levels: int = 1

    def __post_init__(self) -> None:
        for name in ("p", "q"):
            object.__setattr__(self, name, normalised(name, getattr(self, name))[0])
        if len(self.p) != len(self.q):
            raise ValueError(f"p and q must have the same number of tokens; got {len(self.p)} and {len(self.q)}.")
        for name, most in (("children", MOST_CHILDREN), ("levels", MOST_LEVELS)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise ValueError(f"{name} must be a whole number from 1 to {most}; got {value!r:.20}.")
        if self.levels > 1 and self.children > 1:
            raise ValueError(f"children must be 1 if there are several levels; got {self.children}.")

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """p and q, float64 [V] each."""
        return np.array(self.p), np.array(self.q)

    @property
    def builder(self) -> TreeBuilder:
        """The builder whose tree this is."""
        if self.children == 1:
            return REGISTRIES["builder"]["chain"](depth=self.levels)
        return REGISTRIES["builder"]["batch"](width=self.children)

    def compatible(self, rule: Verifier, scheme: str | None = None) -> Compatibility:
        """Whether a rule is compatible with this tree; None lets it choose the sampling scheme."""
        return compatible(RunConfig(builder=self.builder, verifier=rule, temperature=1.0), scheme)


@dataclass(frozen=True)
class Try:
    """One drafted token as the rule met it.

    Args:
        node: its number in the tree; token: its id.
        outcome: see `record.OUTCOMES`.
        accept_prob, coin: as in `Verdict`, None where the rule has none.
        before: the rows the rule held before it tried the token, name -> [V]; {} where it kept none.
        after: the same after the token was rejected; {} where it was accepted, or nothing is left to compare with.
        facts: further numbers the rule kept about this node.
        why: the rule's own sentence.
    """

    node: int
    token: int
    outcome: str
    accept_prob: float | None
    coin: float | None
    before: Ordered
    after: Ordered
    facts: dict[str, float]
    why: str


@dataclass(frozen=True)
class Explanation:
    """One run: the drafted tokens in drawing order, the tries in the rule's order, the tokens that were written.

    `last` is the row that the last token was drawn from, where the rule kept it; `facts` belong to the whole node.
    """

    drafted: list[int]
    tries: list[Try]
    emitted: list[int]
    corrected: bool
    last: list[float | None] | None
    facts: dict[str, float]
    races: Ordered
    step: Step


class _Remembered(Seeded):
    """A seed's randomness that remembers its coins in order."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.coins: list[float] = []

    def flip(self, prob: float) -> tuple[bool, float]:
        answer, coin = super().flip(prob)
        self.coins.append(coin)
        return answer, coin


def explain_node(
    node: Node, rule: Verifier, scheme: str | None = None, seed: int = 0, names: Sequence[str] = NAMES
) -> Explanation:
    """One step of the real loop on a pair whose rows are p and q everywhere, explained try by try.

    Args:
        scheme: how children are drawn; None lets the rule choose.
        seed: a whole number from 0.
        names: what the tokens are called, [V].

    Raises:
        ValueError: if the rule cannot work on this tree.
    """
    rng = _Remembered(seed)
    config = RunConfig([0], node.builder, rule, 1.0, max_new_tokens=node.levels + 2, seed=seed)
    step = next(speculate(_pair(node, names), config, rng, scheme=scheme))
    compared = [i for i, outcome in enumerate(step.outcome) if outcome not in ("root", "unreached")]
    turn: dict[float | None, int] = {coin: at for at, coin in enumerate(rng.coins)}
    compared.sort(key=lambda i: (turn.get(step.coin[i], len(turn)), i))  # a rule may ask the leaves first
    shown = {i: _shown(step.detail.get(i, Detail()), len(node.p)) for i in range(len(step.parents))}
    tries = []
    for at, i in enumerate(compared):
        following = compared[at + 1] if at + 1 < len(compared) else None
        after: Ordered = {}
        if step.outcome[i] == "rejected":
            if following is not None and step.parents[following] == step.parents[i]:
                after = shown[following].rows
            else:
                after = shown[step.parents[i]].last
            after = {name: row for name, row in after.items() if name != "p"}
        tries.append(
            Try(
                i, step.tokens[i], step.outcome[i], step.accept_prob[i], step.coin[i],
                shown[i].rows, after, shown[i].facts, rule.explain(step, i),
            )
        )  # fmt: skip
    end = shown[step.path[-1] if step.path else 0]
    return Explanation(
        list(step.tokens[1:]), tries, list(step.emitted), step.corrected, end.last.get("residual"),
        shown[0].facts, end.races, step,
    )  # fmt: skip


def _pair(node: Node, names: Sequence[str]) -> TablePair:
    with np.errstate(divide="ignore"):
        logits = [np.log(row) for row in node.rows]
    target, draft = (TableModel(partial(_everywhere, row)) for row in logits)
    pair = _Named(target, draft, len(node.p), (), "distributions typed by hand")
    pair.names = names
    return pair


def _everywhere(row: np.ndarray, context: tuple[int, ...]) -> np.ndarray:
    return row


class _Named(TablePair):
    """A pair whose tokens have names."""

    names: Sequence[str] = NAMES

    def piece(self, token: int) -> str:
        return self.names[token]


@dataclass(frozen=True)
class _Shown:
    """What a rule kept about one node, its rows in the order of the tokens."""

    rows: Ordered
    last: Ordered
    facts: dict[str, float]
    races: Ordered


def _shown(detail: Detail, size: int) -> _Shown:
    def ordered(chart: Chart | None) -> Ordered:
        if chart is None:
            return {}
        return {
            name: [dict(zip(chart.tokens, row, strict=True)).get(token) for token in range(size)]
            for name, row in chart.rows.items()
        }

    races = {name: ordered(chart)["times"] for name, chart in detail.race.items()}
    return _Shown(ordered(detail.tried), ordered(detail.after if not detail.race else None), dict(detail.facts), races)
