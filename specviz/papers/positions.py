"""What both models say at single positions of the target's own texts, as sums for each text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..proof.bounds import (
    bretagnolle_huber_bound,
    cross_entropy,
    entropy_estimate,
    pinsker_bound,
    race_acceptance,
)
from ..proof.node import specinfer_acceptance
from ..proof.rates import accepted_within
from ..sampling.distributions import entropy
from ..sampling.randomness import Seeded
from ..verifiers import VERIFIERS
from .number import Sums, measurement
from .workbench import Row, Text, Workbench

WIDTHS = (1, 2, 3, 4, 5, 8, 16, 32)
RULES = ("sequoia", "specinfer", "spectr", "target-match", "race")
LONGEST = 40  # drafted tokens in a row: the longest draft of SVIP's figure 2
CERTAIN = 0.05  # nats of entropy below which a draft counts as certain
C = 0.15  # of the estimate, as in SVIP's code


def moments(name: str, weight: np.ndarray, x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """The sums that a correlation follows from."""
    kinds = {"": np.ones(len(x)), "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
    return {f"{name} {kind}".strip(): float(weight @ values) for kind, values in kinds.items()}


def total(rows: Iterable[Row], values: Callable[[Row], dict[str, Any]]) -> Sums:
    """The sums over rows of what a function gives for each; {} without rows."""
    sums: Counter[str] = Counter()
    for row in rows:
        sums.update(values(row))
    return sums


@measurement("counted")
def rejection(workbench: Workbench, text: Text, **settings: Any) -> Sums:
    """How often every rule rejects all k children, at every second position."""
    rows = workbench.rows(text, **settings)[::2]
    rng = Seeded(text.seed)
    widths = [k for k in WIDTHS if k <= workbench.pair.vocab_size]
    sums = {"positions": float(len(rows))}
    for name in RULES if rows else ():
        rule = VERIFIERS[name]()
        accepted = np.zeros(len(widths))
        for position, row in enumerate(rows, 1):
            accepted += accepted_within(rule, row.p, row.q, widths, rng, position)
        for k, value in zip(widths, accepted, strict=True):
            sums[f"{name} {k}"] = len(rows) - value
    return sums if rows else {}


@measurement("counted")
def uncertainty(workbench: Workbench, text: Text, temperature: float) -> Sums:
    """The draft's entropy at temperature 1 against acceptance and the length accepted from there
    on."""
    rows = workbench.rows(text, draft_temperature=1.0, temperature=temperature)
    if not rows:
        return {}
    entropies = np.array([entropy(row.q) for row in rows])
    if temperature == 0:
        acceptance = np.array([float(row.q.argmax() == row.token) for row in rows])
        token_acceptance = acceptance
    else:
        acceptance = np.array([np.minimum(row.p, row.q).sum() for row in rows]).clip(max=1)
        token_acceptance = np.array([row.q[row.token] / row.p[row.token] for row in rows]).clip(
            max=1
        )
    starts = max(0, len(rows) - LONGEST + 1)  # positions with so much text behind them
    length = np.array(
        [np.cumprod(token_acceptance[at : at + LONGEST]).sum() for at in range(starts)]
    )
    certain = entropies[:starts] < CERTAIN
    return {
        **moments("acceptance", np.ones(len(rows)), entropies, acceptance),
        **moments("length", np.ones(starts), entropies[:starts], length),
        "certain": certain.sum(),
        "certain length": length[certain].sum(),
    }


@measurement("counted")
def bounds(workbench: Workbench, text: Text, temperature: float) -> Sums:
    """SVIP's bounds of the acceptance and the ratio of cross-entropy and entropy, position by
    position."""

    def at_row(row: Row) -> dict[str, float]:
        draft_entropy = entropy(row.q)
        cross = cross_entropy(row.q, row.p)
        finite = math.isfinite(cross)  # else Pinsker's bound says nothing
        kl = max(0.0, cross - draft_entropy)
        acceptance = min(1.0, float(np.minimum(row.p, row.q).sum()))
        estimate = max(0.0, entropy_estimate(draft_entropy, C))
        pinsker = pinsker_bound(kl)
        has_ratio = finite and draft_entropy > 1e-3
        return {
            "positions": 1,
            "under": estimate <= acceptance,
            "estimate off": abs(acceptance - estimate),
            "bound off": acceptance - max(0.0, pinsker),
            "pinsker gap": acceptance - pinsker if finite else 0.0,
            "huber gap": acceptance - bretagnolle_huber_bound(kl) if finite else 0.0,
            "ratios": has_ratio,
            "1 to 1.3": has_ratio and 1 <= cross / draft_entropy <= 1.3,
        }

    return total(workbench.rows(text, temperature=temperature), at_row)


@measurement("counted")
def agreement(workbench: Workbench, text: Text, temperature: float) -> Sums:
    """The draft's probability of a drafted token against the target's and against its acceptance,
    over all drafts."""

    def at_row(row: Row) -> dict[str, float]:
        drafted = row.q > 1e-6
        q, p = row.q[drafted], row.p[drafted]
        accepted = np.minimum(p, q)
        return moments("target", q, q, p) | {
            "likely": q[q >= 0.5].sum(),
            "likely accepted": accepted[q >= 0.5].sum(),
            "unlikely": q[q < 0.1].sum(),
            "unlikely accepted": accepted[q < 0.1].sum(),
        }

    return total(workbench.rows(text, temperature=temperature), at_row)


@measurement("counted")
def raced(workbench: Workbench, text: Text, temperature: float) -> Sums:
    """The first race: run, in closed form, and its ceiling 1 - TV."""
    rng = Seeded(text.seed)
    positions = iter(range(workbench.tokens))

    def at_row(row: Row) -> dict[str, float]:
        noise = rng.noise(next(positions), len(row.p))
        with np.errstate(divide="ignore"):
            winners = np.argmin(noise / row.p), np.argmin(noise / row.q)
        return {
            "positions": 1,
            "won": winners[0] == winners[1],
            "exact": race_acceptance(row.p, row.q),
            "ceiling": np.minimum(row.p, row.q).sum(),
        }

    return total(workbench.rows(text, temperature=temperature), at_row)


@measurement("counted")
def transport(workbench: Workbench, text: Text, temperature: float, k: int) -> Sums:
    """What traversal accepts of k independent drafts at one node, which is SpecInfer's acceptance
    there, and the most that any rule can: 1 + min over H of p(H) - q(H)^k, where H need only begin
    with the least p / q (Hu et al. 2025)."""

    def at_row(row: Row) -> dict[str, float]:
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(row.p / row.q)  # where both are 0 it does not matter
        inside = np.cumsum(row.p[order]) - np.cumsum(row.q[order]) ** k
        return {
            "positions": 1,
            "traversal": specinfer_acceptance(row.p, row.q, k).sum(),
            "optimum": 1 + min(0.0, inside.min()),
        }

    return total(workbench.rows(text, temperature=temperature), at_row)
