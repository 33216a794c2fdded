"""What both models say at single positions of the target's own texts, as sums for each text."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from functools import wraps

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
from ..sampling.ceiling import ceiling
from ..sampling.distributions import entropy
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


def of_rows(at_row: Callable[..., dict[str, float]]) -> Callable[..., Sums]:
    """Register a measurement that adds up what a function gives for every row of a text; {} for a
    text without rows."""

    @measurement("counted")
    @wraps(at_row)
    def total(
        workbench: Workbench,
        text: Text,
        temperature: float,
        top_p: float = 1.0,
        **arguments: int,
    ) -> Sums:
        sums: dict[str, float] = defaultdict(float)
        for row in workbench.rows(text, temperature=temperature, top_p=top_p):
            for name, value in at_row(row, **arguments).items():
                sums[name] += float(value)  # numpy's truth values add up to a truth value
        return sums

    return total


@of_rows
def rejection(row: Row) -> dict[str, float]:
    """How often every rule rejects all k children, at every second position."""
    # Every second position: rules with many children take long, and neighbours are alike.
    if row.place % 2:
        return {}
    sums = {"positions": 1.0}
    widths = [k for k in WIDTHS if k <= len(row.p)]
    for name in RULES:
        within = accepted_within(VERIFIERS[name](), row.p, row.q, widths, row.rng, row.place + 1)
        for k, accepted in zip(widths, within, strict=True):
            sums[f"{name} {k}"] = 1 - accepted
    return sums


@measurement("counted")
def uncertainty(workbench: Workbench, text: Text, temperature: float) -> Sums:
    """The draft's entropy at temperature 1 against acceptance and the length accepted from there
    on."""
    rows = workbench.rows(text, draft_temperature=1.0, temperature=temperature)
    if not rows:
        return {}
    entropies = np.array([entropy(row.q) for row in rows])
    if temperature == 0:  # the drafted token is the most probable one: accepted or not
        acceptance = np.array([float(row.q.argmax() == row.token) for row in rows])
        of_token = acceptance
    else:
        acceptance = np.array([row.overlap for row in rows])
        of_token = np.array([min(1.0, row.q[row.token] / row.p[row.token]) for row in rows])
    starts = max(0, len(rows) - LONGEST + 1)  # positions with so much text behind them
    length = np.array([np.cumprod(of_token[at : at + LONGEST]).sum() for at in range(starts)])
    certain = entropies[:starts] < CERTAIN
    return {
        **moments("acceptance", np.ones(len(rows)), entropies, acceptance),
        **moments("length", np.ones(starts), entropies[:starts], length),
        "certain": certain.sum(),
        "certain length": length[certain].sum(),
    }


@of_rows
def bounds(row: Row) -> dict[str, float]:
    """SVIP's bounds of the acceptance, and the ratio of cross-entropy and entropy."""
    draft_entropy = entropy(row.q)
    cross = cross_entropy(row.q, row.p)
    finite = math.isfinite(cross)  # else Pinsker's bound says nothing
    kl = max(0.0, cross - draft_entropy)
    estimate = max(0.0, entropy_estimate(draft_entropy, C))
    pinsker = pinsker_bound(kl)
    has_ratio = finite and draft_entropy > 1e-3
    return {
        "positions": 1,
        "under": estimate <= row.overlap,
        "estimate off": abs(row.overlap - estimate),
        "bound off": row.overlap - max(0.0, pinsker),
        "pinsker gap": row.overlap - pinsker if finite else 0.0,
        "huber gap": row.overlap - bretagnolle_huber_bound(kl) if finite else 0.0,
        "ratios": has_ratio,
        "1 to 1.3": has_ratio and 1 <= cross / draft_entropy <= 1.3,
    }


@of_rows
def agreement(row: Row) -> dict[str, float]:
    """The draft's probability of a drafted token against the target's and against its acceptance,
    over all drafts."""
    # A token that is drafted once in a million times would weigh nothing, and cost time.
    drafted = row.q > 1e-6
    q, p = row.q[drafted], row.p[drafted]
    accepted = np.minimum(p, q)
    return moments("target", q, q, p) | {
        "likely": q[q >= 0.5].sum(),
        "likely accepted": accepted[q >= 0.5].sum(),
        "unlikely": q[q < 0.1].sum(),
        "unlikely accepted": accepted[q < 0.1].sum(),
    }


@of_rows
def raced(row: Row) -> dict[str, float]:
    """The first race: run, in closed form, and its ceiling 1 - TV."""
    # The least of noise / probability wins; the draft and the target race with the same noise.
    noise = row.rng.noise(row.place, len(row.p))
    with np.errstate(divide="ignore"):
        won = np.argmin(noise / row.p) == np.argmin(noise / row.q)
    exact = race_acceptance(row.p, row.q)
    return {"positions": 1, "won": won, "exact": exact, "ceiling": row.overlap}


@of_rows
def transport(row: Row, k: int) -> dict[str, float]:
    """What traversal accepts of k independent drafts at one node, which is SpecInfer's acceptance
    there, and the most that any rule can."""
    traversal = specinfer_acceptance(row.p, row.q, k).sum()
    return {
        "positions": 1,
        "traversal": traversal,
        "optimum": ceiling(row.p, row.q, k, "iid"),
    }
