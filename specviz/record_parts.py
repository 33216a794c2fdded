"""What a record is made of: columns that are made only when somebody reads them, and what was timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from .codec import NonNegative, Positive


class Unread:
    """What a frozen dataclass without slots needs for that."""

    @classmethod
    def unread(cls, rest: Callable[[], dict[str, Any]], **columns: Any) -> Self:
        """A record of which some columns are made when one of them is first read; decoding does not wait for them.

        Args:
            rest: makes them, always the same.
            columns: the others, which include those with a default.
        """
        step = object.__new__(cls)
        vars(step).update(columns, _rest=rest)
        return step

    def complete(self) -> Self:
        """The same record, with all columns made."""
        if rest := vars(self).get("_rest"):
            vars(self).update(rest())
            vars(self).pop("_rest", None)
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:  # asked for what is not there (yet)
            if name in self.__dataclass_fields__ and "_rest" in vars(self):
                return getattr(self.complete(), name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return vars(self.complete())


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
