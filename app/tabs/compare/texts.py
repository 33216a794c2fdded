"""Where the texts of runs part, and whether this is expected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, zip_longest

from specviz.base.codec import JsonObject
from specviz.config.run_config import RunConfig
from specviz.models.base import Pair
from specviz.proof.same_text import margin_at, parted

from ...service.queued_run import Turn
from .entry import Entry
from .rates import Run


def first_difference(one: Sequence[int], other: Sequence[int]) -> int | None:
    """The index of the first token that differs or that only one of the two texts has; None where
    both are equal."""
    for at, (token, another) in enumerate(zip_longest(one, other)):
        if token != another:
            return at
    return None


def remarks(
    runs: Sequence[Run], turn: Turn | None = None, dtype: str | None = None
) -> list[JsonObject]:
    """What is to be said of every two texts; once where the same is true of several.

    Args:
        runs: the runs, decoded to their ends.
        turn: what computes how nearly tied the best candidates were where texts part that should
            not.
        dtype: the models' number format.

    Returns:
        Of each remark "letters": whose texts; "position": index of the first token that differs, or
        None; "text": what was found; "why": a sentence on why, or nothing.
    """
    alike: dict[tuple, set[str]] = {}
    for one, other in combinations(runs, 2):
        # As tokens: what looks the same may be written with other tokens.
        at = first_difference(one.written, other.written)
        promise = why_equal(one.entry, other.entry)
        margin = None
        # Where one of the two texts ended, no candidate of the other explains it.
        both = min(len(one.written), len(other.written))
        if turn and promise and at is not None and at < both:
            config = other.entry.config
            margin = next(turn.compute(margin_after, config, other.written[:at]))
        if at is None:
            text = f"identical text, all {both} tokens"
            why = f"Expected: {promise}."
            if promise:
                text += ", as expected."
            else:
                text += ", by chance: it is not guaranteed."
                why = ""
        else:
            text = f"the first different token is token {at + 1}{parted(margin, dtype)}."
            why = why_different(one.entry, other.entry)
            if promise:
                why = f"They should be identical: {promise}."
        letters = alike.setdefault((at, text, why), set())
        letters.update((one.entry.letter, other.entry.letter))
    remarks = []
    for (at, text, why), letters in alike.items():
        *before, last = sorted(letters)
        text = f"{', '.join(before)} and {last}: {text}"
        remarks.append({"letters": [*before, last], "position": at, "text": text, "why": why})
    return remarks


def margin_after(pair: Pair, config: RunConfig, tokens: Sequence[int]) -> Iterator[float]:
    """How far apart the two best candidates were after these new tokens; for `Turn.compute`."""
    yield margin_at(pair, config, tokens)


def why_equal(one: Entry, other: Entry) -> str:
    """Why two runs must write the same text; empty where they need not."""
    if one.config == other.config:
        return "each is the same configuration with the same seed"
    if not (one.same_as_plain and other.same_as_plain):
        return ""
    if one.config.temperature > 0:
        return f"seed {one.config.seed} alone determines the target’s race"
    return "at temperature 0 each writes the most probable tokens of the target"


def why_different(one: Entry, other: Entry) -> str:
    """Why two runs may write different texts."""
    reasons = []
    for entry in (one, other):
        if entry.lossy:
            reasons.append(f"{entry.letter} is lossy: {entry.lossy}")
    draws = "each run uses its own random draws, and its text follows the target’s distribution."
    return f"Different texts are expected: {' '.join(reasons) or draws}"
