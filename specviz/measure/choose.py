"""Choose a tree for a machine: the best of all candidates as predicted, and how good it is on texts
it did not see.

Sequoia's trees of many sizes and depths, chains, and k sequences are predicted from an acceptance
vector and a cost table. The best of many noisy estimates is too good, so what is promised of it
comes from held-out texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..builders import BUILDERS
from ..builders.sequoia import PlannedBuilder
from ..builders.static import StaticBuilder
from ..config.run_config import RunConfig, compatible
from ..record.metrics import estimate
from ..record.vectors import expected_tokens
from .cost_table import CostTable
from .forecast import Cell, forecast, predict
from .on_text import Acceptance

CHAINS = (*range(1, 13), 14, 16, 20, 24)
SEQUENCES = tuple(
    (width, length) for width in (2, 3, 4, 6, 8, 16) for length in (1, 2, 3, 4, 6, 8, 12)
)
FOLDS = 5


@dataclass(frozen=True)
class Candidate:
    """A builder with what is predicted for its tree."""

    builder: StaticBuilder
    predicted: Cell

    @property
    def name(self) -> str:
        """The builder as it is written on the command line, without the vector that it was planned
        with."""
        one = self.builder
        planned = isinstance(one, PlannedBuilder)
        return (one.replace(acceptance="auto") if planned else one).to_text(defaults=True)


def candidates(vector: tuple, cost: CostTable, config: RunConfig) -> list[Candidate]:
    """Every tree that is considered, the one of largest predicted speedup first, the smaller among
    equals.

    Args:
        vector: P[k], or one vector per level.
        cost: the machine.
        config: rule, drafter and temperatures; what cannot run under them is left out, and so is
            what they make lossy where something else is lossless.
    """
    chain, sequences = BUILDERS["chain"], BUILDERS["k-sequences"]
    fixed = [chain(depth=depth) for depth in CHAINS]
    fixed += [sequences(width=width, depth=length) for width, length in SEQUENCES]
    options = [Candidate(builder, predict(builder.shape, vector, cost)) for builder in fixed]
    if not config.verifier.chain_only:
        for cell in (cell for row in forecast(vector, cost).cells for cell in row if cell):
            options.append(Candidate(_planned(cell, vector), cell))
    matches = [compatible(replace(config, builder=one.builder)) for one in options]
    some = any(match.lossless for match in matches)
    pairs = zip(options, matches, strict=True)
    options = [one for one, match in pairs if match.possible and (match.lossless or not some)]
    return sorted(options, key=lambda one: (-one.predicted.speedup, one.predicted.size))


def _planned(cell: Cell, vector: tuple) -> StaticBuilder:
    """Sequoia's tree of a cell, called a chain where it is one."""
    tree = BUILDERS["sequoia"](size=cell.size, depth=cell.depth, acceptance=vector)
    return BUILDERS["chain"](depth=cell.depth) if cell.size == cell.depth + 1 <= 65 else tree


def diverse(ranked: Sequence[Candidate], count: int) -> list[Candidate]:
    """The first candidates that differ from each other by a quarter of their nodes, or in kind."""
    selection: list[Candidate] = []
    for one in ranked:
        if len(selection) < count and not any(_alike(one, other) for other in selection):
            selection.append(one)
    return selection


def _alike(one: Candidate, other: Candidate) -> bool:
    sizes = one.predicted.size, other.predicted.size
    near = one.builder.name == other.builder.name and 4 * (max(sizes) - min(sizes)) < max(sizes)
    return near or one.builder.shape.parents == other.builder.shape.parents


@dataclass(frozen=True)
class HeldOut:
    """Tokens per pass of the best tree on texts that it was not chosen on, as a factor of those on
    texts that it was.

    Args:
        ratio: the factor.
        margin: half-width of its 95 % interval over texts; None for a single text, where nothing is
            held out.
        texts: how many there were.
    """

    ratio: float = 1.0
    margin: float | None = None
    texts: int = 1

    def tokens(self, cell: Cell) -> tuple[float, float | None, float | None]:
        """Tokens per pass of a tree that was chosen, and its interval."""
        tokens = max(1.0, self.ratio * cell.tokens_per_pass)
        if self.margin is None:
            return tokens, None, None
        return (
            tokens,
            max(1.0, tokens - self.margin * cell.tokens_per_pass),
            tokens + self.margin * cell.tokens_per_pass,
        )

    def speedup(self, one: Candidate, cost: CostTable) -> tuple[float, float | None, float | None]:
        """The predicted speedup of a tree that was chosen, with an interval over texts and
        costs."""
        tokens, low, high = self.tokens(one.predicted)
        cheap, dear = cost.price_range(one.builder.shape)
        price = one.predicted.price
        return tokens / price, low and low / max(price, dear), high and high / min(price, cheap)


def held_out(acceptance: Acceptance, cost: CostTable, config: RunConfig) -> HeldOut:
    """Choose without each part of the texts in turn, and see what the chosen tree brings on that
    part.

    Args:
        acceptance: measured text by text.
        cost, config: as for `candidates`.
    """
    texts = range(len(acceptance.by_text))
    if len(texts) < 2:
        return HeldOut()
    seen, unseen = [0.0] * len(texts), [0.0] * len(texts)
    folds = min(FOLDS, len(texts))
    for fold in range(folds):
        training = acceptance.over([text for text in texts if text % folds != fold])
        best = candidates(training, cost, config)[0]
        for text in texts[fold::folds]:
            seen[text] = best.predicted.tokens_per_pass
            unseen[text] = expected_tokens(best.builder.shape, acceptance.by_text[text][1])
    counts = [count for count, _ in acceptance.by_text]
    rows = [
        (count * new, count * old) for count, new, old in zip(counts, unseen, seen, strict=True)
    ]
    return HeldOut(*estimate(rows), len(texts))
