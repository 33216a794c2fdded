"""Algorithm 2: with the last greedy key as threshold, level by level gives the same tree."""

from ...builders import BUILDERS
from ...verifiers import VERIFIERS
from ..entry import Entry, Table, judge, live
from .algorithm_1 import grown

SEEDS, SIZE = 12, 14


def measure(bench):
    rows = []
    for seed in range(SEEDS):
        greedy = grown(BUILDERS["dyspec"](size=SIZE, depth=4), seed, vocab=6)
        threshold = greedy.keys[-1] * (1 - 1e-9)
        level = grown(BUILDERS["dyspec-threshold"](threshold=threshold, size=1000, depth=4), seed, vocab=6)
        ours, theirs = ({_path(tree, node) for node in range(1, len(tree))} for tree in (greedy, level))
        rows.append([seed, threshold, len(greedy), len(level), ours == theirs])
    return {"rows": rows}


def _path(tree, node):
    return tuple(tree.tokens[above] for above in tree.topology.path(node))


def verdict(data):
    equal = sum(row[4] for row in data["rows"])
    return judge(
        equal == len(data["rows"]),
        "With the last greedy key as threshold the tree grown level by level is the greedy one, node by node, for "
        f"all {equal} toy drafts; it asks the draft once a level.",
        f"The trees are equal for {equal} of {len(data['rows'])} toy drafts only.",
    )


ENTRY = Entry(
    "algorithm-2",
    "Algorithm 2, section 4.4",
    "A threshold gives the same tree level by level",
    "“If we set the threshold to be the same as the acceptance rate of the last token, we will exactly get the same "
    "result as the previous algorithm” (appendix A.1); in practice it is about one over the size.",
    verdict,
    measure=measure,
    how="exact",
    opens=(live(BUILDERS["dyspec-threshold"](size=32), VERIFIERS["dyspec"](), 0.6),),
    shown=lambda data: [
        Table(
            ("Toy draft", "Last greedy key", "Nodes, greedy", "Nodes, by threshold", "Equal"),
            [[*row[:4], "yes" if row[4] else "no"] for row in data["rows"]],
        )
    ],
)
