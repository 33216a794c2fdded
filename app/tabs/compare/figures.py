"""The numbers of one run in the table, counted step by step while it is decoded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from specviz.record import Step

PARTS = ("draft", "target", "verify", "other")
COMPARED = ("accepted", "rejected", "passed")


@dataclass
class Tally:
    """Counts over the steps so far; times leave out the first step, because that one also reads the prompt."""

    tokens: int = 0
    passes: int = 0
    accepted: int = 0
    compared: int = 0
    seconds: float = 0.0
    timed_tokens: int = 0
    timed_passes: int = 0
    parts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))

    def add(self, steps: Iterable[Step]) -> Tally:
        for step in steps:
            if self.passes:
                self.timed_tokens += len(step.emitted)
                self.timed_passes += 1
                for part in PARTS:
                    self.parts[part] += getattr(step.seconds, part)
            self.tokens += len(step.emitted)
            self.passes += 1
            self.accepted += step.outcome.count("accepted")
            self.compared += sum(map(step.outcome.count, COMPARED))
            self.seconds += step.seconds.total
        return self

    def figures(self) -> dict[str, Any]:
        """The run in numbers; None where there is nothing to divide by.

        Returns:
            tokens, passes, accepted, compared: counts; per_pass: tokens per pass; acceptance: accepted / compared;
            rate: tokens per second; token_ms: milliseconds per token; step_ms: per step; token_parts, step_parts: the
            same by part, in the order of `PARTS`.
        """
        total = 1000 * sum(self.parts.values())
        parts = [1000 * seconds for seconds in self.parts.values()]
        return {
            "tokens": self.tokens, "passes": self.passes, "accepted": self.accepted, "compared": self.compared,
            "per_pass": _over(self.tokens, self.passes), "acceptance": _over(self.accepted, self.compared),
            "rate": _over(1000 * self.timed_tokens, total),
            "token_ms": _over(total, self.timed_tokens), "step_ms": _over(total, self.timed_passes),
            "token_parts": [_over(part, self.timed_tokens) for part in parts],
            "step_parts": [_over(part, self.timed_passes) for part in parts],
        }  # fmt: skip


def _over(amount: float, of: float) -> float | None:
    return amount / of if of else None
