"""Choose a tree for a machine: the best of all candidates as predicted, and how good it is on texts
it did not see.

Sequoia's trees of many sizes and depths, chains, and k sequences are predicted from an acceptance
vector and a cost table. The best of many noisy estimates is too good, so what is promised of it
comes from held-out texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from ..builders import BUILDERS
from ..builders.sequoia import PlannedBuilder
from ..builders.static import StaticBuilder
from ..config.run_config import RunConfig, compatible
from ..record.metrics import estimate
from ..record.vectors import AcceptanceVector, Plan, expected_tokens
from .cost_table import CostTable
from .forecast import Cell, forecast, predict
from .timing import Range, TimedRun

CHAINS = (*range(1, 13), 14, 16, 20, 24)
WIDTHS = (2, 3, 4, 6, 8, 16)  # of k sequences
LENGTHS = (1, 2, 3, 4, 6, 8, 12)
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
        builder = self.builder
        if isinstance(builder, PlannedBuilder):
            builder = builder.replace(acceptance="auto")
        return builder.to_text(defaults=True)


@dataclass(frozen=True)
class Trial:
    """A tree under a configuration: its speedup as it is predicted on held-out texts, and what was
    timed, if it was."""

    config: RunConfig
    tree: Candidate
    predicted: Range
    timing: TimedRun | None = None

    @property
    def speedup(self) -> Range:
        """As it was timed, or else as it is predicted."""
        if self.timing:
            return self.timing.interval
        return self.predicted


def candidates(vector: Plan, cost: CostTable, config: RunConfig) -> list[Candidate]:
    """Every tree that is considered, the one of largest predicted speedup first, the smaller among
    equals.

    Args:
        vector: P[k], or one vector per level.
        cost: the machine.
        config: rule, drafter and temperatures; what cannot run under them is left out, and so is
            what they make lossy where something else is lossless.
    """
    chain = BUILDERS["chain"]
    fixed: list[StaticBuilder] = [chain(depth=depth) for depth in CHAINS]
    for width, length in product(WIDTHS, LENGTHS):
        fixed.append(BUILDERS["k-sequences"](width=width, depth=length))
    # Chains and sequences do not depend on the vector, Sequoia's trees are planned with it.
    options = [Candidate(builder, predict(builder.shape, vector, cost)) for builder in fixed]
    if not config.verifier.chain_only:
        for cell in forecast(vector, cost).trees:
            # A tree that is a chain is called one, as far as chains go.
            if cell.size == cell.depth + 1:
                builder = chain(depth=cell.depth)
            else:
                builder = BUILDERS["sequoia"](size=cell.size, depth=cell.depth, acceptance=vector)
            options.append(Candidate(builder, cell))
    lossless: list[Candidate] = []
    lossy: list[Candidate] = []
    for option in options:
        match = compatible(replace(config, builder=option.builder))
        if match.possible:
            group = lossy
            if match.lossless:
                group = lossless
            group.append(option)
    # Nothing lossy is recommended beside something lossless.
    usable = lossless or lossy
    return sorted(usable, key=lambda option: (-option.predicted.speedup, option.predicted.size))


def diverse(ranked: Sequence[Candidate], count: int) -> list[Candidate]:
    """The first candidates that differ from each other by a quarter of their nodes, or in kind."""
    selection: list[Candidate] = []
    for option in ranked:
        if len(selection) < count and not any(_alike(option, other) for other in selection):
            selection.append(option)
    return selection


def _alike(a: Candidate, b: Candidate) -> bool:
    small, large = sorted((a.predicted.size, b.predicted.size))
    # Trees of nearly one size time alike, so timing both would say nothing new.
    near = a.builder.name == b.builder.name and 4 * (large - small) < large
    return near or a.builder.shape.parents == b.builder.shape.parents


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

    def tokens(self, cell: Cell) -> Range:
        """Tokens per pass of a tree that was chosen, and its interval."""
        tokens = max(1.0, self.ratio * cell.tokens_per_pass)
        if self.margin is None:
            return tokens, None, None
        margin = self.margin * cell.tokens_per_pass
        return tokens, max(1.0, tokens - margin), tokens + margin

    def speedup(self, tree: Candidate, cost: CostTable) -> Range:
        """The predicted speedup of a tree that was chosen, with an interval over texts and
        costs."""
        tokens, low, high = self.tokens(tree.predicted)
        cheap, dear = cost.price_range(tree.builder.shape)
        price = tree.predicted.price
        return tokens / price, low and low / max(price, dear), high and high / min(price, cheap)


def held_out(acceptance: AcceptanceVector, cost: CostTable, config: RunConfig) -> HeldOut:
    """Choose without each part of the texts in turn, and see what the chosen tree brings on that
    part.

    Args:
        acceptance: measured text by text.
        cost, config: as for `candidates`.
    """
    texts = range(len(acceptance.by_text))
    if len(texts) < 2:
        return HeldOut()
    rows = {}  # of each text the tokens per pass there, and where the tree was chosen
    folds = min(FOLDS, len(texts))
    for fold in range(folds):
        # Every fifth text is left out in turn. A tree that was chosen on a text looks too good
        # there.
        unseen_texts = texts[fold::folds]
        training = acceptance.over([text for text in texts if text not in unseen_texts])
        best = candidates(training, cost, config)[0]
        for text in unseen_texts:
            count, plan = acceptance.by_text[text]
            unseen = expected_tokens(best.builder.shape, plan)
            # Weighted by positions, as the vector itself is.
            rows[text] = count * unseen, count * best.predicted.tokens_per_pass
    return HeldOut(*estimate([rows[text] for text in texts]), len(texts))
