"""The next two tokens after a prompt, sampled many times with speculation and with plain decoding,
beside their exact distribution.

Every draw is real. The distributions they are drawn from are read from the models once for each
text, where the drafter allows it. The exact probability of two tokens is p(a) p(b | a), from the
target alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from ..config.run_config import RunConfig, compatible
from ..decode import speculate
from ..decode.session import DecodingSession, prompt_tokens
from ..models.base import Pair, Session
from ..models.table import TableSession
from ..sampling.distributions import probabilities, total_variation
from ..tree import TokenTree
from .enumerate import Text

RUNS = 1000
BARS = 10  # texts with a bar of their own
REPORT_EVERY = 20  # runs between two reports
MAX_NUMBERS = 1 << 26  # of all rows of one model that are kept, at most 512 MB


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
        """The distance that exact samples have on average."""
        errors = self._exact_samples() / max(self.runs, 1) - np.array(self.exact)
        return 0.5 * float(np.abs(errors).sum(axis=1).mean())

    def _exact_samples(self) -> np.ndarray:
        """Counts that exact samples would give, drawn ten thousand times: no table of a
        distribution is needed."""
        return np.random.default_rng(0).multinomial(self.runs, self.exact, 10_000)

    def distance(self, counts: tuple[int, ...]) -> float:
        """The total variation distance of counted texts from the exact distribution."""
        return total_variation(np.array(counts) / max(self.runs, 1), np.array(self.exact))

    def deviates(self, counts: tuple[int, ...]) -> bool:
        """Whether the chi-square of counts is larger than that of 999 in 1,000 exact samples."""
        samples = self._exact_samples()
        expected = self.runs * np.array(self.exact)
        # Infinite where the impossible was written.
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = np.nansum((np.vstack([counts, samples]) - expected) ** 2 / expected, axis=1)
        return bool(squares[0] > np.quantile(squares[1:], 0.999))


def sampling(pair: Pair, config: RunConfig, runs: int = RUNS) -> Iterator[Sampled]:
    """Sample the next two tokens, each run with its own seed; the last report is the result.

    Args:
        pair: the models.
        config: prompt, builder, rule, drafter and how to sample; how many tokens it writes does not
            matter.
        runs: how many, of either kind.

    Raises:
        ValueError: as `speculate` does.

    >>> config = specviz.RunConfig("ab", "sequoia:size=8")
    >>> *_, result = sampling(specviz.toy_pair(), config, runs=100)
    >>> result.runs, sum(result.speculated), result.deviates(result.speculated)
    (100, 100, False)
    """
    config = config.for_pair(pair)
    config = replace(config, max_new_tokens=3)  # trees of two levels, and the token after them
    compatible(config).required()
    source = cached = cast(Any, _CachedPair(pair, prompt_tokens(pair, config)))
    try:
        DecodingSession(source, config, config.drafter if config.builder.reads_draft else None)
    except NotImplementedError:  # the drafter reads more of the target than its distributions
        source = pair
    texts = exact_texts(cached, config)
    texts[()] = 1 - sum(texts.values())  # all others
    exact = tuple(prob if prob > 1e-9 else 0.0 for prob in texts.values())
    pieces = tuple(pair.decode(list(text)) or "".join(map(pair.token_text, text)) for text in texts)
    speculated = dict.fromkeys(texts, 0)
    plain = dict.fromkeys(texts, 0)
    kinds = ((speculated, source, config), (plain, cached, config.autoregressive()))
    for run in range(runs + 1):
        if run % REPORT_EVERY == 0 or run == runs or source is pair:
            passes = None
            if source is not pair:
                passes = cached.target.read.cache_info().misses
            yield Sampled(
                run, runs, pieces, exact, tuple(speculated.values()), tuple(plain.values()), passes
            )
        if run < runs:
            for kind, (counts, models, settings) in enumerate(kinds, 1):
                # Never one seed for both: keyed rules follow it.
                seed = config.seed_after(2 * run + kind)
                steps = speculate(models, replace(settings, seed=seed))
                text = tuple(islice(chain.from_iterable(step.emitted for step in steps), 2))
                counts[text if text in texts else ()] += 1


def cached_model(session: Session, rows: int) -> Any:
    """A session's logits as a table of so many rows, which reads each continuation of its text
    once."""
    start = len(session.context)

    @lru_cache(rows)
    def read(text: Text) -> np.ndarray:
        # A continuation as a chain below the last token, read like any tree.
        tree = TokenTree(session.context[-1], start=start - 1)
        for parent, token in enumerate(text):
            tree.add(parent, token)
        return np.array(session.forward(tree, [len(text)])[0])

    return SimpleNamespace(read=read, logits=lambda context: read(tuple(context[start:])))


class _CachedPair:
    """A pair on one prompt, whose target and draft read each continuation once; other drafters may
    read its cache."""

    def __init__(self, pair: Any, prompt: Sequence[int]) -> None:
        self.pair = pair
        rows = MAX_NUMBERS // pair.vocab_size
        target, draft = pair.open(prompt)
        self.target = cached_model(target, rows)
        self.draft = draft and cached_model(draft, rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pair, name)

    def drafter(self, kind: str, **parameters: Any) -> Any:
        raise NotImplementedError

    def open(self, tokens: Sequence[int]) -> tuple[TableSession, TableSession | None]:
        return TableSession(self.target, tokens), self.draft and TableSession(self.draft, tokens)


def exact_texts(pair: Any, config: RunConfig) -> dict[Text, float]:
    """The most probable next two tokens and their probabilities p(a) p(b | a); one token where the
    text ends there.

    First tokens are looked at, most probable first, until none that is left can be in a more
    probable text.

    Args:
        pair: the models, whose target gives logits after any text.
        config: the prompt, and how the target's logits become rows.
    """
    prompt = prompt_tokens(pair, config)
    p = probabilities(pair.target.logits(prompt), config.target_sampling)
    order = np.argsort(-p, kind="stable")[: np.count_nonzero(p)].tolist()
    best: dict[Text, float] = {}
    for first in order:
        # Whatever follows a token, no text that begins with it is more probable than it is.
        if len(best) == BARS and p[first] <= min(best.values()):
            break
        texts: dict[Text, float] = {(first,): float(p[first])}
        if first not in pair.eos_ids and len(prompt) + 1 < pair.max_positions:
            after = probabilities(pair.target.logits([*prompt, first]), config.target_sampling)
            likely = np.argsort(-after, kind="stable")[:BARS].tolist()
            texts = {}
            for second in likely:
                if after[second] > 0:
                    texts[first, second] = float(p[first] * after[second])
        best = dict(sorted((best | texts).items(), key=lambda item: -item[1])[:BARS])
    return best
