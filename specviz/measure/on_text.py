"""Acceptance vectors measured on texts: how often the k-th child of a node is accepted, for each
rule.

At every position of a text `width` children are drawn from the drafter's row and put before the
rule. Rules that flip a coin per child give the expectation over their coins; of the others the
decision itself is counted. Each text is measured alone, and `summarise` makes one vector of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from ..base.codec import Levels, NonNegative, Positive, Probability, Record, one_of
from ..base.files import __version__
from ..base.progress import Progress, final_result
from ..config.run_config import RunConfig
from ..drafters import DRAFTERS
from ..models.base import Pair
from ..proof.rates import try_children
from ..record.vectors import MAX_RANKS, check_acceptance
from ..sampling.children import children_of, draw_children
from ..sampling.randomness import Seeded
from ..verifiers import VERIFIERS
from ..verifiers.base import Verifier
from .intervals import share_interval
from .positions import LEVELS, Node, levels_on_text
from .prompt_files import category_of
from .texts import AnyText, text_of

Rule = Annotated[str, one_of(*VERIFIERS)]
Drafter = Annotated[str, one_of(*DRAFTERS)]
Scheme = Annotated[str, one_of(*Verifier.schemes)]
Method = Annotated[str, one_of("expected", "counted")]
Row = Annotated[tuple[Probability, ...], Field(max_length=MAX_RANKS)]
NO_TEXT = "text to calibrate on must have at least two tokens. Use a longer text."


@dataclass(frozen=True)
class Acceptance(Record):
    """An acceptance vector with its uncertainty.

    Attributes:
        acceptance: P[k], the probability that the k-th child is accepted, given that its parent is.
        low, high: intervals at 95 % with texts as the unit; None where there was one text only.
        positions, method: how many positions were measured, and how: "expected" over the rule's
            coins, or "counted".
        verifier, scheme, temperature, draft_temperature: what was measured.
        drafter, parameters: menu name of the drafter, and its parameters.
        levels: P of level 1, 2, ..., what is below them as the last one, where it depends on the
            level; else none.
        pair, dtype, version, texts: name and number format of the pair, the version, and what was
            measured, in words.
        by_text: of each text its positions and its own `plan`; empty in files without them.
        categories: of each of them its category; empty where there are none.
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
    categories: tuple[str, ...] = ()

    @property
    def plan(self) -> tuple:
        """What a tree is planned with: the vector, or one per level where they differ."""
        return self.levels or self.acceptance

    def over(self, texts: Sequence[int]) -> tuple:
        """`plan` of some of the texts alone, by their places in `by_text`."""
        return _mean([self.by_text[place] for place in texts])

    def of_category(self) -> dict[str, list[int]]:
        """The places in `by_text` of each category, if there are several."""
        places: dict[str, list[int]] = {}
        for place, category in enumerate(self.categories):
            places.setdefault(category, []).append(place)
        return places if len(places) > 1 else {}

    @model_validator(mode="after")
    def _check(self) -> Acceptance:
        if not len(self.acceptance) == len(self.low) == len(self.high):
            raise ValueError("must have acceptance, low and high of one length")
        for name in ("acceptance", *(["levels"] if self.levels else ())):
            check_acceptance(getattr(self, name), name)
        for value, low, high in zip(self.acceptance, self.low, self.high, strict=True):
            if not (0.0 if low is None else low) <= value <= (1.0 if high is None else high):
                raise ValueError("must have acceptance between low and high")
        if any(_shape(plan) != _shape(self.plan) for _, plan in self.by_text):
            raise ValueError("must have vectors in by_text as long as the measured one")
        return self


def acceptance_vector(
    pair: Pair,
    verifier: Verifier,
    texts: Iterable[AnyText],
    config: RunConfig,
    width: int = 16,
    scheme: str | None = None,
) -> Acceptance:
    """One rule's acceptance on texts.

    Args:
        pair, verifier, texts, config, width, scheme: as for `measure_acceptance`.

    Raises:
        ValueError: as there.

    >>> rule = specviz.VERIFIERS["race"]()
    >>> measured = acceptance_vector(specviz.toy_pair(), rule, [[0, 1, 2]], specviz.RunConfig())
    >>> measured.positions, len(measured.acceptance)
    (2, 16)
    """
    return final_result(measure_acceptance(pair, [verifier], texts, config, width, scheme))[0]


