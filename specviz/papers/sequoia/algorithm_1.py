"""Algorithm 1: the dynamic programme against every tree there is."""

from itertools import product

from ...acceptance.vectors import expected_tokens
from ...builders.sequoia import best_tree
from ...randomness import Seeded
from ...tree import Topology
from ..entry import Entry, Table, judge, lab

LARGEST, VECTORS = 7, 12


def measure(bench):
    rng, rows = Seeded(3), []
    shapes = {n: [Topology((-1, *rest)) for rest in product(*map(range, range(1, n)))] for n in range(2, LARGEST + 1)}
    vectors = [
        tuple(sorted((rng.noise(turn, 5) / 8).clip(0, 0.9).tolist(), reverse=turn % 2 == 0)) for turn in range(VECTORS)
    ]
    for n, trees in shapes.items():
        bench.report(f"All {len(trees)} trees of {n} nodes.")
        gap = max(
            abs(best_tree(vector, n, n - 1, 5)[1] - max(expected_tokens(tree, vector) for tree in trees))
            for vector in vectors
        )
        rows.append([n, len(trees), gap])
    return {"rows": rows, "vectors": VECTORS}


def verdict(data):
    gap = max(row[2] for row in data["rows"])
    return judge(
        gap < 1e-9,
        f"For {data['vectors']} random vectors, rising ones among them, and all "
        f"{sum(row[1] for row in data['rows']):,} labelled trees of up to {data['rows'][-1][0]} nodes, the "
        f"programme's value is the largest there is (largest difference {gap:.1e}).",
        f"The programme misses the best tree by up to {gap:.2g} tokens.",
    )


ENTRY = Entry(
    "algorithm-1",
    "Algorithm 1",
    "The dynamic programme finds the best tree",
    "T[n, b] = max over m of T[n - m, b - 1] + P[b] max T[m, j] finds the tree of size N that maximises the expected "
    "number of tokens, for any vector (section 3.1.1; with bounded depth: algorithm 4).",
    verdict,
    measure=measure,
    how="exact",
    opens=(lab("tree", preset="figure-5"),),
    shown=lambda data: [Table(("Nodes", "Trees tried", "Largest difference, tokens"), data["rows"])],
)
