"""What a claim is: a sentence of a source as a number, a relation and a bound; its verdict is arithmetic on an "
"interval.

A measurement returns sums for each text. A claim computes its number from their totals, and its interval from the
totals without each text in turn, so texts are the unit and no verdict is written by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..metrics import left_out_margin

REPRODUCED, DIFFERS, UNDECIDED = "reproduced", "differs", "undecided"
PROVEN, MISSING = "holds by proof", "not available here"
VERDICTS = (REPRODUCED, PROVEN, UNDECIDED, DIFFERS, MISSING)
EXACT = 1e-12  # what an enumeration may be off by
UNREADABLE = "What is stored cannot be read; measure it again."

Sums = Mapping[str, float]
Columns = dict[str, dict[str, float]]  # text -> name -> sum, nothing of a text too short; a proof has one row, named ""


@dataclass(frozen=True)
class Data:
    """A measurement with its arguments.

    Args:
        make: (bench, text, **args) -> the sums of one text; of a proof (bench, **args) -> {"error": ...}.
        how: "counted" (texts, no clock), "timed" or "proof".
        args: the arguments, in order.
        lacks: what this machine lacks for it, in a sentence; nothing where it lacks nothing.
    """

    make: Callable[..., Mapping[str, float]]
    how: str
    args: tuple[tuple[str, Any], ...] = ()
    lacks: Callable[[], str] = field(default=str, compare=False)

    @property
    def key(self) -> str:
        """Its name in the store."""
        return " ".join([self.make.__name__, *(f"{name}={value}" for name, value in self.args)])


def measurement(how: str, lacks: Callable[[], str] = str) -> Callable[[Callable[..., Any]], Callable[..., Data]]:
    """Turn a function into one that names its measurement: called with arguments, it returns `Data`."""
    return lambda make: lambda **args: Data(make, how, tuple(args.items()), lacks)


@dataclass(frozen=True)
class Claim:
    """A sentence of a source, and how it is decided.

    Args:
        says: the sentence.
        data: the measurements it needs; none where this machine cannot measure it.
        of: from the sums of each measurement to the number.
        relation, bound: ">", "<" or "within", and the number, or the two numbers, of the source.
        reason: why it is not available here.
        broken: arguments with which a proof's implementation is wrong.
        place: where it stands, if not where its entry does.
    """

    says: str
    data: tuple[Data, ...]
    of: Callable[..., float]
    relation: str
    bound: float | tuple[float, float]
    reason: str = ""
    broken: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""

    @property
    def how(self) -> str:
        """How it is decided: "proof", "timed", "counted" or "" for not at all."""
        kinds = {one.how for one in self.data}
        return next((how for how in ("proof", "timed", "counted") if how in kinds), "")


def claim(
    says: str, data: Data | tuple[Data, ...], of: Callable[..., float], relation: str, bound: Any, place: str = ""
) -> Claim:
    """A measured claim."""
    return Claim(says, data if isinstance(data, tuple) else (data,), of, relation, bound, place=place)


def proof(
    says: str, data: Data, broken: Mapping[str, Any], relation: str = "<", bound: float = EXACT, place: str = ""
) -> Claim:
    """A theorem or an identity: the largest error that was found, and arguments that break the implementation."""
    return Claim(says, (data,), lambda s: s["error"], relation, bound, broken=broken, place=place)


def missing(says: str, relation: str, bound: Any, reason: str, place: str = "") -> Claim:
    """A claim that this machine cannot measure."""
    return Claim(says, (), lambda: math.nan, relation, bound, reason, place=place)


class Finding(NamedTuple):
    """A claim with what was found: the number and its interval, seeds and texts, the verdict and a sentence on it."""

    claim: Claim
    estimate: float | None
    low: float | None
    high: float | None
    seeds: int | None
    texts: int | None
    verdict: str
    sentence: str


def find(one: Claim, found: Sequence[Columns | None]) -> Finding:
    """Decide a claim.

    Args:
        one: the claim.
        found: what was measured, in the order of its data; None where something was not.
    """

    def without(sentence: str) -> Finding:
        return Finding(one, None, None, None, None, None, MISSING, sentence)

    if one.reason:
        return without(one.reason)
    if missed := [data for data, columns in zip(one.data, found, strict=True) if not columns]:
        return without(missed[0].lacks() or f"Not measured on this machine yet: {command(one)}.")
    tables = [columns for columns in found if columns]
    texts = [name for name in tables[0] if all(columns.get(name) for columns in tables)]
    if not texts:
        return without("No text was long enough for it.")
    try:
        number, margin = over_texts(one.of, [[columns[name] for name in texts] for columns in tables])
    except ZeroDivisionError:
        return without("The texts give no number for it.")
    except (KeyError, TypeError, ValueError):
        return without(UNREADABLE)
    if not math.isfinite(number):
        return without("The texts give no number for it.")
    if one.how == "proof":
        margin = 0.0
    if margin is None:
        return Finding(one, number, None, None, 1, len(texts), UNDECIDED, "One text gives no interval.")
    low, high = number - margin, number + margin
    decided = verdict(low, high, one.relation, one.bound, one.how == "proof")
    if one.how == "proof":
        return Finding(one, number, low, high, None, None, decided, "")
    seeds = len({name.partition(":")[0] for name in texts})
    more = ""
    if decided == UNDECIDED:
        more = wanting(number, margin, one.bound, len(texts))
    return Finding(one, number, low, high, seeds, len(texts), decided, more)


def verdict(low: float, high: float, relation: str, bound: Any, proven: bool = False) -> str:
    """Whether an interval fulfils a relation as a whole, violates it as a whole, or neither."""
    if relation == "within":
        inside, outside = bound[0] <= low and high <= bound[1], high < bound[0] or low > bound[1]
    elif relation == ">":
        inside, outside = low > bound, high <= bound
    else:
        inside, outside = high < bound, low >= bound
    return (PROVEN if proven else REPRODUCED) if inside else DIFFERS if outside else UNDECIDED


def wanting(number: float, margin: float, bound: Any, texts: int) -> str:
    """How many texts would decide: the margin falls with the root of their number."""
    gap = min(abs(number - end) for end in (bound if isinstance(bound, tuple) else (bound,)))
    needed = texts * (margin / gap) ** 2 if gap else math.inf
    if needed > 1e6:
        return "No number of texts would decide it."
    return f"About {math.ceil(needed / 10) * 10:,} texts would decide it."


def over_texts(of: Callable[..., float], tables: Sequence[Sequence[Sums]]) -> tuple[float, float | None]:
    """A number from the totals of each table, and half of its 95 % interval over texts (`left_out_margin`)."""
    names = [list(rows[0]) for rows in tables]
    values = [np.array([[row[name] for name in own] for row in rows]) for own, rows in zip(names, tables, strict=True)]

    def number(columns: Sequence[np.ndarray]) -> float:
        return float(
            of(*(dict(zip(own, sums.tolist(), strict=True)) for own, sums in zip(names, columns, strict=True)))
        )

    totals = [rows.sum(0) for rows in values]
    if (texts := len(values[0])) < 2:
        return number(totals), None
    left = [number([total - rows[at] for total, rows in zip(totals, values, strict=True)]) for at in range(texts)]
    return number(totals), float(left_out_margin(np.array(left)))


def totals(columns: Columns) -> dict[str, float]:
    """The sums over all texts, for figures."""
    rows = [row for row in columns.values() if row]
    return {name: sum(row[name] for row in rows) for name in rows[0]}


def command(one: Claim) -> str:
    """What measures a claim."""
    return "python -m specviz papers --measure" + (" --timed" if one.how == "timed" else "")
