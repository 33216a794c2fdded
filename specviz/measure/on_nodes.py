"""Single nodes: every rule on the same distributions of a text, and draft probability against
acceptance.

`on_text` measures acceptance by rank; here it is how often all k children are rejected. p = target,
q = draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..config.run_config import RunConfig
from ..models.base import Pair
from ..proof.node import transport_acceptance
from ..proof.rates import accepted_within
from ..sampling.children import most_probable
from ..sampling.randomness import Randomness, Seeded
from ..verifiers import VERIFIERS
from .intervals import share_interval
from .on_text import NO_TEXT
from .positions import Node, levels_on_text
from .texts import AnyText, Text, text_of

WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
Reader = Callable[[Pair, Text, RunConfig], Iterable[Node]]
Rates = dict[str, tuple[float | None, ...]]


@dataclass(frozen=True)
class RejectionRates:
    """How often all k children of a node are rejected, for each rule (Sequoia, figure 3).

    Args:
        widths: k.
        rates: rule -> a rate for each width, None where the rule takes no such number of children.
        low, high: intervals at 95 % with texts as the unit, in the same form; None where there was
            one text only.
        floors: the rate no rule can go below, for "iid" children by optimal transport and for the
            draft's "top" ones.
        positions, temperature, draft_temperature: what was measured.
    """

    widths: tuple[int, ...]
    rates: Rates
    low: Rates
    high: Rates
    floors: Rates
    positions: int
    temperature: float
    draft_temperature: float | None


def rejection_rates(
    pair: Pair,
    texts: Sequence[AnyText],
    config: RunConfig,
    widths: Sequence[int] = WIDTHS,
    read: Reader = levels_on_text,
) -> RejectionRates:
    """Measure all rules at once, at every position but the last where the drafter proposes
    anything.

    Args:
        pair, texts, config: as for `measure_acceptance`.
        widths: rising numbers of children; those beyond the vocabulary are left out.
        read: gives the rows at every position of a text.
    """
    widths = tuple(width for width in widths if width <= pair.vocab_size)
    greedy = config.temperature == 0
    sums, counts, sources = [], [], []
    for number, text in enumerate(map(text_of, texts)):
        rng = Seeded(
            config.seed_after(number)
        )  # noise is keyed by position: texts with one seed would share it
        nodes = [
            _node(p, rows[0], widths, rng, start + 1, greedy)
            for start, p, rows in read(pair, text, config)
            if rows[0].any()
        ]
        if nodes:
            sums.append({rule: np.sum([node[rule] for node in nodes], axis=0) for rule in nodes[0]})
            counts.append(len(nodes))
            sources.append(text.source or f"text {number}")
    if not sums:
        raise ValueError(NO_TEXT)
    rates: Rates = {}
    low: Rates = {}
    high: Rates = {}
    for rule in sums[0]:
        rejected = [
            [count - text[rule][i] for text, count in zip(sums, counts, strict=True)]
            for i in range(len(widths))
        ]
        rates[rule] = tuple(
            None if np.isnan(each).any() else max(0.0, float(sum(each) / sum(counts)))
            for each in rejected
        )
        ends = [
            (None, None) if np.isnan(each).any() else share_interval(each, counts, sources)
            for each in rejected
        ]
        low[rule], high[rule] = zip(*ends, strict=True)
    floors = {
        name: rates.pop(f"floor {name}") for name in ("iid", "top") if f"floor {name}" in rates
    }
    low, high = ({rule: ends[rule] for rule in rates} for ends in (low, high))
    return RejectionRates(
        widths, rates, low, high, floors, sum(counts), config.temperature, config.draft_temperature
    )


def _node(
    p: np.ndarray,
    q: np.ndarray,
    widths: Sequence[int],
    rng: Randomness,
    position: int,
    greedy: bool,
) -> dict[str, np.ndarray]:
    """The acceptance of every rule at one node for every width, nan where a rule takes no such
    width; and the floors.

    At temperature 0 (`greedy`) every rule looks for the one token among the draft's most probable
    ones.
    """
    accepted = {
        name: accepted_within(rule(), p, q, widths, rng, position)
        for name, rule in VERIFIERS.items()
        if rule.is_built_in() and not rule.autoregressive and rule.greedy_only == greedy
    }
    floors = {} if greedy else {"floor iid": transport_acceptance(p, q, widths)}
    return (
        accepted
        | floors
        | {"floor top": np.cumsum(p[most_probable(q, widths[-1])])[np.array(widths) - 1]}
    )


@dataclass(frozen=True)
class DraftUncertainty:
    """Draft probability and acceptance, as columns over the positions of texts.

    Args:
        draft_prob, target_prob: q and p of a token drawn from q; min(1, p / q) is its chance.
        acceptance: 1 - TV, the chance that one drafted token is accepted.
    """

    draft_prob: tuple[float, ...]
    target_prob: tuple[float, ...]
    acceptance: tuple[float, ...]


def draft_uncertainty(pair: Pair, texts: Sequence[AnyText], config: RunConfig) -> DraftUncertainty:
    """Measure it at every position where the drafter proposes anything; arguments as for
    `rejection_rates`."""
    rng, rows = Seeded(config.seed), []
    for text in texts:
        for _, p, levels in levels_on_text(pair, text, config):
            if (q := levels[0]).any():
                token = rng.draw(q)
                rows.append(
                    (float(q[token]), float(p[token]), min(1.0, float(np.minimum(p, q).sum())))
                )
    if not rows:
        raise ValueError(NO_TEXT)
    return DraftUncertainty(*zip(*rows, strict=True))
