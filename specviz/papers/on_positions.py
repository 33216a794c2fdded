"""What both models say at single positions of the target's own texts, as sums for each text."""

from __future__ import annotations

import math

import numpy as np

from ..proof.bounds import (
    bretagnolle_huber_bound,
    cross_entropy,
    entropy_estimate,
    pinsker_bound,
    race_acceptance,
)
from ..proof.rates import accepted_within
from ..sampling.distributions import entropy
from ..sampling.randomness import Seeded
from ..verifiers import VERIFIERS
from .workbench import Text, Workbench, measurement

WIDTHS = (1, 2, 3, 4, 5, 8, 16, 32)
RULES = ("sequoia", "specinfer", "spectr", "target-match", "naive", "race")
LONGEST = 40  # drafted tokens in a row: the longest draft of SVIP's figure 2
ENTROPIES = (0.0, 0.05, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf)  # in nats
EDGES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0)
C = 0.15  # of the estimate, as in SVIP's code


def moments(name: str, weight: np.ndarray, x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """The sums that a correlation follows from."""
    kinds = {"": np.ones(len(x)), "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
    return {
        f"{name} {kind}".strip(): float((weight * values).sum()) for kind, values in kinds.items()
    }


@measurement("counted")
def rejection(
    bench: Workbench, text: Text, temperature: float, top_p: float = 1.0
) -> dict[str, float]:
    """How often every rule rejects all k children, at every second position."""
    rows = bench.rows(text, temperature, top_p)[::2]
    rng, widths = Seeded(text.seed), [k for k in WIDTHS if k <= bench.pair.vocab_size]
    if not rows:
        return {}
    sums = {"positions": float(len(rows))}
    for name in RULES:
        rule = VERIFIERS[name]()
        accepted = np.sum(
            [accepted_within(rule, row.p, row.q, widths, rng, i + 1) for i, row in enumerate(rows)],
            0,
        )
        sums |= {
            f"{name} {k}": len(rows) - value for k, value in zip(widths, accepted, strict=True)
        }
    return sums


@measurement("counted")
def uncertainty(bench: Workbench, text: Text, temperature: float) -> dict[str, float]:
    """The draft's entropy at temperature 1 against acceptance and the length accepted from there
    on."""
    rows = bench.rows(text, temperature, draft_temperature=1.0)
    if not rows:
        return {}
    entropies = np.array([entropy(row.q) for row in rows])
    if temperature == 0:
        acceptance = token_acceptance = np.array(
            [float(row.q.argmax() == row.token) for row in rows]
        )
    else:
        acceptance = np.array([min(1.0, float(np.minimum(row.p, row.q).sum())) for row in rows])
        token_acceptance = np.array(
            [min(1.0, float(row.q[row.token] / row.p[row.token])) for row in rows]
        )
    starts = max(0, len(rows) - LONGEST + 1)  # positions with so much text behind them
    length = np.array(
        [np.cumprod(token_acceptance[at : at + LONGEST]).sum() for at in range(starts)]
    )
    is_certain = entropies[:starts] < ENTROPIES[1]
    return {
        **moments("acceptance", np.ones(len(rows)), entropies, acceptance),
        **moments("length", np.ones(starts), entropies[:starts], length),
        "m 0": is_certain.sum(),
        "length 0": length[is_certain].sum(),
    }


@measurement("counted")
def bounds(bench: Workbench, text: Text, temperature: float) -> dict[str, float]:
    """SVIP's bounds of the acceptance and the ratio of cross-entropy and entropy, position by
    position."""
    rows = bench.rows(text, temperature)
    names = (
        "positions",
        "share",
        "pinsker",
        "huber",
        "ratios",
        "1 to 1.3",
        "under",
        "estimate off",
        "bound off",
    )
    sums = dict.fromkeys(names, 0.0)
    for row in rows:
        draft_entropy, cross = entropy(row.q), cross_entropy(row.q, row.p)
        acceptance = min(1.0, float(np.minimum(row.p, row.q).sum()))
        estimate, finite = max(0.0, entropy_estimate(draft_entropy, C)), math.isfinite(cross)
        pinsker = pinsker_bound(max(0.0, cross - draft_entropy)) if finite else -math.inf
        sums["positions"] += 1
        sums["under"] += estimate <= acceptance
        sums["estimate off"] += abs(acceptance - estimate)
        sums["bound off"] += acceptance - max(0.0, pinsker)
        if finite:
            sums["share"] += acceptance
            sums["pinsker"] += pinsker
            sums["huber"] += bretagnolle_huber_bound(max(0.0, cross - draft_entropy))
            if draft_entropy > 1e-3:
                sums["ratios"] += 1
                sums["1 to 1.3"] += 1 <= cross / draft_entropy <= 1.3
    return sums if rows else {}


@measurement("counted")
def agreement(bench: Workbench, text: Text, temperature: float) -> dict[str, float]:
    """The draft's probability of a drafted token against the target's and against its acceptance,
    over all drafts."""
    sums: dict[str, float] = {}
    for row in bench.rows(text, temperature):
        drafted = row.q > 1e-6
        q, p = row.q[drafted], row.p[drafted]
        place = np.clip(np.searchsorted(EDGES, q, side="right") - 1, 0, len(EDGES) - 2)
        update = moments("target", q, q, p)
        for i in range(len(EDGES) - 1):
            inside = place == i
            update |= {
                f"w {i}": q[inside].sum(),
                f"a {i}": (q * np.minimum(1.0, p / q))[inside].sum(),
            }
        sums = {name: sums.get(name, 0.0) + value for name, value in update.items()}
    return sums


@measurement("counted")
def raced(bench: Workbench, text: Text, temperature: float) -> dict[str, float]:
    """The first race: run, in closed form, and its ceiling 1 - TV."""
    rng, sums = Seeded(text.seed), dict.fromkeys(("positions", "won", "exact", "ceiling"), 0.0)
    rows = bench.rows(text, temperature)
    for at, row in enumerate(rows):
        noise = rng.noise(at, len(row.p))
        with np.errstate(divide="ignore"):
            sums["won"] += int(np.argmin(noise / row.p)) == int(np.argmin(noise / row.q))
        sums["exact"] += race_acceptance(row.p, row.q)
        sums["ceiling"] += float(np.minimum(row.p, row.q).sum())
        sums["positions"] += 1
    return sums if rows else {}
