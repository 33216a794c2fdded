"""Section 4.4.2: all paths as a batch, or one tree: what is read twice."""

from ...builders import BUILDERS
from ...tree import Topology
from ..entry import Entry, Lines, Series, Table, judge, lab

TEMPERATURE, SIZES = 0.8, (8, 16, 32, 64)


def batched(shape):
    """Nodes that separate paths to every leaf read, the root once for each."""
    return sum(int(shape.depth[node]) + 1 for node in range(len(shape)) if not shape.children[node])


def measure(bench):
    vector, cost = bench.vector(TEMPERATURE), bench.cost()
    rows = []
    for size in SIZES:
        shape = BUILDERS["sequoia"](size=size, depth=10, acceptance=vector).shape
        paths = batched(shape)
        rows.append([size, sum(not c for c in shape.children), paths, cost.target(size), cost.target(paths)])
    (trace,) = bench.runs(BUILDERS["dyspec"](size=32), TEMPERATURE, None, bench.prompts[:1])
    own = [(batched(Topology(step.parents)), len(step.parents)) for step in trace.steps]
    return {"rows": rows, "run": sum(a for a, _ in own) / sum(b for _, b in own)}


def told(data):
    last = data["rows"][-1]
    return judge(
        all(row[2] > row[0] and row[4] >= row[3] for row in data["rows"]),
        f"Paths to {last[1]} leaves read {last[2]} tokens where one tree of {last[0]} nodes reads each once, "
        f"{last[2] / last[0]:.1f} times as many; by this machine's passes that takes {1000 * last[4]:.1f} ms instead "
        f"of {1000 * last[3]:.1f}. In a run with DySpec's trees it would be {data['run']:.1f} times as many tokens. "
        "The text before the tree, which a batch would attend to once a path, is not counted.",
    )


ENTRY = Entry(
    "batched-paths",
    "Section 4.4.2",
    "A batch of paths reads shared tokens again and again",
    "Forming all sequences into a batch results in “redundant computation”; merged into a prefix tree with a tree "
    "mask they are verified in a single pass.",
    told,
    measure=measure,
    how="timed",
    opens=(lab("tree", preset="builders"),),
    shown=lambda data: [
        Lines(
            "nodes of the tree",
            "tokens read by the target",
            [
                Series("one tree", [[row[0], row[0]] for row in data["rows"]]),
                Series("batched paths", [[row[0], row[2]] for row in data["rows"]]),
            ],
            log_x=True,
        ),
        Table(
            ("Nodes", "Leaves", "Tokens as paths", "Tree, ms", "Paths, ms"),
            [[*row[:3], 1000 * row[3], 1000 * row[4]] for row in data["rows"]],
        ),
    ],
)
