"""Where two texts differ, and whether this is expected."""

from __future__ import annotations

from collections.abc import Sequence

from specviz.base.codec import JsonObject
from specviz.proof.same_text import parted

from .entry import Entry


def first_difference(one: Sequence[int], other: Sequence[int]) -> int | None:
    """The index of the first token that differs; None where one text begins with the other."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)


def compare_texts(
    one: Entry,
    wrote: Sequence[int],
    other: Entry,
    also: Sequence[int],
    margin: float | None = None,
    dtype: str | None = None,
) -> JsonObject:
    """What is to be said about two whole texts, for the page.

    Args:
        one, other: the two configurations.
        wrote, also: the new tokens of each.
        margin: how far apart the two best candidates were where texts part that should not, if that
            is known.
        dtype: the models' number format.

    Returns:
        "a", "b": the letters; "kind": "equal", "differs" (not expected) or "expected"; "position":
        index of the first token that differs, or None; "text": what was found; "why": a sentence on
        why, or nothing.
    """
    # Both texts are compared as tokens: what looks the same may be written with other tokens.
    at = first_difference(wrote, also)
    promise = why_equal(one, other)
    # Equal texts may be promised, and then a difference needs its reason; where none are
    # promised, equality is chance and a difference is expected.
    kind = "differs" if promise else "expected"
    if at is not None:
        text = f"the first different token is token {at + 1}{parted(margin, dtype)}."
    elif len(wrote) != len(also):
        length, letter = min((len(wrote), one.letter), (len(also), other.letter))
        text = f"identical for {_tokens(length)}, where {letter} ends."
    else:
        kind = "equal"
        why = "as expected." if promise else "by chance: it is not guaranteed."
        text = f"identical text, all {_tokens(len(wrote))}, {why}"
    reasons = {
        "equal": f"Expected: {promise}." if promise else "",
        "differs": f"They should be identical: {promise}.",
        "expected": _why(one, other),
    }
    return {
        "a": one.letter,
        "b": other.letter,
        "kind": kind,
        "position": at,
        "text": text,
        "why": reasons[kind],
    }


def remarks(pairs: Sequence[JsonObject]) -> list[JsonObject]:
    """The same with the letters before each text; one for all pairs of which the same is true."""
    alike: dict[object, list[JsonObject]] = {}
    for pair in pairs:
        key = (pair["text"], pair["why"]) if pair["position"] is None else len(alike)
        alike.setdefault(key, []).append(pair)
    remarks = []
    for same in alike.values():
        *letters, last = sorted({pair[side] for pair in same for side in "ab"})
        text = f"{', '.join(letters)} and {last}: {same[0]['text']}"
        remarks.append(same[0] | {"text": text})
    return remarks


def why_equal(one: Entry, other: Entry) -> str | None:
    """Why two entries must write the same text; None if they need not."""
    if one.same_as_plain and other.same_as_plain:
        if one.config.temperature == 0:
            return (
                "at temperature 0 each writes the most probable tokens of the target. A machine "
                "that rounds differently may write others, in every run alike"
            )
        if one.autoregressive and other.autoregressive:
            return "each is plain decoding with the same seed"
        return f"seed {one.config.seed} alone determines the target’s race"
    if one.config == other.config:
        return "each is the same configuration with the same seed"
    return None


def _why(one: Entry, other: Entry) -> str:
    """Why different texts are expected."""
    lossy = [entry for entry in (one, other) if entry.lossy]
    if lossy:
        return "Different texts are expected. " + " ".join(
            f"{entry.letter} is lossy: {entry.lossy}" for entry in lossy
        )
    return (
        "Different texts are expected: each run uses its own random draws. The text of every "
        "lossless run follows the target’s distribution."
    )


def _tokens(number: int) -> str:
    return f"{number} token{'' if number == 1 else 's'}"
