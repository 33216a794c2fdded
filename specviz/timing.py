"""What was timed: the parts of a step, and a run against plain decoding. Plain data; no clock is read here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .codec import NonNegative, Positive


@dataclass(frozen=True)
class Timing:
    """Seconds of one step: draft passes, target passes, the rule's arithmetic, and all the rest.

    What of the record is made only when it is read (`Step.unread`) is in none of them.
    """

    LATER: ClassVar = ()
    draft: NonNegative = 0.0
    target: NonNegative = 0.0
    verify: NonNegative = 0.0
    other: NonNegative = 0.0

    @property
    def total(self) -> float:
        """All four together, in seconds."""
        return self.draft + self.target + self.verify + self.other


@dataclass(frozen=True)
class PairedSpeedup:
    """A run against plain decoding, timed in alternating rounds.

    Args:
        speedup: tokens per second of the run over those of plain decoding, all rounds together.
        low, high: the smallest and largest ratio of a round.
        rounds: how many there were.
        tokens_per_s, plain_tokens_per_s: of all rounds together.
        seconds, plain_seconds: that all tokens of the run take at those rates.
        date, machine: when (ISO 8601) and on which machine, in words.
    """

    speedup: NonNegative
    low: NonNegative
    high: NonNegative
    rounds: Positive
    tokens_per_s: NonNegative
    plain_tokens_per_s: NonNegative
    seconds: NonNegative
    plain_seconds: NonNegative
    date: str = ""
    machine: str = ""
