"""Acceptance measured on text: how often the k-th child of a node is accepted, for each rule.

At every position of a text a star of `width` children is drawn from the drafter's row and put before the rule. Rules
that flip a coin per child give the expectation over their coins in closed form: the acceptance of child k is its own
probability times those of all earlier rejections. For the others the decision itself is counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from ..codec import Levels, NonNegative, Positive, Probability, Record, one_of
from ..config import LARGEST, RunConfig
from ..decode import speculate
from ..drafters import DRAFTERS
from ..files import __version__
from ..metrics import share_interval
from ..models.base import Pair
from ..randomness import Randomness, Seeded
from ..sampling import SCHEMES, children_of, draw_children
from ..theory.rates import try_children
from ..verifiers import VERIFIERS
from ..verifiers.base import Verifier
from .positions import LEVELS, Reader, levels_on_text
from .text_units import Written, sources
from .vectors import MOST, check_acceptance

Rule = Annotated[str, one_of(*VERIFIERS)]
Drafter = Annotated[str, one_of(*DRAFTERS)]
Scheme = Annotated[str, one_of(*SCHEMES)]
Method = Annotated[str, one_of("expected", "counted")]
Row = Annotated[tuple[Probability, ...], Field(max_length=MOST)]


@dataclass(frozen=True)
class Acceptance(Record):
    """An acceptance vector with its uncertainty.

    Attributes:
        acceptance: P[k], the probability that the k-th child is accepted, given that its parent is.
        low, high: intervals at 95 % with texts as the unit; None where there was one text only.
        positions, method: how many positions were measured, and how: "expected" over the rule's coins, or "counted".
        verifier, scheme, temperature, draft_temperature: what was measured.
        drafter, parameters: menu name of the drafter, and its parameters.
        levels: P of level 1, 2, ..., what is below them as the last one, where it depends on the level; else none.
        pair, dtype, version, texts: name and number format of the pair, the version, and what was measured, in words.
        by_text: of each text its positions and its own `plan`; empty in files that do not keep them.
    """

    acceptance: Row
    low: tuple[Probability | None, ...]
    high: tuple[Probability | None, ...]
    positions: Positive
    method: Method
    verifier: Rule
    scheme: Scheme
    temperature: NonNegative
    draft_temperature: NonNegative | None
    drafter: Drafter = "model"
    levels: tuple[Row, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    pair: str = ""
    dtype: str = ""
    version: str = ""
    texts: str = ""
    by_text: tuple[tuple[Positive, Levels], ...] = ()

    @property
    def plan(self) -> tuple:
        """What a tree is planned with: the vector, or one per level where they differ."""
        return self.levels or self.acceptance

    @property
    def left_out(self) -> list[tuple]:
        """`plan` without each of the texts in turn, from which an interval over texts follows; [] for a single one."""
        texts = self.by_text
        return [_mean([*texts[:out], *texts[out + 1 :]]) for out in range(len(texts))] if len(texts) > 1 else []

    @model_validator(mode="after")
    def _check(self) -> Acceptance:
        """Check that its vectors are vectors of one form, and that every interval holds its probability."""
        if not len(self.acceptance) == len(self.low) == len(self.high):
            raise ValueError("must have acceptance, low and high of one length")
        for name in ("acceptance", *(["levels"] if self.levels else ())):
            check_acceptance(getattr(self, name), name)
        for share, low, high in zip(self.acceptance, self.low, self.high, strict=True):
            if not (0.0 if low is None else low) <= share <= (1.0 if high is None else high):
                raise ValueError("must have acceptance between low and high")
        if any(_shape(plan) != _shape(self.plan) for _, plan in self.by_text):
            raise ValueError("must have vectors in by_text as long as the measured one")
        return self


def acceptance_vector(
    pair: Pair,
    verifier: Verifier,
    texts: Iterable[Sequence[int]],
    config: RunConfig,
    width: int = 16,
    scheme: str | None = None,
    read: Reader = levels_on_text,
) -> Acceptance:
    """`acceptance_so_far` to its end.

    Args:
        pair, verifier, texts, config, width, scheme, read: as there.

    Raises:
        ValueError: if no text has two tokens, or the pair lacks the drafter's model.

    >>> found = acceptance_vector(specviz.toy_pair(), specviz.VERIFIERS["race"](), [[0, 1, 2, 0]], specviz.RunConfig())
    >>> found.positions, len(found.acceptance)
    (3, 16)
    """
    last = deque(acceptance_so_far(pair, verifier, texts, config, width, scheme, read), maxlen=1)
    if not last or last[0] is None:
        raise ValueError("text to calibrate on must have at least two tokens. Use a longer text.")
    return last[0]


def acceptance_so_far(
    pair: Pair,
    verifier: Verifier,
    texts: Iterable[Sequence[int]],
    config: RunConfig,
    width: int = 16,
    scheme: str | None = None,
    read: Reader = levels_on_text,
) -> Iterator[Acceptance | None]:
    """Measure one rule at one temperature, text by text; stop iterating to stop it.

    Args:
        pair, verifier: the models and the rule.
        texts: token ids; every position but the last is measured, of a `Written` text those from the prompt's end. The
            children of text i are drawn with config.seed + i.
        config: drafter, temperatures, top-p, top-k and seed.
        width: how many children are tried at each position; one where the rule is for chains.
        scheme: how they are drawn; None means as the rule asks for ("top" at temperature 0).
        read: gives the rows at every position of a text.

    Returns:
        After each text what all of them together say; None before there was a position.
    """
    width = 1 if verifier.chain_only else width
    scheme = scheme or ("top" if config.temperature == 0 else verifier.schemes[0])
    drafter = config.drafter
    deep = LEVELS if drafter.by_level else 1
    parts: list[Acceptance] = []
    measured: list[Sequence[int]] = []
    for number, text in enumerate(texts):
        total, counts, expected = np.zeros((deep, width)), np.zeros(deep), True
        rng = Seeded(config.seed + number)  # noise is keyed by position, so texts with one seed would share it
        for start, p, rows in read(pair, text, config):
            for level, q in enumerate(rows):
                chances, flipped = _tries(verifier, p, q, children_of(q, width, drafter.sparse), scheme, rng, start)
                total[level, : len(chances)] += chances
                counts[level] += 1
                expected = expected and flipped
        if counts[0]:
            means = tuple(map(tuple, (total / np.maximum(counts, 1)[:, None]).tolist()))
            none = (None,) * width
            measured.append(text)
            parts.append(
                Acceptance(
                    means[0], none, none, int(counts[0]), "expected" if expected else "counted",
                    verifier.name, scheme, config.temperature, config.draft_temperature,
                    drafter.name, means if drafter.by_level else (), drafter.parameters,
                    pair.info["name"], pair.info.get("dtype", ""), __version__,
                    by_text=((int(counts[0]), means if drafter.by_level else means[0]),),
                )
            )  # fmt: skip
        yield together(parts, measured) if parts else None


def together(parts: Sequence[Acceptance], texts: Sequence[Any]) -> Acceptance:
    """One rule's acceptance over several texts, each measured alone; those with one source count as one text."""
    counts = [part.positions for part in parts]
    ranks = zip(*(part.acceptance for part in parts), strict=True)
    hits = [[share * count for share, count in zip(shares, counts, strict=True)] for shares in ranks]
    low, high = zip(*(share_interval(row, counts, sources(texts)) for row in hits), strict=True)
    method = "expected" if all(part.method == "expected" for part in parts) else "counted"
    texts = tuple(text for part in parts for text in part.by_text)
    plan = _mean(texts)
    levels, mean = (plan, plan[0]) if parts[0].levels else ((), plan)
    return replace(
        parts[0], acceptance=mean, low=low, high=high, positions=sum(counts), method=method, levels=levels,
        by_text=texts,
    )  # fmt: skip


