"""Single nodes: every rule on the same distributions of a text, and draft entropy against acceptance.

Unlike `on_text`, which measures one rule with one number of children, the curves here are of all rules and numbers of
children in one pass over the text. p = target, q = draft.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import isfinite
from statistics import median
from typing import Any

import numpy as np

from ..codec import InfiniteAsNull
from ..config import RunConfig
from ..distributions import entropy
from ..metrics import Interval, share_interval
from ..models.base import Pair
from ..randomness import Randomness, Seeded
from ..sampling import most_probable
from ..strategy import built_in
from ..theory.bounds import cross_entropy
from ..theory.node import transport_acceptance
from ..theory.rates import accepted_within
from ..verifiers import VERIFIERS
from ..verifiers.base import Verifier
from .positions import Reader, levels_on_text
from .progress import SoFar, whole
from .text_units import sources

WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


@dataclass(frozen=True)
class RejectionRates:
    """How often all k children of a node are rejected, for each rule (Sequoia, figure 3).

    Args:
        widths: k.
        rates: rule -> a rate for each width, None where the rule takes no such number of children.
        low, high: intervals at 95 % with texts as the unit, in the same form; None where there was one text only.
        floors: the rate no rule can go below, for "iid" children by optimal transport and for the draft's "top" ones.
        methods: rule -> how the rate was found.
        positions, temperature, draft_temperature: what was measured.
    """

    widths: tuple[int, ...]
    rates: dict[str, tuple[float | None, ...]]
    low: dict[str, tuple[float | None, ...]]
    high: dict[str, tuple[float | None, ...]]
    floors: dict[str, tuple[float | None, ...]]
    methods: dict[str, str]
    positions: int
    temperature: float
    draft_temperature: float | None


def rejection_rates(
    pair: Pair,
    texts: Sequence[Sequence[int]],
    config: RunConfig,
    widths: Sequence[int] = WIDTHS,
) -> RejectionRates:
    """`rates_so_far` to their end."""
    return whole(rates_so_far(pair, texts, config, widths))


def rates_so_far(
    pair: Pair,
    texts: Sequence[Sequence[int]],
    config: RunConfig,
    widths: Sequence[int] = WIDTHS,
    read: Reader = levels_on_text,
) -> Iterator[SoFar[RejectionRates]]:
    """Measure all rules at once, text by text; stop iterating to stop it.

    Args:
        pair: the models.
        texts: token ids; every position of each of them but the last is measured where the drafter has anything to say.
        config: temperatures, top-p, top-k and seed.
        widths: rising numbers of children, no more than the vocabulary holds.
        read: gives the rows at every position of a text.

    Returns:
        Texts done, of how many, and what they say together; nothing before there was a position.

    Raises:
        ValueError: if no text has two tokens, or the pair has no draft.
    """
    widths = tuple(width for width in widths if width <= pair.vocab_size)
    parts: list[RejectionRates] = []
    measured: list[Sequence[int]] = []
    greedy = config.temperature == 0
    for done, text in enumerate(texts, 1):
        rng = Seeded(config.seed + done - 1)  # noise is keyed by position, so texts with one seed would share it
        rows = ((start, p, levels[0]) for start, p, levels in read(pair, text, config))
        if found := [_node(p, q, widths, rng, start + 1, greedy) for start, p, q in rows if q.any()]:
            parts.append(_rates(found, widths, config))
            measured.append(text)
        if parts:
            yield SoFar(done, len(texts), rates_together(parts, measured))
    if not parts:
        raise ValueError("text to calibrate on must have at least two tokens. Use a longer text.")


def _rates(found: Sequence[dict[str, np.ndarray]], widths: tuple[int, ...], config: RunConfig) -> RejectionRates:
    """The rates over the nodes of one text, which alone gives no interval."""
    rates: dict[str, tuple[float | None, ...]] = {}
    for rule in found[0]:
        accepted = np.mean([rows[rule] for rows in found], axis=0)
        rates[rule] = tuple(None if np.isnan(share) else min(1.0, max(0.0, 1 - float(share))) for share in accepted)
    floors = {name.removeprefix("floor "): rates.pop(name) for name in list(rates) if name.startswith("floor ")}
    methods = {name: _method(VERIFIERS[name]) for name in rates}
    none: dict[str, tuple[float | None, ...]] = {rule: (None,) * len(widths) for rule in rates}
    return RejectionRates(
        widths, rates, none, none, floors, methods, len(found), config.temperature, config.draft_temperature
    )  # fmt: skip


def _method(rule: type[Verifier]) -> str:
    """How a rule's rates are found: over every child, over drawn children and every coin, or run by run."""
    if rule.shared_noise:
        return "counted"
    return "exact" if rule.schemes[0] == "top" else "expected over coins, children drawn"


