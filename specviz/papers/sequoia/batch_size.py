"""Appendix B: with many texts at once trees shrink; batch size as an axis of the optimiser."""

import itertools
from dataclasses import replace

from ...speed.forecast import forecast
from ..entry import Entry, Lines, Series, Table, judge, tab

TEMPERATURE, BATCHES = 0.8, (1, 2, 4, 8, 16)


def measure(bench):
    vector, cost = bench.vector(TEMPERATURE), bench.cost()
    rows = []
    for texts in BATCHES:
        bench.tell(f"{texts} texts at once.")
        best = forecast(vector, many(cost, texts)).best
        rows.append([texts, best.size, best.depth, best.speedup])
    return {"rows": rows}


def many(cost, texts):
    """The costs of a step for several texts: passes read `texts` times as many tokens, the rest is paid for each."""
    return replace(
        cost,
        plain_s=cost.target(texts) + texts * cost.overhead_s[0],
        target_s=tuple(cost.target(texts * n) for n in cost.sizes),
        overhead_s=tuple(texts * s for s in cost.overhead_s),
        row_s=texts * cost.row_s,
        draft_s=tuple(cost.draft(texts * w) for w in cost.widths),
    )


def told(data):
    sizes = [row[1] for row in data["rows"]]
    return judge(
        all(b <= a for a, b in itertools.pairwise(sizes)) and sizes[-1] < sizes[0],
        f"From the measured time of passes, t(b n) for b texts: the best tree shrinks from {sizes[0]} nodes for one "
        f"text to {sizes[-1]} for {data['rows'][-1][0]}, and its speedup from {data['rows'][0][3]:.2f} to "
        f"{data['rows'][-1][3]:.2f}. Attention over texts of their own is not in these passes, so this is a "
        "projection from one text's costs.",
        f"The best sizes for {', '.join(str(row[0]) for row in data['rows'])} texts are {', '.join(map(str, sizes))}: "
        "on this machine even one text's passes are no longer flat, so there is little left to lose.",
    )


ENTRY = Entry(
    "batch-size",
    "Appendix B",
    "When many users arrive, trees shrink",
    "“The optimal tree also depends on the batch size, which can be considered by the hardware-aware optimizer”: "
    "speedup G(n, d) t(b) / (t(b n) + d c(b)) for b texts at once.",
    told,
    measure=measure,
    how="timed",
    opens=(tab("speedup"),),
    shown=lambda data: [
        Lines(
            "texts at once",
            "nodes of the best tree",
            [Series("projected from measured passes", [row[:2] for row in data["rows"]])],
            log_x=True,
        ),
        Table(("Texts at once", "Nodes", "Levels", "Foretold speedup"), data["rows"]),
    ],
)
