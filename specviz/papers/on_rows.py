"""What both models say at every position of the target's own texts, as sums for each text.

Trees are planned from the vector that is stored for the pair, never from the texts that they are counted on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice

import numpy as np

from ..acceptance.along_text import ends_along, path_shares, renewals
from ..acceptance.on_nodes import rates_so_far
from ..acceptance.positions import Node, levels_on_text
from ..acceptance.progress import whole
from ..acceptance.text_units import positions_of
from ..acceptance.vectors import expected_tokens, find_acceptance
from ..builders.sequoia import best_tree, falling, likeliest_tree
from ..builders.static import grow_shape
from ..config import RunConfig
from ..distributions import entropy
from ..models.base import Pair
from ..randomness import Seeded
from ..theory.accepted_index_entropy import race_index_entropy, rejection_index_entropy
from ..theory.bounds import (
    bretagnolle_huber_bound,
    coupling_bound,
    cross_entropy,
    entropy_estimate,
    harmonic_bound,
    kl_divergence,
    pinsker_bound,
    race_acceptance,
)
from ..tree import Topology
from ..verifiers import VERIFIERS
from .claim import measurement
from .workbench import Text, Workbench

WIDTHS = (1, 2, 3, 4, 5, 8, 16, 32)
RULES = ("sequoia", "specinfer", "spectr", "target-match", "naive", "race")
SIZES, DEEPEST, WIDEST = (4, 8, 16, 32, 64, 128, 256, 512), 16, 32
DRAFTS = (1, 2, 4, 8, 16, 32)
LONGEST = 40  # drafted tokens in a row: the longest draft of SVIP's figure 2
DOUBTS = (0.0, 0.05, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf)  # entropies in nats
SHARES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0)
C = 0.15  # of the estimate, as in SVIP's code
EVERY = 8  # positions that the entropy of an index is found at
LARGE = 128  # tokens of a vocabulary from which the index is too long to be enumerated


@measurement("counted")
def rejection(bench: Workbench, text: Text, temperature: float, top_p: float = 1.0) -> dict[str, float]:
    """How often every rule rejects all k children."""
    written = bench.written(text, temperature, top_p)
    if not positions_of(written):
        return {}
    config = bench.config(text, temperature, top_p=top_p)
    rates = whole(rates_so_far(bench.pair, [written], config, WIDTHS, _every_second))
    columns = {
        f"{rule} {k}": rate * rates.positions
        for rule in RULES
        for k, rate in zip(rates.widths, rates.rates[rule], strict=True)
        if rate is not None
    }
    return {"positions": rates.positions} | columns


def _every_second(pair: Pair, text: Sequence[int], config: RunConfig) -> Iterable[Node]:
    return islice(levels_on_text(pair, text, config), 0, None, 2)


# ---- shapes along a text ----


@lru_cache
def shapes(kind: str, vector: tuple[float, ...]) -> dict[str, Topology]:
    """Shapes by name: "sizes" of every kind, one "tree", or the "strategies" of the races paper."""
    if kind == "tree":
        return {"tree": best_tree(vector, 16, 5, WIDEST)[0]}
    if kind == "chains":
        return {f"sequence {k}": grow_shape([1] * k) for k in (1, 2, 4, 8, 16)}
    found: dict[str, Topology] = {}
    if kind == "strategies":
        falls = falling(vector)
        for k in DRAFTS:
            found[f"batch {k}"] = grow_shape([k])
            found[f"optimal tree {k}"] = likeliest_tree(falls, k + 1, DEEPEST, WIDEST)
            if k <= DEEPEST:
                found[f"sequence {k}"] = grow_shape([1] * k)
            if 5 <= k <= 3 * DEEPEST:  # three sequences with two tokens in common
                found[f"SpecInfer tree {k}"] = grow_shape([1, 1, 3] + [1] * ((k - 2) // 3 - 1))
        return found
    for n in SIZES:
        found[f"Sequoia {n}"] = best_tree(vector, n, DEEPEST, WIDEST)[0]
        several = [
            grow_shape([k] + [1] * ((n - 1) // k - 1)) for k in (1, 2, 4, 8, 16, 32) if 1 <= (n - 1) // k <= DEEPEST
        ]
        if several:
            found[f"best sequences {n}"] = max(several, key=lambda shape: expected_tokens(shape, vector))
        found[f"4-ary {n}"] = grow_shape([4] * _levels(n, 4)) if n > 4 else grow_shape([n - 1])
        if n - 1 <= DEEPEST:
            found[f"one sequence {n}"] = grow_shape([1] * (n - 1))
        if n - 1 <= WIDEST:
            found[f"one level {n}"] = grow_shape([n - 1])
    return found


def _levels(size: int, width: int) -> int:
    """Levels of the largest full tree of at most `size` nodes."""
    levels, nodes = 0, 1
    while nodes + width ** (levels + 1) <= size:
        levels, nodes = levels + 1, nodes + width ** (levels + 1)
    return levels


def planned(temperature: float) -> tuple[float, ...]:
    """The stored vector that trees are planned with."""
    return find_acceptance("exact-match" if temperature == 0 else "sequoia", temperature)


@measurement("counted")
def along(
    bench: Workbench, text: Text, trees: str, temperature: float, rule: str = "sequoia", top_p: float = 1.0
) -> dict[str, float]:
    """Tokens and passes that shapes bring along a text, in expectation over the drafts."""
    config = bench.config(text, temperature, top_p=top_p)
    drawn = shapes(trees, planned(temperature))
    width = max(int(shape.rank.max()) + 1 for shape in drawn.values())
    found = path_shares(bench.pair, VERIFIERS[rule](), [bench.written(text, temperature, top_p)], config, width)
    if found is None:
        raise ValueError(f"rule must have shares along a text; got {rule!r}.")
    (shares,) = found
    if len(shares) <= DEEPEST:
        return {}
    columns = {}
    for name, shape in drawn.items():
        columns[f"{name} tokens"], columns[f"{name} passes"] = renewals(ends_along(shape, shares))
    first = shares[:, 0]
    columns |= {f"rank {k}": chance for k, chance in enumerate(shares.sum(0), 1)}
    return columns | {
        "accepted": first.sum(), "positions": len(first),
        "before": first[:-1].sum(), "both": (first[:-1] * first[1:]).sum(),
    }  # fmt: skip


# ---- single positions ----


def moments(name: str, weight: np.ndarray, x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """The sums that a correlation follows from."""
    kinds = {"": np.ones(len(x)), "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
    return {f"{name} {kind}".strip(): float((weight * values).sum()) for kind, values in kinds.items()}


@measurement("counted")
def uncertainty(bench: Workbench, text: Text, temperature: float) -> dict[str, float]:
    """The draft's entropy at temperature 1 against acceptance and the length accepted from there on."""
    greedy = temperature == 0
    rows = bench.rows(text, temperature, draft_temperature=1.0)
    if not rows:
        return {}
    doubt = np.array([entropy(row.q) for row in rows])
    if greedy:
        share = np.array([float(row.q.argmax() == row.token) for row in rows])
        taken = share
    else:
        share = np.array([min(1.0, float(np.minimum(row.p, row.q).sum())) for row in rows])
        taken = np.array([min(1.0, float(row.q[row.token] / row.p[row.token])) for row in rows])
    enough = max(0, len(rows) - LONGEST + 1)  # positions with so much text behind them
    length = np.array([np.cumprod(taken[at : at + LONGEST]).sum() for at in range(enough)])
    place = np.searchsorted(DOUBTS, doubt, side="right") - 1
    columns = moments("acceptance", np.ones(len(rows)), doubt, share)
    columns |= moments("length", np.ones(enough), doubt[:enough], length)
    for group in range(len(DOUBTS) - 1):
        inside = place == group
        columns |= {
            f"n {group}": inside.sum(),
            f"x {group}": doubt[inside].sum(),
            f"share {group}": share[inside].sum(),
        }
        columns |= {f"m {group}": inside[:enough].sum(), f"length {group}": length[inside[:enough]].sum()}
    return columns


