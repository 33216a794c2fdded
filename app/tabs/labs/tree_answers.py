"""The sentences that the Tree lab says about the trees that it drew."""

from __future__ import annotations

from functools import lru_cache

from specviz.base.codec import JsonObject
from specviz.measure.forecast import SIZES, Cell, forecast
from specviz.record.vectors import Plan

from ..parts import recorded
from ..parts.fastest import fastest_sentence

# What the speed of a tree comes from, and what the page calls it.
COUNTS = {
    "tokens": "tokens per pass",
    "passes": "draft passes",
    "nodes": "nodes in the pass of the target",
}


def sentences(drawn: list[JsonObject], vector: Plan) -> dict[str, str]:
    """Which of the trees is fastest, and at which size one of Sequoia's is; each tree gets a
    sentence for each place where another is faster than it."""
    best = {}
    sizes = []
    for key, place in recorded.PLACES.items():
        most = max(tree["speeds"][place] for tree in drawn)
        # All that are as fast in the numbers on the page.
        label = f"{most:.2f}"
        first = [tree for tree in drawn if f"{tree['speeds'][place]:.2f}" == label]
        *more, last = (tree["title"] for tree in first)
        best[place] = (f"{', '.join(more)} and {last}" if more else last, most)
        for tree in drawn:
            if tree not in first:
                tree["why"] += why_slower(tree, first[0], place)
        cell = best_of_sizes(vector, key)
        if round(cell.speedup, 1) > 1:
            shape = f"{cell.size} nodes, {cell.depth} level{'s' * (cell.depth > 1)}"
            sizes.append(f"{cell.speedup:.2f} × {place} ({shape})")
    answer = fastest_sentence(best, decimals=2)  # as on the cards
    return {
        "answer": f"At these sizes, {answer[:1].lower()}{answer[1:]}",
        "others": f"Sequoia at its best sizes: {', '.join(sizes)}." if sizes else "",
    }


@lru_cache(maxsize=64)  # sliders change no vector
def best_of_sizes(vector: Plan, weights: str) -> Cell:
    """The fastest of Sequoia's trees of any size, with the weights in "memory" or on "disk"."""
    cost = recorded.read().costs[weights]
    sizes = [size for size in SIZES if size <= cost.sizes[-1]]
    return forecast(vector, cost, sizes).best


def why_slower(tree: JsonObject, fast: JsonObject, place: str) -> str:
    """What differs between a tree and a faster one, in a sentence with a space after it."""
    parts = [
        f"{tree[key]:.3g} {noun} against {fast[key]:.3g}"
        for key, noun in COUNTS.items()
        if tree[key] != fast[key]
    ]
    listed = ", ".join(parts)
    return f"{place.capitalize()}, {tree['title']} is slower than {fast['title']}: {listed}. "
