"""The next two tokens after a prompt, sampled many times with speculation and with plain decoding, beside their exact
distribution.

Every draw is real. The distributions they are drawn from are read from the models once for each text (`CachedPair`)
where the drafter allows it. The exact probability of two tokens is p(a) p(b | a), from the target alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

import numpy as np

from .. import RunConfig, compatible, speculate
from ..distributions import probabilities, total_variation
from ..models.base import Pair
from ..models.cached import CachedPair
from ..session import DecodingSession, prompt_tokens
from .enumerate import Text

RUNS = 1000
BARS = 10  # texts with a bar of their own
REPORT_EVERY = 20  # runs between two reports
DEPTH = 3  # tokens a run may write: trees of two levels, and the token after them
MAX_EXCESS = 3.1  # standard deviations of a chi-square: by chance once in a thousand
BINS = 40  # texts are counted together until a bin expects this part of all


@dataclass(frozen=True)
class Sampled:
    """Counts of the next two tokens.

    Args:
        runs, of: how many runs were made of either kind, of how many.
        pieces: the most probable texts, and "" for all others.
        exact: their probabilities under the target.
        speculated, plain: how often each was written.
        passes: passes of the target that were made for all runs; None where each run made its own.
    """

    runs: int
    of: int
    pieces: tuple[str, ...]
    exact: tuple[float, ...]
    speculated: tuple[int, ...]
    plain: tuple[int, ...]
    passes: int | None = None

    @property
    def expected(self) -> float:
        """The distance that exact samples have on average, at most: half the sum of sqrt(p (1 - p) / runs)."""
        p = np.array(self.exact)
        return 0.5 * float(np.sqrt(p * (1 - p) / max(self.runs, 1)).sum())

    def distance(self, counts: tuple[int, ...]) -> float:
        """The total variation distance of counted texts from the exact distribution."""
        return total_variation(np.array(counts) / max(self.runs, 1), np.array(self.exact))

    def deviates(self, counts: tuple[int, ...]) -> bool:
        """Whether counts are farther off than exact samples are once in a thousand times (chi-square)."""
        return self.runs > 0 and chi_square_excess(np.array(counts, dtype=float), np.array(self.exact)) > MAX_EXCESS


def sampling(pair: Pair, config: RunConfig, runs: int = RUNS) -> Iterator[Sampled]:
    """Sample the next two tokens, each run with its own seed; the last report is the result.

    Args:
        pair: the models.
        config: prompt, builder, rule, drafter and how to sample; how many tokens it writes does not matter.
        runs: how many, of either kind.

    Raises:
        ValueError: as `speculate` does.

    >>> result = list(sampling(specviz.toy_pair(), specviz.RunConfig("ab", "sequoia:size=8"), runs=100))[-1]
    >>> result.runs, sum(result.speculated), result.deviates(result.speculated)
    (100, 100, False)
    """
    config = replace(config, max_new_tokens=DEPTH)
    compatible(config).required()
    source = cached = cast(Any, CachedPair(pair, prompt_tokens(pair, config)))
    try:
        DecodingSession(source, config, config.drafter if config.builder.reads_draft else None)
    except NotImplementedError:  # the drafter reads more of the target than its distributions
        source = pair
    texts = exact_texts(cached, config)
    texts[()] = 1 - sum(texts.values())  # all others
    exact = tuple(prob if prob > 1e-9 else 0.0 for prob in texts.values())
    pieces = tuple(pair.decode(list(text)) for text in texts)
    speculated, plain = dict.fromkeys(texts, 0), dict.fromkeys(texts, 0)
    for turn in range(runs + 1):
        if turn % REPORT_EVERY == 0 or turn == runs or source is pair:
            passes = None if source is pair else cached.target.passes
            yield Sampled(turn, runs, pieces, exact, tuple(speculated.values()), tuple(plain.values()), passes)
        if turn < runs:
            # Never one seed for both, since keyed rules follow it.
            seed, other = (config.seed_after(2 * turn + more) for more in (1, 2))
            for counts, models, settings in (
                (speculated, source, replace(config, seed=seed)),
                (plain, cached, replace(config.autoregressive(), seed=other)),
            ):
                tokens = (token for step in speculate(models, settings) for token in step.emitted)
                text = tuple(islice(tokens, 2))
                counts[text if text in texts else ()] += 1


def chi_square_excess(counts: np.ndarray, p: np.ndarray) -> float:
    """How many standard deviations too large the chi-square of counts is (Wilson and Hilferty 1931).

    Args:
        counts: of each outcome, [n].
        p: the distribution that they should have, [n].
    """
    order = np.argsort(-p, kind="stable")
    mass = np.cumsum(p[order])
    bins = np.minimum((mass - p[order] / 2) * BINS, BINS - 1).astype(int)
    expected, observed = (np.bincount(bins, values[order], BINS) for values in (p * counts.sum(), counts))
    if observed[expected == 0].any():
        return np.inf
    observed, expected = observed[expected > 0], expected[expected > 0]
    freedom = len(expected) - 1
    if freedom == 0:
        return 0.0
    square = float(((observed - expected) ** 2 / expected).sum())
    spread = 2 / (9 * freedom)
    return ((square / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5


def exact_texts(pair: CachedPair, config: RunConfig) -> dict[Text, float]:
    """The most probable next two tokens and their probabilities p(a) p(b | a); one token where it ends the text.

    First tokens are looked at, most probable first, until none that is left can be in a more probable text.

    Args:
        pair: the models on the prompt.
        config: how the target's logits become rows.
    """
    p = probabilities(pair.target.logits(pair.prompt), config.target_sampling)
    order = np.argsort(-p, kind="stable")[: np.count_nonzero(p)].tolist()
    best: dict[Text, float] = {}
    for first in order:
        if len(best) == BARS and p[first] <= min(best.values()):
            break
        if first in pair.eos_ids:
            best[first,] = float(p[first])
        else:
            after = probabilities(pair.target.logits([*pair.prompt, first]), config.target_sampling)
            for second in np.argsort(-after, kind="stable")[:BARS].tolist():
                if after[second] > 0:
                    best[first, second] = float(p[first] * after[second])
        best = dict(sorted(best.items(), key=lambda item: -item[1])[:BARS])
    return best
