"""Sections 4.4.2 and 7.1.2: all paths as a batch, or one tree: what is read twice, counted and timed."""

from ...benchmarks.batches import random_pass, seconds_in_turns
from ...builders import BUILDERS
from ...randomness import Seeded
from ...tree import Topology
from ..entry import Entry, Lines, Series, Table, judge, lab

TEMPERATURE, SIZES, PREFIX = 0.8, (8, 16, 32, 64), 64


def batched(shape):
    """Paths to the leaves, and the tokens of the longest: a batch is as long as its longest row."""
    ends = [int(shape.depth[node]) + 1 for node in range(len(shape)) if not shape.children[node]]
    return len(ends), max(ends), sum(ends)


def measure(bench):
    vector, rng = bench.vector(TEMPERATURE), Seeded(5)
    shapes = {n: BUILDERS["sequoia"](size=n, depth=10, acceptance=vector).shape for n in SIZES}
    passes = {}
    for n, shape in shapes.items():
        paths, longest, _ = batched(shape)
        for name, rows, tokens in (("tree", 1, shape), ("paths", paths, longest)):
            bench.report(f"Reading the texts of {rows} rows.")
            passes[name, n] = random_pass(bench.pair.target, rng, bench.pair.vocab_size, rows, PREFIX, tokens)
    for news in seconds_in_turns(passes):
        bench.report(f"Timing batched passes: {news.done} of {news.of} rounds.")
    (trace,) = bench.runs(BUILDERS["dyspec"](size=32), TEMPERATURE, None, bench.prompts[:1])
    own = [(batched(Topology(step.parents))[2], len(step.parents)) for step in trace.steps]
    return {
        "rows": [[n, *batched(shape), news.known["tree", n], news.known["paths", n]] for n, shape in shapes.items()],
        "run": sum(paths for paths, _ in own) / sum(tree for _, tree in own),
        "prefix": PREFIX,
    }


def verdict(data):
    nodes, paths, longest, tokens, tree, batch = data["rows"][-1]
    return judge(
        all(row[3] > row[0] for row in data["rows"]) and batch > tree,
        f"Paths to {paths} leaves read {tokens} tokens where one tree of {nodes} nodes reads each once, "
        f"{tokens / nodes:.1f} times as many, and {paths * longest} where every row is as long as the longest. Timed "
        f"behind {data['prefix']} tokens: {1000 * tree:.1f} ms for the tree, {1000 * batch:.1f} ms for the batch, "
        f"{batch / tree:.1f} times as long; {data['prefix'] * (paths - 1)} tokens of the text before are kept twice "
        f"besides. With DySpec's trees a run would read {data['run']:.1f} times as many tokens.",
    )


ENTRY = Entry(
    "batched-paths",
    "Sections 4.4.2 and 7.1.2",
    "A batch of paths reads shared tokens again and again",
    "Verifying sequences one by one results in “redundant computation”, and in a batch what they share “cannot be "
    "reused”; merged into a prefix tree with a tree mask they are verified in a single pass.",
    verdict,
    measure=measure,
    how="timed",
    opens=(lab("tree", preset="builders"),),
    shown=lambda data: [
        Lines(
            "nodes of the tree",
            "milliseconds of the target’s pass",
            [
                Series("one tree", [[row[0], 1000 * row[4]] for row in data["rows"]]),
                Series("batched paths", [[row[0], 1000 * row[5]] for row in data["rows"]]),
            ],
            log_x=True,
        ),
        Table(
            ("Nodes", "Leaves", "Longest", "Tokens as paths", "Tree, ms", "Paths, ms"),
            [[*row[:4], 1000 * row[4], 1000 * row[5]] for row in data["rows"]],
        ),
    ],
)
