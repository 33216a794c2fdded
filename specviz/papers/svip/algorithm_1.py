"""Algorithm 1: stopping by entropy is lossless, and stops where it should."""

from ...builders import BUILDERS
from ...metrics import count
from ...models.table import toy_pair
from ...proof.lossless import error_of
from ...verifiers import VERIFIERS
from ..entry import Entry, Table, judge, live

H = 0.4


def measure(bench):
    rows = []
    for rule in ("speculative-sampling", "block", "target-match"):
        error, runs = error_of(BUILDERS["svip"].smallest(), VERIFIERS[rule](), toy_pair(seed=1, closeness=0.2))
        rows.append([VERIFIERS[rule].title, error, runs])
    traces = bench.runs(BUILDERS["svip"](h=H), 0.0, None, bench.prompts[:4])
    ends, early = 0, 0
    for trace in traces:
        for step in trace.steps:
            doubts = [key for key in step.keys[1:] if key is not None]
            ends += bool(doubts) and doubts[-1] > H
            early += sum(uncertainty > H for uncertainty in doubts[:-1])
    found = count(traces)
    return {
        "rows": rows,
        "ends": ends,
        "early": early,
        "steps": found.passes,
        "mean": found.drafted,
        "longest": max(len(step.parents) - 1 for trace in traces for step in trace.steps),
    }


def verdict(data):
    error = max(row[1] for row in data["rows"])
    return judge(
        error < 1e-12 and data["early"] == 0,
        f"Stopped by the entropy of the row a token was drawn from, chains keep the target's law to {error:.0e} under "
        f"three rules. With h = {H} in greedy decoding {data['ends']} of {data['steps']} chains ended in doubt (the "
        f"others at the text's end or at 40), after {data['mean']:.1f} tokens on average and {data['longest']} at "
        "most.",
        "A chain went on after a row above the threshold, or the law is not the target's.",
    )


ENTRY = Entry(
    "algorithm-1",
    "Algorithm 1",
    "Stop after the first token drawn in doubt",
    "Draft until sqrt(H(q)) > h; the token just sampled is kept. The output distribution is the target's.",
    verdict,
    measure=measure,
    how="exact",
    opens=(live(BUILDERS["svip"](h=H), VERIFIERS["speculative-sampling"](), 1.0),),
    shown=lambda data: [
        Table(("Rule, on a toy pair", "Largest error of the law", "Outcomes enumerated"), data["rows"])
    ],
)
