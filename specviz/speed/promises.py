"""Does predicted speedup come true? Trees foretold from acceptance and costs, then timed against plain decoding.

Tokens per pass come from the target's own texts on some prompts, seconds from a cost table, and both together are held
against timed runs on other prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan

from ..acceptance import expected_tokens
from ..builders import BUILDERS
from ..builders.filling import StaticBuilder
from ..config import RunConfig
from ..measure.along_text import path_shares, tokens_on_texts
from ..measure.on_text import Acceptance, Progress, acceptance_vector, own_texts
from ..protocols import Pair, Verifier
from ..registry import build
from ..tree import Topology
from .forecast import Cell, forecast, predict
from .table import CostTable
from .trials import Trial, trials


@dataclass(frozen=True)
class Predictor:
    """What is known of a pair before anything is timed: its vector, and the shares along the target's own texts."""

    vector: Acceptance
    shares: tuple | None

    def tokens(self, shape: Topology) -> float:
        """Tokens per pass that a shape should bring: along the texts where that is known, else by the vector."""
        found = tokens_on_texts(shape, self.shares)[0] if self.shares is not None else float("nan")
        return expected_tokens(shape, self.vector.plan) if isnan(found) else found

    def predict(self, shape: Topology, cost: CostTable) -> Cell:
        """What a shape should bring on a machine."""
        return predict(shape, self.vector.plan, cost, self.tokens(shape))


@dataclass(frozen=True)
class Promise:
    """One tree: what was predicted for it, and what was timed."""

    name: str
    predicted: Cell
    measured: Trial

    @property
    def ratio(self) -> float:
        """Measured speedup over predicted speedup."""
        return self.measured.speedup / self.predicted.speedup

    @property
    def holds(self) -> bool:
        """Whether prediction and measurement are within 15 % of each other."""
        return abs(self.ratio - 1) <= 0.15


def predictor(
    pair: Pair, verifier: Verifier, config: RunConfig, prompts: Sequence[str], width: int = 16,
    progress: Progress = lambda done, of: None,
) -> Predictor:  # fmt: skip
    """Learn what the predictions need from the target's own continuations.

    Args:
        pair: the models.
        verifier: the rule.
        config: who drafts, temperatures, length and seed; prompt `i` is continued with seed + i.
        prompts: texts to continue.
        width: how many children of a node to look at.
        progress: is told how many of how many prompts are done.
    """
    written = []
    for turn, prompt in enumerate(prompts):
        (text,) = own_texts(pair, [prompt], replace(config, seed=config.seed + turn))
        written.append((text, len(pair.encode(prompt))))
        progress(turn + 1, len(prompts))
    width = 1 if verifier.chain_only else min(width, pair.vocab_size)
    vector = acceptance_vector(pair, verifier, [text for text, _ in written], config, width)
    return Predictor(vector, path_shares(pair, verifier, written, config, width))


def trees_of(sizes: Sequence[int], known: Predictor, cost: CostTable) -> dict[str, StaticBuilder]:
    """The tree of largest predicted speedup of each size, by name."""
    vector = known.vector.plan
    builders: dict[str, StaticBuilder] = {}
    for row in forecast(vector, cost, sorted(set(sizes))).cells:
        if any(row):
            cell = max(filter(None, row), key=lambda cell: cell.speedup)
            builders[f"sequoia {cell.size} x {cell.depth}"] = BUILDERS["sequoia"](
                size=cell.size, depth=cell.depth, acceptance=vector
            )
    return builders


def promises(
    pair: Pair,
    builders: Mapping[str, StaticBuilder],
    verifier: Verifier,
    config: RunConfig,
    known: Predictor,
    cost: CostTable,
    prompts: Sequence[str],
) -> Iterator[tuple[int, int, tuple[Promise, ...]]]:
    """Predict and time trees; stop by not asking for more.

    Args:
        pair, verifier, config, prompts: as for `trials`; the prompts must not be those of `known`.
        builders: name -> a static tree.
        known: from `predictor`.
        cost: measured on this machine with this pair.

    Returns:
        Runs done, of how many, and a promise for each tree that was timed so far.
    """
    drafter = build("drafter", config.drafter).name
    cells = {
        name: known.predict(builder.prepare(verifier, config.temperature, drafter, pair.info["name"]).shape, cost)
        for name, builder in builders.items()
    }
    for news in trials(pair, builders, verifier, config, prompts):
        yield news.done, news.of, tuple(Promise(trial.name, cells[trial.name], trial) for trial in news.trials)