@measurement("counted")
def bounds(bench: Workbench, text: Text, temperature: float) -> dict[str, float]:
    """SVIP's bounds of the acceptance and the ratio of cross-entropy and entropy, position by position."""
    rows = bench.rows(text, temperature)
    names = ("positions", "share", "pinsker", "huber", "tighter", "finite", "ratios", "below 1", "1 to 1.3")
    columns = dict.fromkeys((*names, "estimate", "under", "estimate off", "bound off"), 0.0)
    for row in rows:
        own, cross = entropy(row.q), cross_entropy(row.q, row.p)
        share = min(1.0, float(np.minimum(row.p, row.q).sum()))
        estimate = max(0.0, entropy_estimate(own, C))
        columns["positions"] += 1
        columns["estimate"] += estimate
        columns["under"] += estimate <= share
        columns["estimate off"] += abs(share - estimate)
        pinsker = pinsker_bound(max(0.0, cross - own)) if math.isfinite(cross) else -math.inf
        columns["bound off"] += share - max(0.0, pinsker)
        if math.isfinite(cross):
            huber = bretagnolle_huber_bound(max(0.0, cross - own))
            columns["finite"] += 1
            columns["share"] += share
            columns["pinsker"] += pinsker
            columns["huber"] += huber
            columns["tighter"] += pinsker > huber
            if own > 1e-3:
                columns["ratios"] += 1
                columns["below 1"] += cross / own < 1
                columns["1 to 1.3"] += 1 <= cross / own <= 1.3
    return columns if rows else {}


