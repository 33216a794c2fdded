"""Appendix D.1: greedy on the weights of nodes is optimal among all connected trees."""

from itertools import combinations

from ...builders import BUILDERS
from ...verifiers import VERIFIERS
from ..entry import Entry, Table, judge, live
from .algorithm_1 import grown

SIZES, SEEDS = (2, 3, 4, 5), 6


def measure(bench):
    rows = []
    for size in SIZES:
        gap, tried = 0.0, 0
        for seed in range(SEEDS):
            full = grown(BUILDERS["k-ary"](width=3, depth=2), seed)
            weight = [1.0]
            for node in range(1, len(full)):
                above = full.parents[node]
                weight.append(weight[above] * float(full.draft_distributions[above][full.tokens[node]]))
            chosen, total = {0}, 0.0
            for _ in range(size - 1):
                best = max(
                    (node for node in range(1, len(full)) if node not in chosen and full.parents[node] in chosen),
                    key=weight.__getitem__,
                )
                chosen.add(best)
                total += weight[best]
            sums = [
                sum(weight[node] for node in nodes)
                for nodes in combinations(range(1, len(full)), size - 1)
                if all(full.parents[node] == 0 or full.parents[node] in nodes for node in nodes)
            ]
            gap, tried = max(gap, max(sums) - total), tried + len(sums)
        rows.append([size, tried, gap])
    return {"rows": rows}


def verdict(data):
    gap = max(row[2] for row in data["rows"])
    return judge(
        gap < 1e-9,
        f"Among all {sum(row[1] for row in data['rows']):,} connected trees of up to {data['rows'][-1][0]} nodes on "
        f"{SEEDS} toy drafts none has more weight than the greedy one.",
        f"The greedy tree lacks up to {gap:.2g}.",
    )


ENTRY = Entry(
    "appendix-d",
    "Appendix D.1",
    "Greedy on the weights is optimal",
    "Adding the neighbour of largest weight, again and again, gives the connected tree of largest weight for every "
    "size (theorem, parts A and B).",
    verdict,
    measure=measure,
    how="exact",
    opens=(live(BUILDERS["dyspec"](size=24), VERIFIERS["dyspec"](), 0.6),),
    shown=lambda data: [Table(("Nodes", "Trees tried", "What the greedy tree lacks"), data["rows"])],
)
