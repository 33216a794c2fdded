"""Acceptance measured on text: how often the k-th child of a node is accepted, for each rule.

At every position of a text a star of `width` children is drawn from the drafter's row and put before the rule. Rules
that flip a coin per child give the expectation over their coins in closed form: the acceptance of child k is its own
probability times those of all earlier refusals. For the others the decision itself is counted.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from .. import validation
from .._version import __version__
from ..config import RunConfig
from ..decode import speculate
from ..distributions import Distributions, Sampling
from ..metrics import share_interval
from ..models.base import Pair
from ..randomness import Randomness, Seeded
from ..registry import build
from ..sampling import children_of, draw_children
from ..tree import TokenTree
from ..verifiers.base import Verifier
from .reading import LEVELS, Reader, levels_on_text
from .texts import Written, sources
from .vectors import check_acceptance

SAYS = ("pair", "dtype", "version", "texts")  # where a vector comes from, in words
LATER = {"drafter": "model", "levels": [], "parameters": {}, "by_text": []} | dict.fromkeys(SAYS, "")  # in old files


@dataclass(frozen=True)
class Acceptance:
    """An acceptance vector with its uncertainty.

    Attributes:
        acceptance: P[k], the probability that the k-th child is accepted, given that its parent is.
        low, high: intervals at 95 % with texts as the unit; None where there was one text only.
        positions: how many positions were measured.
        method: "expected" over the rule's coins, or "counted".
        verifier, scheme, temperature, draft_temperature: what was measured.
        drafter: menu name of the drafter, and `parameters` the ones it had.
        levels: P of level 1, 2, ..., what is below them as the last one, where it depends on the level; else none.
        pair, dtype, version: name and number format of the pair, and the version of this package that measured.
        texts: what was measured on, in words.
        by_text: of each text its positions and its own `plan`; empty in files that do not keep them.
    """

    acceptance: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    positions: int
    method: str
    verifier: str
    scheme: str
    temperature: float
    draft_temperature: float | None
    drafter: str = "model"
    levels: tuple[tuple[float, ...], ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    pair: str = ""
    dtype: str = ""
    version: str = ""
    texts: str = ""
    by_text: tuple[tuple[int, tuple], ...] = ()

    @property
    def plan(self) -> tuple:
        """What a tree is planned with: the vector, or one per level where they differ."""
        return self.levels or self.acceptance

    @property
    def left_out(self) -> list[tuple]:
        """`plan` without each of the texts in turn, from which an interval over texts follows; [] for a single one."""
        texts = self.by_text
        return [_mean([*texts[:out], *texts[out + 1 :]]) for out in range(len(texts))] if len(texts) > 1 else []

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Acceptance:
        """Read what `to_json` or `python -m specviz calibrate --json` wrote.

        Raises:
            ValueError: if it is no such measurement; the message says what is wrong with it.
        """
        data = validation.parse(text, "measurement")
        data = LATER | data if isinstance(data, dict) else data
        vector = validation.many(validation.number(0, 1))
        found = cls(**validation.record(data, "measurement", {
            "acceptance": vector, "levels": validation.many(vector), "positions": validation.whole(1),
            **dict.fromkeys(("low", "high"), validation.many(validation.maybe(validation.number(0, 1)))),
            **dict.fromkeys(("method", "verifier", "scheme", "drafter", *SAYS), validation.text),
            "parameters": validation.mapping, "by_text": validation.many(
                validation.together(validation.whole(1), validation.either(vector, validation.many(vector)))
            ),
            "temperature": validation.number(0), "draft_temperature": validation.maybe(validation.number(0)),
        }))  # fmt: skip
        if not 0 < len(found.acceptance) == len(found.low) == len(found.high):
            raise ValueError("measurement is damaged: acceptance, low and high must be equally long.")
        check_acceptance(found.acceptance, "acceptance of the measurement")
        if found.levels:
            check_acceptance(found.levels, "levels of the measurement")
        if any(_shape(plan) != _shape(found.plan) for _, plan in found.by_text):
            raise ValueError("measurement is damaged: by_text must hold vectors as long as the measured one.")
        return found


class Refusing:
    """Randomness under which every try is rejected, so that a rule shows the probability of each try."""

    def __init__(self, rng: Randomness) -> None:
        self._rng = rng
        self.flips = 0

    def flip(self, prob: float) -> tuple[bool, float]:
        self.flips += 1
        return False, 1.0

    def draw(self, probs: np.ndarray) -> int:
        return self._rng.draw(probs)

    def noise(self, position: int, size: int) -> np.ndarray:
        return self._rng.noise(position, size)


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

    Raises:
        ValueError: if no text has two tokens, or the pair lacks the drafter's model.
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
        pair: the models.
        verifier: the rule.
        texts: token ids; every position of each of them but the last is measured, of a `Written` text those from
            the prompt's end. The seed of the children is config.seed for the first text and one more for each that
            follows.
        config: drafter, temperatures, top-p, top-k and seed.
        width: how many children are tried at each position; one where the rule is for chains.
        scheme: how they are drawn; None means as the rule asks for ("top" at temperature 0).
        read: gives the rows at every position of a text.

    Returns:
        After each text what all of them together say; None before there was a position.
    """
    width = 1 if verifier.chain_only else width
    scheme = scheme or ("top" if config.temperature == 0 else verifier.schemes[0])
    drafter = build("drafter", config.drafter)
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
                    drafter.name, means if drafter.by_level else (), asdict(drafter),
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
    tree = TokenTree(0, start=start, scheme=scheme)
    tree.draft_distributions[0] = q
    for token in draw_children(q, width, scheme, rng, tree.position(0)):
        tree.add(0, token)
    rows = _Star(p)
    refusing = Refusing(rng)
    verdict = verifier(tree, rows, refusing)
    chances = np.zeros(width)
    if not refusing.flips:
        if verdict.path:
            chances[verdict.path[0] - 1] = 1.0
        return chances, False
    reached = 1.0
    for child, prob in enumerate(verdict.accept_prob[1:]):
        chances[child] = reached * (prob or 0.0)
        reached *= 1 - (prob or 0.0)
    return chances, True


class _Star(Distributions):
    """The rows of a star: p at the root; what follows a child does not matter, so it is p again."""

    sampling = Sampling()  # of rows that are made already

    def __init__(self, p: np.ndarray) -> None:
        self.p = p

    def __getitem__(self, node: int) -> np.ndarray:
        return self.p


def own_texts(pair: Pair, prompts: Iterable[str], config: RunConfig) -> Iterator[Written]:
    """The target's own continuations of prompts, one by one: what it is verified on when it is decoding.

    Prompt `i` is continued with seed + i: with one seed for all, noise keyed by position would be the same in each.
    """
    for number, prompt in enumerate(prompts):
        steps = speculate(pair, replace(config, prompt=prompt, seed=config.seed + number).plainly())
        given = pair.encode(prompt)
        (source,) = sources([prompt])
        yield Written([*given, *(token for step in steps for token in step.emitted)], len(given), source)