@measurement("counted")
def agreement(bench: Workbench, text: Text, temperature: float) -> dict[str, float]:
    """The draft's probability of a drafted token against the target's and against its acceptance, over all drafts."""
    columns: dict[str, float] = {}
    for row in bench.rows(text, temperature):
        kept = row.q > 1e-6
        q, p = row.q[kept], row.p[kept]
        accepted = np.minimum(1.0, p / q)
        joint, _, _ = np.histogram2d(q, accepted, (SHARES, (0, 0.2, 0.4, 0.6, 0.8, 1.0)), weights=q)
        place = np.clip(np.searchsorted(SHARES, q, side="right") - 1, 0, len(SHARES) - 2)
        found = moments("target", q, q, p) | moments("accepted", q, q, accepted)
        found |= {f"{i}.{j}": joint[i, j] for i in range(joint.shape[0]) for j in range(joint.shape[1])}
        for i in range(len(SHARES) - 1):
            inside = place == i
            found |= {
                f"w {i}": q[inside].sum(),
                f"q {i}": (q * q)[inside].sum(),
                f"a {i}": (q * accepted)[inside].sum(),
            }
        columns = {name: columns.get(name, 0.0) + value for name, value in found.items()}
    return columns


@measurement("counted")
def raced(bench: Workbench, text: Text, temperature: float) -> dict[str, float]:
    """The first race: run, in closed form, and between its bounds."""
    rng, columns = Seeded(text.seed), dict.fromkeys(("positions", "won", "exact", "lemma", "coupling", "ceiling"), 0.0)
    rows = bench.rows(text, temperature)
    for at, row in enumerate(rows):
        noise = rng.noise(at, len(row.p))
        with np.errstate(divide="ignore"):
            columns["won"] += int(np.argmin(noise / row.p)) == int(np.argmin(noise / row.q))
        columns["exact"] += race_acceptance(row.p, row.q)
        columns["lemma"] += harmonic_bound(row.p, row.q)
        columns["coupling"] += coupling_bound(row.p, row.q)
        columns["ceiling"] += float(np.minimum(row.p, row.q).sum())
        columns["positions"] += 1
    return columns if rows else {}


@measurement("counted")
def index_entropy(bench: Workbench, text: Text, temperature: float) -> dict[str, float]:
    """Divergence and entropy of the accepted index in bits, and what the entropy exceeds the bounds' first terms by."""
    found = []
    for row in bench.rows(text, temperature)[::EVERY]:
        kl = kl_divergence(row.p, row.q) / math.log(2)
        if math.isfinite(kl):
            index = (rejection_index_entropy(row.p, row.q), race_index_entropy(row.p, row.q))
            found.append((kl, *(value / math.log(2) for value in index)))
    if not found:
        return {}
    kl, rejected, raced = np.array(found).T
    columns = moments("GSD", np.ones(len(kl)), kl, rejected - kl - 2 * np.log2(kl + 1))
    columns |= {"KL": kl.sum(), "H GSD": rejected.sum(), "H ERSD": raced.sum()}
    return columns | {"bound": (kl + np.log2(kl + 1) + 4).sum(), "positions": len(kl)}
