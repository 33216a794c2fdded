"""Single nodes: every rule on the same distributions of a text, and draft entropy against acceptance.

`on_text` measures acceptance by rank; here it is how often all k children are rejected. p = target, q = draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from ..codec import InfiniteAsNull
from ..config import RunConfig
from ..distributions import entropy
from ..metrics import share_interval
from ..models.base import Pair
from ..randomness import Randomness, Seeded
from ..sampling import most_probable
from ..strategy import built_in
from ..theory.bounds import cross_entropy
from ..theory.node import transport_acceptance
from ..theory.rates import accepted_within
from ..verifiers import VERIFIERS
from .on_text import NO_TEXT
from .positions import Node, levels_on_text
from .texts import AnyText, Text, seed_of, text_of

WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
LONGEST = 16  # drafted tokens
Reader = Callable[[Pair, Text, RunConfig], Iterable[Node]]
Rates = dict[str, tuple[float | None, ...]]


@dataclass(frozen=True)
class RejectionRates:
    """How often all k children of a node are rejected, for each rule (Sequoia, figure 3).

    Args:
        widths: k.
        rates: rule -> a rate for each width, None where the rule takes no such number of children.
        low, high: intervals at 95 % with texts as the unit, in the same form; None where there was one text only.
        floors: the rate no rule can go below, for "iid" children by optimal transport and for the draft's "top" ones.
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
    """Measure all rules at once.

    Args:
        pair: the models.
        texts: token ids; every position but the last is measured where the drafter proposes anything.
        config: temperatures, top-p, top-k and seed.
        widths: rising numbers of children; those beyond the vocabulary are left out.
        read: gives the rows at every position of a text.

    Raises:
        ValueError: if no text has two tokens, or the pair has no draft.
    """
    widths = tuple(width for width in widths if width <= pair.vocab_size)
    greedy = config.temperature == 0
    sums, counts, sources = [], [], []
    for number, text in enumerate(map(text_of, texts)):
        rng = Seeded(seed_of(config, number))  # noise is keyed by position: texts with one seed would share it
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
            [count - text[rule][i] for text, count in zip(sums, counts, strict=True)] for i in range(len(widths))
        ]
        rates[rule] = tuple(
            None if np.isnan(each).any() else max(0.0, float(sum(each) / sum(counts))) for each in rejected
        )
        ends = [(None, None) if np.isnan(each).any() else share_interval(each, counts, sources) for each in rejected]
        low[rule], high[rule] = zip(*ends, strict=True)
    floors = {name: rates.pop(f"floor {name}") for name in ("iid", "top") if f"floor {name}" in rates}
    low, high = ({rule: ends[rule] for rule in rates} for ends in (low, high))
    return RejectionRates(
        widths, rates, low, high, floors, sum(counts), config.temperature, config.draft_temperature
    )  # fmt: skip


def _node(
    p: np.ndarray, q: np.ndarray, widths: Sequence[int], rng: Randomness, position: int, greedy: bool
) -> dict[str, np.ndarray]:
    """The acceptance of every rule at one node for every width, nan where a rule takes no such width; and the floors.

    At temperature 0 (`greedy`) every rule looks for the one token among the draft's most probable ones.
    """
    accepted = {
        name: accepted_within(rule(), p, q, widths, rng, position)
        for name, rule in VERIFIERS.items()
        if built_in(rule) and not rule.alone and rule.greedy_only == greedy
    }
    floors = {} if greedy else {"floor iid": transport_acceptance(p, q, widths)}
    return accepted | floors | {"floor top": np.cumsum(p[most_probable(q, widths[-1])])[np.array(widths) - 1]}


@dataclass(frozen=True)
class DraftUncertainty:
    """Draft entropy and acceptance, as columns over the positions of texts.

    Args:
        entropy: H(q) in nats.
        cross_entropy: H(q, p) in nats; infinite where the target excludes what the draft may draw.
        acceptance: 1 - TV, the chance that one drafted token is accepted.
        draft_prob, target_prob: q and p of a token drawn from q; min(1, p / q) is its own chance.
        accepted_length: tokens that a chain of at most `LONGEST` drafted here would bring before the first rejection,
            expected; unbiased only on the target's own text, drawn with the same settings. None where the text ends
            earlier.
    """

    entropy: tuple[float, ...]
    cross_entropy: tuple[InfiniteAsNull, ...]
    acceptance: tuple[float, ...]
    draft_prob: tuple[float, ...]
    target_prob: tuple[float, ...]
    accepted_length: tuple[float | None, ...]


def draft_uncertainty(pair: Pair, texts: Sequence[AnyText], config: RunConfig) -> DraftUncertainty:
    """Measure draft entropy and acceptance at every position; arguments and errors as for `rejection_rates`."""
    rng = Seeded(config.seed)
    columns: dict[str, list[Any]] = {name: [] for name in DraftUncertainty.__dataclass_fields__}
    for text in map(text_of, texts):
        ratios, proposes = [], []  # min(1, q / p) of the text's next token; whether the drafter proposes anything
        for start, p, rows in levels_on_text(pair, text, config):
            q, following = rows[0], text.tokens[start + 1]
            proposes.append(bool(q.any()))
            ratios.append(min(1.0, float(q[following] / p[following])) if p[following] > 0 else 0.0)
            if not proposes[-1]:
                continue
            token = rng.draw(q)
            columns["entropy"].append(entropy(q))
            columns["cross_entropy"].append(cross_entropy(q, p))
            columns["acceptance"].append(min(1.0, float(np.minimum(p, q).sum())))
            columns["draft_prob"].append(float(q[token]))
            columns["target_prob"].append(float(p[token]))
        columns["accepted_length"] += compress(_lengths(ratios), proposes)
    if not columns["entropy"]:
        raise ValueError(NO_TEXT)
    return DraftUncertainty(**{name: tuple(values) for name, values in columns.items()})


def _lengths(ratios: Sequence[float]) -> Iterable[float | None]:
    """Expected accepted length at each position: the sum over j of the product of the next j ratios.

    The chance that a chain drawn from q survives j tokens is the mean, over texts drawn from p, of the product of
    min(1, q / p): both are the sum of products of min(p, q).
    """
    ahead = (ratios[begin : begin + LONGEST] for begin in range(len(ratios)))
    return [float(np.cumprod(part).sum()) if len(part) == LONGEST else None for part in ahead]
