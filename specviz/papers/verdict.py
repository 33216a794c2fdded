"""The verdict on a claim: arithmetic on a number and its interval over texts.

A measurement returns sums for each text. A claim's number follows from their totals, and its
interval from the totals without each text in turn, so texts are the unit and no verdict is written
by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..record.metrics import left_out_margin
from .claim import Claim, Columns, Sums
from .statistics import statistic

REPRODUCED, DIFFERS, UNDECIDED = "reproduced", "differs", "undecided"
PROVEN, MISSING = "holds by proof", "not available here"
VERDICTS = (REPRODUCED, PROVEN, UNDECIDED, DIFFERS, MISSING)


@dataclass(frozen=True)
class Finding:
    """A claim with what was found.

    Attributes:
        claim: the claim.
        verdict: one of `VERDICTS`.
        reason: why it has this verdict, in a sentence, or "".
        estimate, low, high: the number and its interval at 95 %; None where there is none.
        texts: how many texts it comes from; None for a proof.
    """

    claim: Claim
    verdict: str
    reason: str = ""
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    texts: int | None = None


def number_of(claim: Claim) -> Callable[..., float]:
    """The function from the sums of each measurement to the claim's number."""
    value, other = statistic(claim.value), statistic(claim.over or claim.minus or claim.value)

    def number(*tables: Sums) -> float:
        first = value(tables[0])
        return (
            first / other(tables[-1])
            if claim.over
            else first - other(tables[-1])
            if claim.minus
            else first
        )

    return number


def find(claim: Claim, measurements: Sequence[Columns | None]) -> Finding:
    """Decide a claim.

    Args:
        claim: the claim.
        measurements: what was measured, in the order of its data; None where something was not.
    """
    if claim.missing:
        return Finding(claim, MISSING, claim.missing)
    tables = [columns for columns in measurements if columns]
    if len(tables) < len(claim.data):
        timed = " --timed" if claim.data[0].startswith(("speeds", "choice", "passes")) else ""
        return Finding(claim, MISSING, f"Not measured yet: specviz papers --measure{timed}.")
    texts = [name for name in tables[0] if all(columns.get(name) for columns in tables)]
    try:
        number, margin = over_texts(
            number_of(claim), [[columns[name] for name in texts] for columns in tables]
        )
    except (ArithmeticError, IndexError):
        number, margin = math.nan, None
    except (KeyError, TypeError, ValueError):
        return Finding(claim, MISSING, "The stored measurement cannot be read; measure it again.")
    if not math.isfinite(number):
        return Finding(claim, MISSING, "The texts are too short for it, or give no number.")
    if claim.proof:
        result = compare(number, number, claim)
        result = PROVEN if result == REPRODUCED else result
        return Finding(claim, result, claim.why if result == DIFFERS else "", number)
    if margin is None:
        return Finding(claim, UNDECIDED, "One text gives no interval.", number, texts=len(texts))
    low, high = number - margin, number + margin
    result = compare(low, high, claim)
    reason = {
        DIFFERS: claim.why,
        UNDECIDED: texts_needed(number, margin, claim.bound, len(texts)),
    }.get(result, "")
    return Finding(claim, result, reason, number, low, high, len(texts))


def compare(low: float, high: float, claim: Claim) -> str:
    """Whether an interval fulfils a claim's relation as a whole, violates it as a whole, or
    neither."""
    bound = claim.bound
    if isinstance(bound, tuple):
        inside, outside = bound[0] <= low and high <= bound[1], high < bound[0] or low > bound[1]
    elif claim.relation == ">":
        inside, outside = low > bound, high <= bound
    else:
        inside, outside = high < bound, low >= bound
    return REPRODUCED if inside else DIFFERS if outside else UNDECIDED


def texts_needed(
    number: float, margin: float, bound: float | tuple[float, float], texts: int
) -> str:
    """How many texts would decide: the margin falls with the root of their number."""
    gap = min(abs(number - end) for end in (bound if isinstance(bound, tuple) else (bound,)))
    needed = texts * (margin / gap) ** 2 if gap else math.inf
    if needed > 1e6:
        return "No number of texts would decide it."
    return f"About {math.ceil(needed / 10) * 10:,} texts would decide it."


def over_texts(
    number: Callable[..., float], tables: Sequence[Sequence[Sums]]
) -> tuple[float, float | None]:
    """A number from the totals of each table, and half of its 95 % interval over texts
    (`left_out_margin`)."""
    names = [list(rows[0]) for rows in tables]
    values = [
        np.array([[row[key] for key in keys] for row in rows])
        for keys, rows in zip(names, tables, strict=True)
    ]

    def of(columns: Sequence[np.ndarray]) -> float:
        sums = (
            dict(zip(keys, row.tolist(), strict=True))
            for keys, row in zip(names, columns, strict=True)
        )
        return float(number(*sums))

    totals = [rows.sum(0) for rows in values]
    if (texts := len(values[0])) < 2:
        return of(totals), None
    left = [
        of([total - rows[at] for total, rows in zip(totals, values, strict=True)])
        for at in range(texts)
    ]
    return of(totals), float(left_out_margin(np.array(left)))
