"""The verdict on a claim: arithmetic on a number and its interval over texts.

A measurement returns sums for each text. A claim's number follows from their totals, and its
interval from the totals without each text in turn, so texts are the unit and no verdict is written
by hand. A proof's number has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..record.metrics import jackknife_margin
from .claim import Claim, Entry
from .number import Sums, evaluate, is_timed, parse_call

Columns = dict[str, Sums]  # name of a text -> its sums, {} where it is too short; a proof's is ""

REPRODUCED, DIFFERS, UNDECIDED = "reproduced", "differs", "undecided"
PROVEN, MISSING = "holds by proof", "not available here"
VERDICTS = (REPRODUCED, PROVEN, UNDECIDED, DIFFERS, MISSING)


@dataclass(frozen=True)
class Finding:
    """A claim with what was found, as a row of a table.

    Attributes:
        entry, claim: the claim, and the entry that it belongs to.
        verdict: one of `VERDICTS`.
        reason: why it has this verdict, in a sentence, or "".
        estimate, low, high: the number and its interval at 95 %; None where there is none.
        texts: how many texts it comes from; None for a proof.
    """

    entry: Entry
    claim: Claim
    verdict: str
    reason: str = ""
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    texts: int | None = None

    @property
    def place(self) -> str:
        """Where the claim stands in its source."""
        return ", ".join(filter(None, (self.entry.place, self.claim.place)))

    @property
    def published(self) -> str:
        """What the source says, in words."""
        claim = self.claim
        if claim.is_proof:
            if claim.relation == "<":
                return "exact"
            return "not exact"
        if isinstance(claim.bound, tuple):
            return f"{claim.bound[0]:.4g} to {claim.bound[1]:.4g}"
        return f"{claim.relation} {claim.bound:.4g}"

    @property
    def check(self) -> str:
        """The command that proves it, for a claim of losslessness; else ""."""
        if not self.claim.number.startswith("lossless("):
            return ""
        arguments = parse_call(self.claim.number)[1]
        return "specviz check --builder {builder} --verifier {verifier}".format(**arguments)

    @property
    def measured(self) -> str:
        """What was found, in words."""
        if self.estimate is None:
            return "–"
        if self.claim.is_proof:
            return f"error {self.estimate:.3g}"
        interval = ""
        if self.low is not None:
            interval = f" ({self.low:.3g} to {self.high:.3g})"
        return f"{self.estimate:.3g}{interval}"


def find(entry: Entry, claim: Claim, measured: Mapping[str, Columns]) -> Finding:
    """Decide a claim.

    Args:
        entry, claim: the claim, and where it stands.
        measured: what was measured, by call; nothing, or {}, where something was not.
    """
    finding = partial(Finding, entry, claim)
    if claim.missing:
        return finding(MISSING, claim.missing)
    tables = {call: measured.get(call) or {} for call in claim.data}
    if not all(tables.values()):
        timed = ""
        if any(map(is_timed, tables)):
            timed = " --timed"
        return finding(MISSING, f"Not measured yet: specviz papers --measure{timed}.")
    # A text counts if every measurement of the number has it.
    first = next(iter(tables.values()))
    texts = []
    for text in first:
        if all(table.get(text) for table in tables.values()):
            texts.append(text)
    try:
        number, margin = estimate(claim.number, tables, texts)
    except (KeyError, TypeError, ValueError):
        return finding(MISSING, "The stored measurement cannot be read; measure it again.")
    # Nothing to divide by, or no text at all.
    except (ArithmeticError, IndexError):
        number = math.nan
    if not math.isfinite(number):
        return finding(MISSING, "The texts are too short for it, or give no number.")
    if claim.is_proof:
        if compare(number, number, claim) == REPRODUCED:
            return finding(PROVEN, "", number)
        return finding(DIFFERS, claim.why, number)
    if margin is None:
        return finding(UNDECIDED, "One text gives no interval.", number, texts=len(texts))
    low = number - margin
    high = number + margin
    verdict = compare(low, high, claim)
    reason = ""
    if verdict == DIFFERS:
        reason = claim.why
    if verdict == UNDECIDED:
        reason = texts_needed(number, margin, claim, len(texts))
    return finding(verdict, reason, number, low, high, len(texts))


def estimate(
    number: str, tables: Mapping[str, Columns], texts: Sequence[str]
) -> tuple[float, float | None]:
    """A number from the totals of each table, and half of its 95 % interval, None for one text."""

    def value_of(counted: Sequence[str]) -> float:
        sums = {}
        for call, rows in tables.items():
            # Every text of a measurement has the same sums.
            names = rows[counted[0]]
            sums[call] = {name: sum(rows[text][name] for text in counted) for name in names}
        return evaluate(number, sums)

    number_of_all = value_of(texts)
    if len(texts) < 2:
        return number_of_all, None
    # With the text that is left out the number varies as it would with new texts.
    left = []
    for left_out in texts:
        left.append(value_of([text for text in texts if text != left_out]))
    return number_of_all, float(jackknife_margin(np.array(left)))


def compare(low: float, high: float, claim: Claim) -> str:
    """Whether an interval fulfils a claim as a whole, violates it as a whole, or neither."""
    # The whole interval has to be inside, or outside: what overlaps an end decides nothing.
    least, greatest = claim.interval
    if least <= low and high <= greatest:
        return REPRODUCED
    if high < least or greatest < low:
        return DIFFERS
    return UNDECIDED


def texts_needed(number: float, margin: float, claim: Claim, texts: int) -> str:
    """How many texts would decide: the margin falls with the root of their number."""
    gap = min(abs(number - end) for end in claim.interval)
    needed = math.inf
    if gap:
        needed = texts * (margin / gap) ** 2
    if needed > 1e6:
        return "No number of texts would decide it."
    return f"About {math.ceil(needed / 10) * 10:,} texts would decide it."
