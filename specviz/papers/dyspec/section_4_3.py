"""Section 4.3: how often the draft must be asked, one by one and level by level."""

from ...builders import BUILDERS
from ...verifiers import VERIFIERS
from ..bench import tokens_per_pass
from ..entry import Entry, Table, compare, judge

TEMPERATURE, SIZES = 0.6, (16, 32, 64)


def ways(size):
    return {
        "greedy, node by node": BUILDERS["dyspec"](size=size, batch=1),
        "greedy, likely nodes together": BUILDERS["dyspec"](size=size, batch=8),
        "by threshold": BUILDERS["dyspec-threshold"](size=size, depth=16),
    }


def measure(bench):
    rows = []
    for size in SIZES:
        for name, builder in ways(size).items():
            traces = bench.runs(builder, TEMPERATURE, VERIFIERS["dyspec"](), bench.prompts[:4])
            steps = [step for trace in traces for step in trace.steps if len(step.parents) > 1]
            rows.append(
                [
                    size,
                    name,
                    sum(s.draft_passes for s in steps) / len(steps),
                    sum(len(s.parents) for s in steps) / len(steps),
                    tokens_per_pass(traces),
                ]
            )
    return {"rows": rows}


def verdict(data):
    largest = [row for row in data["rows"] if row[0] == SIZES[-1]]
    one, _, level = largest
    return judge(
        level[2] < one[2] / 2 and level[4] > 0.85 * one[4],
        f"At {SIZES[-1]} nodes the threshold needs {level[2]:.1f} draft passes a step where the greedy heap needs "
        f"{one[2]:.1f}, and brings {level[4]:.2f} tokens a pass instead of {one[4]:.2f}, with {level[3]:.0f} nodes on "
        "average.",
        f"At {SIZES[-1]} nodes the threshold needs {level[2]:.1f} draft passes instead of {one[2]:.1f}, but brings "
        f"{level[4]:.2f} tokens a pass instead of {one[4]:.2f}: its tree has {level[3]:.0f} nodes on average, since "
        "the size varies with the rows.",
    )


ENTRY = Entry(
    "section-4-3",
    "Sections 4.3 and 4.4",
    "Draft passes: a node each, or a level each",
    "The greedy method calls the draft N times for N nodes, level by level only as often as the tree is deep, which "
    "“has a minimal impact on the number of accepted tokens but significantly improves latency”.",
    verdict,
    measure=measure,
    opens=(
        compare(
            (BUILDERS["dyspec"](size=32), VERIFIERS["dyspec"]()),
            (BUILDERS["dyspec-threshold"](size=32), VERIFIERS["dyspec"]()),
            temperature=TEMPERATURE,
        ),
    ),
    shown=lambda data: [
        Table(("Nodes asked for", "Way", "Draft passes a step", "Nodes drafted", "Tokens a pass"), data["rows"])
    ],
)
