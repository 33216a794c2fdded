"""The sentences that the Tree lab says about the trees that it drew."""

from __future__ import annotations

from functools import lru_cache

from specviz.base.codec import JsonObject
from specviz.measure.forecast import SIZES, Cell, forecast
from specviz.record.vectors import Plan

from ..parts import recorded
from ..parts.fastest import fastest_sentence


def sentences(drawn: list[JsonObject], vector: Plan) -> dict[str, str]:
    """Which of the trees is fastest, why it is not the one with the most tokens, and which other
    sizes would be faster."""
    best = {}
    reasons = []
    others = []
    for key, place in recorded.PLACES.items():
        most = max(tree["speeds"][place] for tree in drawn)
        # All that are as fast in the numbers on the page.
        label = f"{most:.2f}"
        first = [tree["title"] for tree in drawn if f"{tree['speeds'][place]:.2f}" == label]
        best[place] = (" and ".join(first), most)
        if most > 1:
            reasons.append(why_fastest(drawn, place))
        cell = best_of_sizes(vector, key)
        if round(cell.speedup, 1) > max(1.0, round(most, 1)):
            others.append(f"{place} {cell.size} nodes on {cell.depth} levels, {cell.speedup:.2f} ×")
    return {
        "answer": fastest_sentence(best, decimals=2),  # as on the cards
        "others": f"With other sizes Sequoia’s tree is faster: {'; '.join(others)}."
        if others
        else "",
        "why": " ".join(filter(None, reasons)),
    }


@lru_cache(maxsize=64)  # sliders change no vector
def best_of_sizes(vector: Plan, weights: str) -> Cell:
    """The fastest of Sequoia's trees of any size, with the weights in "memory" or on "disk"."""
    cost = recorded.read().costs[weights]
    sizes = [size for size in SIZES if size <= cost.sizes[-1]]
    return forecast(vector, cost, sizes).best


def why_fastest(drawn: list[JsonObject], place: str) -> str:
    """Why the tree with the most tokens per pass is not the fastest, in a sentence; "" where it is
    or no count of its step tells."""
    fast = max(drawn, key=lambda tree: tree["speeds"][place])
    most = max(drawn, key=lambda tree: tree["tokens"])
    # As fast in the numbers on the page, as they may be one tree under two names.
    if f"{fast['speeds'][place]:.2f}" == f"{most['speeds'][place]:.2f}":
        return ""
    # What the step of the fastest one has less of.
    nouns = {"passes": "draft passes", "nodes": "nodes in the pass of the target"}
    fewer = [
        f"{fast[key]} instead of {most[key]} {noun}"
        for key, noun in nouns.items()
        if fast[key] < most[key]
    ]
    if not fewer:
        return ""
    return (
        f"{place.capitalize()}, {fast['title']} brings fewer tokens per pass than {most['title']}, "
        f"{fast['tokens']:.2f} against {most['tokens']:.2f}, but its step costs less: "
        f"{' and '.join(fewer)}."
    )
