"""Calibration piece by piece: windows of a text go through every measure, and the results are updated after each.

The measures themselves are the library's. The page can show partial results, and a visitor can stop at any
time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from specviz import VERIFIERS, RunConfig
from specviz.acceptance.on_nodes import (
    DraftUncertainty,
    RejectionRates,
    draft_uncertainty,
    rates_together,
    rejection_rates,
)
from specviz.acceptance.on_text import Acceptance, acceptance_vector, together
from specviz.acceptance.positions import ReadOnce
from specviz.acceptance.text_units import Written, limited, positions_of
from specviz.registry import build

WINDOW = 128  # tokens that are read together
WIDTH = 16


@dataclass(frozen=True)
class Calibration:
    """What is known so far: a vector for each rule, the draft entropy, and rejection rates; None before the first."""

    vectors: tuple[Acceptance, ...] = ()
    uncertainty: DraftUncertainty | None = None
    rates: RejectionRates | None = None

    @property
    def positions(self) -> int:
        """How many positions were measured."""
        return self.vectors[0].positions if self.vectors else 0


@dataclass(frozen=True)
class Progress:
    """How far a calibration is: what is being measured, positions done, of how many, texts done, of how many."""

    stage: str
    done: int
    of: int
    texts: int
    of_texts: int
    calibration: Calibration


def windows(tokens: Sequence[int], positions: int, most: int) -> list[list[int]]:
    """A text in pieces that the models can read, about `positions` positions in all; they stay one text."""
    length = max(2, min(WINDOW, most))
    pieces = [Written(tokens[start : start + length], 1, "one") for start in range(0, len(tokens), length)]
    return list(limited(pieces, positions))


def calibrate(pair: Any, texts: Sequence[Sequence[int]], rules: Sequence[str], config: RunConfig) -> Iterator[Progress]:
    """Measure all rules; stop iterating to stop it.

    Args:
        pair: the models.
        texts: token ids, two and more of each.
        rules: menu names.
        config: drafter, temperature, top-p and seed; each text gets a seed of its own.

    Raises:
        ValueError: if there is no text to measure on, or the pair lacks the drafter's model.
    """
    if not texts:
        raise ValueError("text to calibrate on must have at least two tokens. Use a longer text.")
    calibration, of, width = Calibration(), sum(map(positions_of, texts)), min(WIDTH, pair.vocab_size)
    vectors: list[list[Acceptance]] = []  # of each text: texts are the unit of what is said of all
    rates: list[RejectionRates] = []
    # The closed forms of rejection rates take children for granted that were never seen; such a drafter draws none.
    stages = ("Acceptance",) if build("drafter", config.drafter).sparse else ("Acceptance", "Rejection rates")
    for stage in stages:
        done = 0
        for number, text in enumerate(texts, 1):
            own, once = replace(config, seed=config.seed + number), ReadOnce()
            if stage == "Acceptance":
                vectors.append(
                    [acceptance_vector(pair, VERIFIERS[rule](), [text], own, width, read=once) for rule in rules]
                )
                uncertainty = joined_uncertainties(
                    calibration.uncertainty, draft_uncertainty(pair, [text], own, read=once)
                )
                calibration = replace(
                    calibration,
                    vectors=tuple(together(parts, texts[:number]) for parts in zip(*vectors, strict=True)),
                    uncertainty=uncertainty,
                )
            else:
                rates.append(rejection_rates(pair, [text], own))
                calibration = replace(calibration, rates=rates_together(rates, texts[:number]))
            done += positions_of(text)
            yield Progress(stage, done, of, number, len(texts), calibration)


def joined_uncertainties(one: DraftUncertainty | None, two: DraftUncertainty) -> DraftUncertainty:
    """The columns of both, one after the other."""
    if one is None:
        return two
    return DraftUncertainty(*((*getattr(one, f.name), *getattr(two, f.name)) for f in fields(DraftUncertainty)))
