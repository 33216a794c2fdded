"""The input of the Tree lab, read strictly; every error is one sentence."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from specviz import BUILDERS, DRAFTERS, VERIFIERS, RunConfig, compatible
from specviz.acceptance.on_text import Acceptance
from specviz.acceptance.vectors import MAX_RANKS, check_acceptance, measured, published

from ...machine import limits
from .forest import Sizes
from .paper_trees import PRESETS

OWN = "Custom"
BLOCKS = (8, 16, 32, 64, 128)
OF_OTHERS = {("sequoia", 0.8), ("exact-match", 0.0)}  # rule and temperature of the vectors shown of every drafter
LIMITS = {  # of the sliders: label, least, most, and whether it must be whole
    "nodes": ("Tree size (nodes)", 2, 768, True),
    "levels": ("Max depth", 1, 64, True),
    "width": ("Width", 1, 32, True),
    "children": ("Max branching", 1, 64, True),
    "spread": ("Spread", 0, 1, False),
    "seed": ("Seed of the distributions", 0, 9999, True),
}


class Named(NamedTuple):
    """An acceptance vector with a sentence on where it comes from."""

    vector: tuple[float, ...]
    source: str


def choices(loaded: tuple[Acceptance, ...] = ()) -> dict[str, Named]:
    """Vectors by name: those of a file, then the published ones, then those measured on the embedded pair.

    Of its draft model all are there, of other drafters those of `OF_OTHERS`.
    """
    named = {}
    for vector in loaded:
        title = f"{VERIFIERS[vector.verifier].title}, T {vector.temperature:g}, loaded"
        while title in named:
            title += " again"
        named[title] = Named(vector.acceptance, f"from a file, {vector.method} over {vector.positions:,} positions")
    for row in published().values():
        named[row["title"]] = Named(row["acceptance"], f"published in {row['source']}")
    for drafter, who in DRAFTERS.items():
        by = "embedded pair" if drafter == "model" else f"by {who.title}"
        for row in measured(drafter):
            rule, temperature = VERIFIERS[row["verifier"]], row["temperature"]
            shown = drafter == "model" or (row["verifier"], temperature) in OF_OTHERS
            tree = RunConfig(builder=BUILDERS["sequoia"](), verifier=rule(), temperature=temperature, drafter=who())
            if shown and compatible(tree).possible:
                source = f"measured on the embedded pair over {row['positions']:,} positions"
                source += "" if drafter == "model" else f", drafted by {who.title}"
                named[f"{rule.title}, T {temperature:g}, {by}"] = Named(tuple(row["acceptance"]), source)
    return named


def in_text(vector: tuple[float, ...]) -> str:
    """A vector as the box shows it."""
    return ", ".join(f"{share:.6g}" for share in vector)


def vector_from(text: Any) -> tuple[float, ...]:
    """The numbers in the box.

    Raises:
        ValueError: if it holds anything else, or no vector.
    """
    items = str(text if text is not None else "").translate(str.maketrans("[]();,\n\t", " " * 8)).split()
    if not items:
        raise ValueError("The acceptance vector is empty. Type one probability per child, such as 0.7, 0.1, 0.05.")
    if len(items) > MAX_RANKS:
        raise ValueError(f"The acceptance vector may have up to {MAX_RANKS} numbers; it has {len(items):,}.")
    vector = []
    for place, item in enumerate(items, 1):
        try:
            share = float(item)
        except ValueError:
            share = -1.0
        if not (isfinite(share) and 0 <= share <= 1):
            raise ValueError(f'Number {place} of the acceptance vector must be from 0 to 1; got "{item[:40]}".')
        vector.append(share)
    return check_acceptance(vector, "The acceptance vector")


def sizes_from(branching: Any, **numbers: Any) -> Sizes:
    """The sizes from their controls.

    Args:
        branching: text, children of "branching" per level.
        numbers: the sliders, by the names of `LIMITS`.

    Raises:
        ValueError: naming the control, what it must be and what it was.
    """
    read: dict[str, Any] = {}
    for name, (label, low, high, whole) in LIMITS.items():
        value = numbers[name]
        good = type(value) in (int, float) and low <= value <= high and not (whole and value != int(value))
        if not good:
            noun = "a whole number" if whole else "a number"
            raise ValueError(f"{label} must be {noun} from {low} to {high}; got {str(value)[:40]}.")
        read[name] = int(value) if whole else float(value)
    try:
        widths = tuple(int(part) for part in str(branching).replace(",", " ").split())
        BUILDERS["branching"](widths=widths)
    except ValueError:
        raise ValueError(
            'Children per level must be whole numbers from 1 to 64 such as "3, 2, 1" with at most 1024 nodes in total; '
            f'got "{str(branching)[:40]}".'
        ) from None
    return Sizes(branching=widths, **read)


def cells(vector: tuple[float, ...], sizes: Sizes) -> int:
    """How many cells the dynamic program of Sequoia's tree has."""
    return sizes.nodes * sizes.levels * min(sizes.children, len(vector))


def check_cells(vector: tuple[float, ...], sizes: Sizes) -> None:
    """Reject sizes whose tree takes too long to compute.

    Raises:
        ValueError: if its dynamic program has more than `limits.CELLS` cells.
    """
    if (found := cells(vector, sizes)) > limits.CELLS:
        raise ValueError(
            f"Tree size × max depth × max branching must be at most {limits.CELLS:,}; got {sizes.nodes} × "
            f"{sizes.levels} × {min(sizes.children, len(vector))} = {found:,}. Reduce one of them."
        )


def preset_from(name: Any) -> str:
    """The name of a preset.

    Raises:
        ValueError: if there is none of that name.
    """
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError("Choose which trees to show.")
    return name