def _mean(texts: Sequence[tuple[int, tuple]]) -> tuple:
    """The mean plan over texts; a text of n positions shows level d + 1 n - d times."""
    counts, plans = zip(*texts, strict=True)
    if not isinstance(plans[0][0], tuple):
        return _weighted(counts, plans)
    levels = enumerate(zip(*plans, strict=True))
    return tuple(_weighted([max(0, count - depth) for count in counts], level) for depth, level in levels)


def _weighted(counts: Sequence[int], vectors: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    ranks = zip(*vectors, strict=True)
    return tuple(
        min(1.0, sum(share * count for share, count in zip(shares, counts, strict=True)) / max(1, sum(counts)))
        for shares in ranks
    )


def _shape(plan: tuple) -> list[int]:
    return [len(level) for level in (plan if isinstance(plan[0], tuple) else (plan,))]


def _tries(
    verifier: Verifier, p: np.ndarray, q: np.ndarray, width: int, scheme: str, rng: Randomness, start: int
) -> tuple[np.ndarray, bool]:
    """The chance of each of `width` children to be accepted at one position, and whether it came from coins.

    A row without mass has no children, and none of `width` is accepted.
    """
    if not q.any():
        return np.zeros(width), True
    children = draw_children(q, width, scheme, rng, start + 1)
    found = try_children(verifier, p, q, children, scheme, rng, start)
    chances = np.zeros(width)
    chances[: len(children)] = found.acceptance
    return chances, found.flips > 0


def own_texts(pair: Pair, prompts: Iterable[str], config: RunConfig) -> Iterator[Written]:
    """The target's own continuations of prompts, one by one: what it is verified on when it is decoding.

    Prompt `i` is continued with seed + i: with one seed for all, noise keyed by position would be the same in each.
    """
    for number, prompt in enumerate(prompts):
        steps = speculate(pair, replace(config, prompt=prompt, seed=(config.seed + number) % (LARGEST + 1)).plainly())
        given = pair.encode(prompt)
        (source,) = sources([prompt])
        yield Written([*given, *(token for step in steps for token in step.emitted)], len(given), source)
