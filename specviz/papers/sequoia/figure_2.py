"""Figures 2 and 5: the trees of the printed vector."""

import itertools

from ...acceptance.vectors import expected_tokens, published
from ...builders.optimal import likeliest_tree
from ...builders.sequoia import best_tree
from ..entry import Entry, Table, judge, lab

SIZES = (8, 16, 32, 64, 128, 256)


def measure(bench):
    vector = published()["llama3-8b-70b-cnn"]["acceptance"]
    rows = []
    for size in SIZES:
        shape, tokens = best_tree(vector, size, size - 1, 32)
        other = expected_tokens(likeliest_tree(tuple(sorted(vector, reverse=True)), size, size - 1, 32), vector)
        rows.append([size, int(shape.depth.max()) + 1, len(shape.children[0]), tokens, other])
    limited = {depth: best_tree(vector, 64, depth, 32)[1] for depth in (11, 12)}
    return {"rows": rows, "by_root": limited[11], "below_root": limited[12]}


def verdict(data):
    deeper = [row[1] for row in data["rows"]]
    tokens = [row[3] for row in data["rows"]]
    steps = [b - a for a, b in itertools.pairwise(tokens)]
    return judge(
        deeper == sorted(deeper) and max(steps) < 2 * min(steps),
        f"From the printed vector the trees of 8 to 256 nodes are {deeper[0]} to {deeper[-1]} levels deep with the "
        f"root, and every doubling brings {min(steps):.2f} to {max(steps):.2f} tokens. With depth at most 12 a tree "
        f"of 64 nodes brings {data['by_root']:.3f} where the root counts, as in the paper's algorithm, and "
        f"{data['below_root']:.3f} where it does not; the pictures themselves cannot be compared node by node, since "
        "the text has none of their numbers.",
    )


ENTRY = Entry(
    "figure-2",
    "Figures 2 and 5",
    "Trees of the printed acceptance vector",
    "Appendix E prints a vector of 31 numbers, 0.7732, 0.1039, 0.0402 and so on (Llama3-8B for Llama3-70B, CNN), and "
    "draws its trees of 8, 16, 32, 64, 128 and 256 nodes with unlimited depth; figure 2 shows one of 64 nodes and "
    "depth 12.",
    verdict,
    measure=measure,
    how="exact",
    opens=tuple(lab("tree", preset=f"figure-{n}")._replace(label=f"Open figure {n} in the Tree lab") for n in (5, 2)),
    shown=lambda data: [
        Table(
            ("Nodes", "Depth, root counted", "Children of the root", "Expected tokens", "By priority queue"),
            data["rows"],
        )
    ],
)
