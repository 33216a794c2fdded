"""Where the texts of runs part from that of plain decoding, and whether this is expected."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from specviz.base.codec import JsonObject

from .entry import Entry
from .rates import Run


def first_difference(one: Sequence[int], other: Sequence[int]) -> int | None:
    """The index of the first token that differs or that only one of the two texts has; None where
    both are equal."""
    for at, (token, another) in enumerate(zip_longest(one, other)):
        if token != another:
            return at
    return None


def remarks(runs: Sequence[Run]) -> list[JsonObject]:
    """What is to be said of each text beside that of plain decoding, the first; once where the same
    is true of several.

    Returns:
        Of each remark "letters": whose texts; "position": index of the first token that differs, or
        None; "text": what was found; "why": a sentence on why, or nothing.
    """
    plain, *others = runs
    alike: dict[tuple, list[str]] = {}
    for run in others:
        # As tokens: what looks the same may be written with other tokens.
        at = first_difference(plain.written, run.written)
        found = (at, *remark(run.entry, at, len(run.written)))
        alike.setdefault(found, [plain.entry.letter]).append(run.entry.letter)
    remarks = []
    for (at, text, why), letters in alike.items():
        *before, last = letters
        text = f"{', '.join(before)} and {last}: {text}"
        remarks.append({"letters": letters, "position": at, "text": text, "why": why})
    return remarks


def remark(entry: Entry, at: int | None, length: int) -> tuple[str, str]:
    """What is found of a text of this length that parts from that of plain decoding at a token, and
    why."""
    promise = why_equal(entry)
    if at is None:
        text = f"identical text, all {length} tokens"
        if promise:
            return f"{text}, as expected.", f"Expected: {promise}."
        return f"{text}, by chance: it is not guaranteed.", ""
    text = f"the first different token is token {at + 1}."
    if promise:
        return text, f"They should be identical: {promise}."
    why = "each run uses its own random draws, and its text follows the target’s distribution."
    if entry.lossy:
        why = f"{entry.letter} is lossy: {entry.lossy}"
    return text, f"Different texts are expected: {why}"


def why_equal(entry: Entry) -> str:
    """Why a run must write the text of plain decoding; empty where it need not."""
    if not entry.same_as_plain:
        return ""
    if entry.config.temperature > 0:
        return f"seed {entry.config.seed} alone determines the target’s race"
    return (
        "at temperature 0 each writes the most probable tokens of the target. Between two that are "
        "nearly as probable, rounding may decide"
    )
