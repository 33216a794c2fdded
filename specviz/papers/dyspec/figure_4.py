"""Figure 4: where the time of a step goes."""

from ...builders import BUILDERS
from ...metrics import count
from ...verifiers import VERIFIERS
from ..entry import Entry, Table, judge, live

TEMPERATURE, SIZE = 0.6, 32


def measure(bench):
    rows = []
    for name, builder in (
        ("greedy", BUILDERS["dyspec"](size=SIZE)),
        ("by threshold", BUILDERS["dyspec-threshold"](size=SIZE)),
    ):
        traces = bench.runs(builder, TEMPERATURE, VERIFIERS["dyspec"](), bench.prompts[:4])
        parts = count(traces).step_parts.values()
        rows.append([name, *(part / sum(parts) for part in parts)])
    return {"rows": rows}


def verdict(data):
    other = max(row[4] for row in data["rows"])
    return judge(
        other < 0.1,
        f"Tree building, masks, commit and the record together take {100 * other:.0f} % of a step at most here, in "
        "Python; the paper's two per cent are for construction alone, in C++, beside models of 7 B parameters and "
        "more.",
        f"Tree building, masks, commit and the record take {100 * other:.0f} % of a step here where the paper has "
        "under 2 % for construction: its models' passes take a hundred times as long as these, and its construction "
        "is written in C++.",
    )


ENTRY = Entry(
    "figure-4",
    "Section 5.2 and figure 4",
    "Where the time of a step goes",
    "Written in C++, tree construction takes less than two per cent of the time; what remains beside the passes is "
    "masks, sampling and verification.",
    verdict,
    measure=measure,
    how="timed",
    opens=(live(BUILDERS["dyspec"](size=SIZE), VERIFIERS["dyspec"](), TEMPERATURE),),
    shown=lambda data: [Table(("Tree of 32 nodes", "Draft", "Target", "Verification", "All the rest"), data["rows"])],
)
