"""Algorithm 3: a priority queue finds the optimal tree; it is Sequoia's wherever the vector falls."""

from math import log2

from ...acceptance.vectors import expected_tokens
from ...builders.optimal import falling, likeliest_tree
from ...builders.sequoia import best_tree
from ..entry import Entry, Table, judge, lab

SIZES, TEMPERATURE = (8, 32, 128, 512), 1.0


def measure(bench):
    vector = falling(bench.vector(TEMPERATURE))
    rows = []
    for size in SIZES:
        depth = min(size - 1, 24)
        queue = expected_tokens(likeliest_tree(vector, size, depth, 32), vector)
        programme = best_tree(vector, size, depth, 32)[1]
        rows.append([size, queue, programme, round(size * log2(size)), size * size * depth * 32])
    return {"rows": rows}


def verdict(data):
    gap = max(abs(row[1] - row[2]) for row in data["rows"])
    last = data["rows"][-1]
    return judge(
        gap < 2e-3,
        f"For a vector that falls both find the same value at every size (to {max(gap, 1e-4):.0e}); for {last[0]} "
        f"nodes k log k is {last[3]:,} against {last[4]:,} cells of the dynamic programme with its bounds on depth "
        "and branches.",
        f"They differ by up to {gap:.2g} tokens.",
    )


ENTRY = Entry(
    "algorithm-3",
    "Algorithm 3",
    "The optimal tree by priority queue, in k log k",
    "Adding the vertex that is most likely accepted, again and again, gives the optimal tree in O(k log k), less "
    "than Sequoia's dynamic programme.",
    verdict,
    measure=measure,
    how="exact",
    opens=(lab("tree", preset="races"),),
    shown=lambda data: [
        Table(("Nodes", "Priority queue", "Dynamic programme", "k log k", "Cells of the programme"), data["rows"])
    ],
)
