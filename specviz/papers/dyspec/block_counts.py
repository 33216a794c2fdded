"""Figures 6 and 7, table 5: blocks of the tree attention mask by order."""

from ...randomness import Seeded
from ...theory.mask_order import ORDERS, count_blocks, random_tree
from ..entry import Entry, Table, judge, lab

PRINTED = {256: (36, 22.5), 512: (135.5, 52.8), 1024: (490.2, 119.3)}
TREES = 4


def measure(bench):
    rows = []
    for size in PRINTED:
        bench.report(f"Random trees of {size} nodes.")
        trees = [random_tree(size, Seeded(seed)) for seed in range(TREES)]
        rows.append(
            [size, *(sum(count_blocks(tree, order(tree)) for tree in trees) / TREES for order in ORDERS.values())]
        )
    return {"orders": list(ORDERS), "rows": rows}


def verdict(data):
    drawn, hpd = data["orders"].index("as drawn") + 1, data["orders"].index("depth-first") + 1
    off = max(
        max(abs(row[drawn] / PRINTED[row[0]][0] - 1), abs(row[hpd] / PRINTED[row[0]][1] - 1)) for row in data["rows"]
    )
    largest = data["rows"][-1]
    words = (
        f"at {largest[0]} nodes {largest[drawn]:.1f} blocks as drawn and {largest[hpd]:.1f} depth first, a factor of "
        f"{largest[drawn] / largest[hpd]:.1f} ({PRINTED[largest[0]][0]} and {PRINTED[largest[0]][1]} are printed)"
    )
    return judge(
        off < 0.12,
        f"Trees in which every node hangs from any earlier one have the printed counts to within {100 * off:.0f} %: "
        f"{words}.",
        f"The counts miss the printed ones by up to {100 * off:.0f} %: {words}. The paper does not say how its random "
        "trees were drawn.",
    )


ENTRY = Entry(
    "block-counts",
    "Figures 6 and 7, table 5",
    "Blocks of 32 x 32 in the tree's attention mask",
    "Reordering by depth first, close to heavy-path order, leaves fewer blocks that are not empty: up to 5.9 times "
    "fewer at 2048 nodes.",
    verdict,
    quoted=Table(
        ("Nodes", "Blocks as drawn", "Reordered"),
        ((256, 36, 22.5), (512, 135.5, 52.8), (1024, 490.2, 119.3), (2048, 1654.5, 278.7)),
    ),
    measure=measure,
    how="exact",
    opens=(lab("tree", preset="table-5"),),
    shown=lambda data: [Table(("Nodes", *data["orders"]), data["rows"])],
)