def measure_acceptance(
    pair: Pair,
    rules: Sequence[Verifier],
    texts: Iterable[AnyText],
    config: RunConfig,
    width: int = 16,
    scheme: str | None = None,
    positions: int = 0,
) -> Iterator[Progress[tuple[Acceptance, ...]]]:
    """Measure rules at one temperature, text by text, each text read once; stop iterating to stop
    it.

    Args:
        pair, rules: the models and the rules.
        texts: token ids; every position but the last is measured, of a `Text` those from its start
            on. The children of text i are drawn with config.seed + i.
        config: drafter, temperatures, top-p, top-k and seed.
        width: how many children are tried at each position; one for a rule of chains.
        scheme: how they are drawn; None means as the rule asks for ("top" at temperature 0).
        positions: how many are expected in all, as the total of the progress.

    Returns:
        After each text with a position what all texts together say, a vector for each rule.

    Raises:
        ValueError: if no text has two tokens, or the pair lacks the drafter's model.
    """
    config = config.for_pair(pair)
    parts: list[list[TextAcceptance]] = [[] for _ in rules]
    for number, text in enumerate(texts):
        text_config, text = replace(config, seed=config.seed_after(number)), text_of(text)
        nodes = list(levels_on_text(pair, text, text_config))
        if not nodes:
            continue
        source = text.source or f"text {number}"
        for rule, each in zip(rules, parts, strict=True):
            each.append(_on_one_text(rule, nodes, text_config, source, width, scheme))
        vectors = [
            summarise(each, pair, rule, config, scheme)
            for rule, each in zip(rules, parts, strict=True)
        ]
        yield Progress(
            vectors[0].positions, max(positions, vectors[0].positions), result=tuple(vectors)
        )
    if not any(parts):
        raise ValueError(NO_TEXT)


@dataclass(frozen=True)
class TextAcceptance:
    """One rule on one text: how often the child of each rank was accepted, [levels, width], of how
    many, [levels]."""

    hits: np.ndarray
    tries: np.ndarray
    expected: bool
    source: str


def _on_one_text(
    rule: Verifier,
    nodes: Sequence[Node],
    config: RunConfig,
    source: str,
    width: int,
    scheme: str | None,
) -> TextAcceptance:
    drafter = config.drafter
    levels, width = LEVELS if drafter.depends_on_depth else 1, 1 if rule.chain_only else width
    hits, tries, expected = np.zeros((levels, width)), np.zeros(levels), True
    scheme, rng = scheme_of(rule, config, scheme), Seeded(config.seed)
    for start, p, rows in nodes:
        for level, q in enumerate(rows):
            count = children_of(q, width, drafter.sparse)
            children = draw_children(q, count, scheme, rng, start + 1) if q.any() else []
            if children:
                tried = try_children(rule, p, q, children, scheme, rng, start)
                hits[level, : len(children)] += tried.acceptance
                expected = expected and bool(tried.flips)
            tries[level] += 1
    return TextAcceptance(hits, tries, expected, source)


def scheme_of(rule: Verifier, config: RunConfig, scheme: str | None = None) -> str:
    """How the children of a rule are drawn."""
    return scheme or ("top" if config.temperature == 0 else rule.schemes[0])


def summarise(
    parts: Sequence[TextAcceptance],
    pair: Pair,
    rule: Verifier,
    config: RunConfig,
    scheme: str | None = None,
) -> Acceptance:
    """One vector from texts that were measured alone; those with one source count as one text."""
    sources = [part.source for part in parts]
    drafter, width = config.drafter, parts[0].hits.shape[1]
    first_hits = np.array([part.hits[0] for part in parts])
    first_tries = np.array([part.tries[0] for part in parts])
    low, high = share_interval(first_hits.T, first_tries, sources)
    texts = []
    for source in dict.fromkeys(sources):
        same = [part for part in parts if part.source == source]
        hits = np.sum([part.hits for part in same], axis=0)
        tries = np.sum([part.tries for part in same], axis=0)
        shares = np.minimum(1.0, hits / np.maximum(tries, 1)[:, None])
        plan = tuple(map(tuple, shares.tolist()))
        texts.append((int(tries[0]), plan if drafter.depends_on_depth else plan[0]))
    categories = tuple(category_of(source) for source in dict.fromkeys(sources))
    mean = _mean(texts)
    none = (None,) * width
    return Acceptance(
        acceptance=mean[0] if drafter.depends_on_depth else mean,
        low=none if low is None else tuple(low.tolist()),
        high=none if high is None else tuple(high.tolist()),
        positions=sum(count for count, _ in texts),
        method="expected" if all(part.expected for part in parts) else "counted",
        verifier=rule.name,
        scheme=scheme_of(rule, config, scheme),
        temperature=config.temperature,
        draft_temperature=config.draft_temperature,
        drafter=drafter.name,
        levels=mean if drafter.depends_on_depth else (),
        parameters=drafter.parameters,
        pair=pair.info["name"],
        dtype=pair.info.get("dtype", ""),
        version=__version__,
        by_text=tuple(texts),
        categories=categories if any(categories) else (),
    )


def _mean(texts: Sequence[tuple[int, tuple]]) -> tuple:
    """The mean plan over texts; a text of n positions shows level d + 1 n - d times."""
    counts, plans = zip(*texts, strict=True)
    if not isinstance(plans[0][0], tuple):
        return _weighted(counts, plans)
    levels = enumerate(zip(*plans, strict=True))
    return tuple(
        _weighted([max(0, count - depth) for count in counts], level) for depth, level in levels
    )


def _weighted(counts: Sequence[int], vectors: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    total = np.minimum(1.0, np.array(counts) @ np.array(vectors) / max(1, sum(counts)))
    return tuple(total.tolist())


def _shape(plan: tuple) -> list[int]:
    return [len(level) for level in (plan if isinstance(plan[0], tuple) else (plan,))]
