"""Acceptance vectors measured on texts: how often the k-th child of a node is accepted, for each
rule.

At every position of a text `width` children are drawn from the drafter's row and put before the
rule. Rules that flip a coin per child give the expectation over their coins; of the others the
decision itself is counted. Each text is measured alone, and `summarise` makes one vector of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.files import __version__
from ..base.progress import Progress
from ..config.run_config import RunConfig
from ..models.base import Pair
from ..proof.rates import try_children
from ..record.intervals import ratio_interval
from ..record.vectors import AcceptanceVector, by_level, mean_plan
from ..sampling.children import draw_children
from ..sampling.randomness import Seeded
from ..verifiers.base import Verifier
from .positions import LEVELS, Node, levels_on_text
from .prompt_files import category_of
from .texts import AnyText, text_of

NO_TEXT = "text to calibrate on must have at least two tokens. Use a longer text."


def measure_acceptance(
    pair: Pair,
    rules: Sequence[Verifier],
    texts: Iterable[AnyText],
    config: RunConfig,
    width: int = 16,
    positions: int = 0,
) -> Iterator[Progress[tuple[AcceptanceVector, ...]]]:
    """Measure rules at one temperature, text by text, each text read once; stop iterating to stop
    it.

    Args:
        pair, rules: the models and the rules.
        texts: token ids; every position but the last is measured, of a `Text` those from its start
            on. The children of text i are drawn with config.seed + i.
        config: drafter, temperatures, top-p, top-k and seed.
        width: how many children are tried at each position; one for a rule of chains.
        positions: how many are expected in all, as the total of the progress.

    Returns:
        After each text with a position what all texts together say, a vector for each rule.

    Raises:
        ValueError: if no text has two tokens, or the pair lacks the drafter's model.

    >>> rule = specviz.VERIFIERS["race"]()
    >>> config = specviz.RunConfig()
    >>> *_, last = measure_acceptance(specviz.toy_pair(), [rule], [[0, 1, 2]], config)
    >>> last.result[0].positions, len(last.result[0].acceptance)
    (2, 16)
    """
    config = config.for_pair(pair)
    measured: list[list[TextAcceptance]] = [[] for _ in rules]
    for number, text in enumerate(map(text_of, texts)):
        text_config = replace(config, seed=config.seed_after(number))
        nodes = list(levels_on_text(pair, text, text_config))
        if not nodes:
            continue
        source = text.source or f"text {number}"
        for rule, of_rule in zip(rules, measured, strict=True):
            of_rule.append(_on_one_text(rule, nodes, text_config, source, width))
        # A vector after every text: whoever stops here has what was measured.
        vectors = []
        for rule, of_rule in zip(rules, measured, strict=True):
            vectors.append(summarise(of_rule, pair, rule, config))
        done = vectors[0].positions
        yield Progress(done, max(positions, done), result=tuple(vectors))
    if not any(measured):
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
    rule: Verifier, nodes: Sequence[Node], config: RunConfig, source: str, width: int
) -> TextAcceptance:
    drafter = config.drafter
    levels = 1
    if drafter.depends_on_depth:
        levels = LEVELS
    # A drafter whose rows do not depend on the depth has one level for all.
    hits = np.zeros((levels, 1 if rule.chain_only else width))
    tries = np.zeros(levels)
    expected = True
    scheme = scheme_of(rule, config)
    # The same draws for every rule of a text: differences are then of the rules alone.
    rng = Seeded(config.seed)
    for start, p, rows in nodes:
        for level, q in enumerate(rows):
            # A row without mass, where the drafter has nothing to say, counts as a try in vain.
            width = hits.shape[1]
            children = draw_children(q, width, scheme, rng, start + 1, drafter.sparse)
            if children:
                tried = try_children(rule, p, q, children, scheme, rng, start)
                hits[level, : len(children)] += tried.acceptance
                expected = expected and bool(tried.flips)
            tries[level] += 1
    return TextAcceptance(hits, tries, expected, source)


def scheme_of(rule: Verifier, config: RunConfig) -> str:
    """How the children of a rule are drawn."""
    if config.temperature == 0:
        return "top"
    return rule.schemes[0]


def summarise(
    measured: Sequence[TextAcceptance], pair: Pair, rule: Verifier, config: RunConfig
) -> AcceptanceVector:
    """One vector from texts that were measured alone; those with one source count as one text."""
    drafter = config.drafter
    sources = list(dict.fromkeys(text.source for text in measured))
    texts = []
    first_hits = []
    first_tries = []
    for source in sources:
        # Windows of one file, or one prompt with several seeds, are not independent: one text.
        same = [text for text in measured if text.source == source]
        hits = np.sum([text.hits for text in same], axis=0)
        tries = np.sum([text.tries for text in same], axis=0)
        first_hits.append(hits[0])
        first_tries.append(tries[0])
        # Rounding may carry an expected count past the number of tries.
        shares = np.minimum(1.0, hits / np.maximum(tries, 1)[:, None]).tolist()
        plan = tuple(map(tuple, shares)) if drafter.depends_on_depth else tuple(shares[0])
        texts.append((int(tries[0]), plan))
    mean = mean_plan(texts)
    low: tuple[float | None, ...] = (None,) * len(first_hits[0])  # one text has no interval
    high = low
    # Of level 1, which has the most positions.
    if interval := ratio_interval(np.transpose(first_hits), first_tries):
        low, high = (tuple(ends.tolist()) for ends in interval)
    categories = tuple(map(category_of, sources))
    return AcceptanceVector(
        acceptance=by_level(mean)[0],
        levels=by_level(mean) if drafter.depends_on_depth else (),
        low=low,
        high=high,
        positions=sum(count for count, _ in texts),
        method="expected" if all(text.expected for text in measured) else "counted",
        verifier=rule.name,
        scheme=scheme_of(rule, config),
        temperature=config.temperature,
        draft_temperature=config.draft_temperature,
        drafter=drafter.name,
        parameters=drafter.parameters,
        pair=pair.info["name"],
        dtype=pair.info.get("dtype", ""),
        version=__version__,
        by_text=tuple(texts),
        categories=categories if any(categories) else (),
    )
