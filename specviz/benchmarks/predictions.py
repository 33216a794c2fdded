"""Compare predicted and measured speedup: trees predicted from acceptance and costs, then timed against plain decoding.

Tokens per pass come from the target's own texts on some prompts, seconds from a cost table, and both together are held
against timed runs on other prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import tee
from math import isnan

import numpy as np

from ..acceptance.along_text import path_shares, tokens_on_texts
from ..acceptance.on_text import Acceptance, acceptance_so_far, own_texts
from ..acceptance.progress import SoFar
from ..acceptance.vectors import expected_tokens
from ..builders import BUILDERS
from ..builders.static import StaticBuilder
from ..config import RunConfig
from ..models.base import Pair
from ..planning.cost_table import CostTable
from ..planning.forecast import Cell, forecast, predict
from ..tree import Topology
from ..verifiers.base import Verifier
from .trials import Trial, trials


@dataclass(frozen=True)
class Predictor:
    """What is known of a pair before anything is timed: its vector, and the shares along the target's own texts."""

    vector: Acceptance
    shares: tuple[np.ndarray, ...] | None

    def tokens(self, shape: Topology) -> float:
        """Tokens per pass that a shape should bring: along the texts where that is known, else by the vector."""
        found = tokens_on_texts(shape, self.shares)[0] if self.shares is not None else float("nan")
        return expected_tokens(shape, self.vector.plan) if isnan(found) else found

    def predict(self, shape: Topology, cost: CostTable) -> Cell:
        """What a shape should bring on a machine."""
        return predict(shape, self.vector.plan, cost, self.tokens(shape))


@dataclass(frozen=True)
class SpeedupPrediction:
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
    pair: Pair, verifier: Verifier, config: RunConfig, prompts: Sequence[str], width: int = 16
) -> Iterator[SoFar[Predictor]]:
    """Learn what the predictions need from the target's own continuations, one by one.

    Args:
        pair: the models.
        verifier: the rule.
        config: drafter, temperatures, length and seed; prompt `i` is continued with seed + i.
        prompts: texts to continue.
        width: how many children of a node to look at.

    Returns:
        Prompts done, of how many, and what they say; nothing before there was a position.

    Raises:
        ValueError: if the target ends every text at once, or the pair lacks the drafter's model.
    """
    width = 1 if verifier.chain_only else min(width, pair.vocab_size)
    texts, same = tee(own_texts(pair, prompts, config))
    along, vector = path_shares(pair, verifier, same, config, width), None
    shares: list[np.ndarray] = []
    for done, vector in enumerate(acceptance_so_far(pair, verifier, texts, config, width), 1):
        if along is not None:
            shares.append(next(along))
        if vector is not None:
            yield SoFar(done, len(prompts), Predictor(vector, None if along is None else tuple(shares)))
    if vector is None:
        raise ValueError("text to calibrate on must have at least two tokens. Use a longer text.")


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


def speedup_predictions(
    pair: Pair,
    builders: Mapping[str, StaticBuilder],
    verifier: Verifier,
    config: RunConfig,
    known: Predictor,
    cost: CostTable,
    prompts: Sequence[str],
) -> Iterator[SoFar[tuple[SpeedupPrediction, ...]]]:
    """Predict and time trees; stop iterating to stop it.

    Args:
        pair, verifier, config, prompts: as for `trials`; the prompts must not be those of `known`.
        builders: name -> a static tree.
        known: from `predictor`.
        cost: measured on this machine with this pair.

    Returns:
        Runs done, of how many, and a prediction with its timing for each tree so far.
    """
    drafter = config.drafter.name
    cells = {
        name: known.predict(builder.prepare(verifier, config.temperature, drafter, pair.info["name"]).shape, cost)
        for name, builder in builders.items()
    }
    for news in trials(pair, builders, verifier, config, prompts):
        yield SoFar(
            news.done, news.of, tuple(SpeedupPrediction(trial.name, cells[trial.name], trial) for trial in news.known)
        )
