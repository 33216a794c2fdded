"""Figure 5: tree size and accepted tokens, step by step."""

from ...builders import BUILDERS
from ...verifiers import VERIFIERS
from ..entry import Entry, Lines, Series, judge, live

TEMPERATURE, SIZE = 0.6, 64


def measure(bench):
    (trace,) = bench.runs(
        BUILDERS["dyspec-threshold"](size=SIZE, depth=12), TEMPERATURE, VERIFIERS["dyspec"](), bench.prompts[:1]
    )
    return {
        "sizes": [[step.index, len(step.parents)] for step in trace.steps],
        "accepted": [[step.index, len(step.path)] for step in trace.steps],
    }


def verdict(data):
    sizes, accepted = [s for _, s in data["sizes"]], [a for _, a in data["accepted"]]
    return judge(
        len(set(sizes)) > 1,
        f"Over {len(sizes)} steps the tree has {min(sizes)} to {max(sizes)} nodes and {min(accepted)} to "
        f"{max(accepted)} of them are accepted: its size follows the text.",
        f"All {len(sizes)} trees have {sizes[0]} nodes: the budget cut every one of them.",
    )


ENTRY = Entry(
    "figure-5",
    "Figure 5",
    "Tree size and accepted tokens, step by step",
    "With a fixed threshold the tree's size varies from step to step, and so does the number of accepted tokens "
    "(OpenWebText, 768 nodes at most).",
    verdict,
    measure=measure,
    opens=(live(BUILDERS["dyspec-threshold"](size=SIZE, depth=12), VERIFIERS["dyspec"](), TEMPERATURE),),
    shown=lambda data: [
        Lines("step", "nodes", [Series("tree size", data["sizes"])]),
        Lines("step", "accepted tokens", [Series("accepted", data["accepted"])]),
    ],
)