def rates_together(parts: Sequence[RejectionRates], texts: Sequence[Any]) -> RejectionRates:
    """Rejection rates over several texts, each measured alone; those with one source count as one text."""
    counts = [part.positions for part in parts]

    def columns(side: str, rule: str) -> list[list[float] | None]:
        """For each width how often every text rejects, None where the rule takes no such width."""
        each = zip(*(getattr(part, side)[rule] for part in parts), strict=True)
        return [
            None if None in rates else [rate * count for rate, count in zip(rates, counts, strict=True)]
            for rates in each
        ]

    def means(side: str) -> dict[str, tuple[float | None, ...]]:
        return {
            rule: tuple(None if hits is None else sum(hits) / sum(counts) for hits in columns(side, rule))
            for rule in getattr(parts[0], side)
        }

    def interval(hits: list[float] | None) -> Interval:
        return (None, None) if hits is None else share_interval(hits, counts, sources(texts))

    ends = {rule: list(zip(*map(interval, columns("rates", rule)), strict=True)) for rule in parts[0].rates}
    low, high = ({rule: end[side] for rule, end in ends.items()} for side in (0, 1))
    return replace(parts[0], rates=means("rates"), low=low, high=high, floors=means("floors"), positions=sum(counts))


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
    """Draft entropy and acceptance, as columns over the positions of a text.

    Args:
        entropy: H(q) in nats.
        cross_entropy: H(q, p) in nats; infinite where the target excludes what the draft may draw.
        acceptance: 1 - TV, the chance that one drafted token is accepted.
        draft_prob, target_prob: q and p of a token drawn from q; min(1, p / q) is its own chance.
        accepted_length: tokens that a chain of at most `LONGEST` drafted here would bring before the first rejection,
            expected; unbiased only on the target's own text, drawn with the same settings. None where the text does
            not go on so far: what would have followed is not known.
    """

    entropy: tuple[float, ...]
    cross_entropy: tuple[InfiniteAsNull, ...]
    acceptance: tuple[float, ...]
    draft_prob: tuple[float, ...]
    target_prob: tuple[float, ...]
    accepted_length: tuple[float | None, ...]

    @property
    def ratios(self) -> tuple[float, ...]:
        """H(q, p) / H(q) where both are finite and the draft is in some doubt (SVIP, figure 3)."""
        pairs = zip(self.cross_entropy, self.entropy, strict=True)
        return tuple(cross / own for cross, own in pairs if own > 1e-6 and isfinite(cross))

    @property
    def c(self) -> float:
        """This pair's own factor in 1 - sqrt(c H(q)): half of what the median ratio exceeds 1 by (SVIP, equation 6)."""
        return max(0.0, (median(self.ratios) - 1) / 2) if self.ratios else 0.0


LONGEST = 16


def draft_uncertainty(
    pair: Pair, texts: Sequence[Sequence[int]], config: RunConfig, read: Reader = levels_on_text
) -> DraftUncertainty:
    """`uncertainty_so_far` to its end."""
    return whole(uncertainty_so_far(pair, texts, config, read))


def uncertainty_so_far(
    pair: Pair, texts: Sequence[Sequence[int]], config: RunConfig, read: Reader = levels_on_text
) -> Iterator[SoFar[DraftUncertainty]]:
    """Measure it at every position of texts, text by text; arguments, results and errors as for `rates_so_far`."""
    rng = Seeded(config.seed)
    columns: dict[str, list[Any]] = {name: [] for name in DraftUncertainty.__dataclass_fields__}
    for done, text in enumerate(texts, 1):
        shares = []  # min(1, q / p) of the token that the text has next
        spoke = []  # whether the drafter had anything to say
        for start, p, levels in read(pair, text, config):
            q, following = levels[0], text[start + 1]
            spoke.append(bool(q.any()))
            shares.append(min(1.0, float(q[following] / p[following])) if p[following] > 0 else 0.0)
            if not spoke[-1]:
                continue
            token = rng.draw(q)
            columns["entropy"].append(entropy(q))
            columns["cross_entropy"].append(cross_entropy(q, p))
            columns["acceptance"].append(min(1.0, float(np.minimum(p, q).sum())))
            columns["draft_prob"].append(float(q[token]))
            columns["target_prob"].append(float(p[token]))
        columns["accepted_length"] += compress(_lengths(shares), spoke)
        if columns["entropy"]:
            yield SoFar(done, len(texts), DraftUncertainty(**{name: tuple(values) for name, values in columns.items()}))
    if not columns["entropy"]:
        raise ValueError("text to calibrate on must have at least two tokens. Use a longer text.")


def _lengths(shares: Sequence[float]) -> Iterable[float | None]:
    """Expected accepted length at each position: the sum over j of the product of the next j shares.

    The chance that a chain drawn from q survives j tokens is the mean, over texts drawn from p, of the product of
    min(1, q / p): both are the sum of products of min(p, q). Near its end a text holds fewer shares than that.
    """
    ahead = (shares[begin : begin + LONGEST] for begin in range(len(shares)))
    return [float(np.cumprod(part).sum()) if len(part) == LONGEST else None for part in ahead]
