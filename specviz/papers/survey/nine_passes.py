"""Section 5.1: its example of 37 tokens in 9 passes."""

from ...builders import BUILDERS
from ...verifiers import VERIFIERS
from ..entry import Entry, Table, judge, live

TOKENS, PASSES = 37, 9


def measure(bench):
    rows = []
    for depth in (5, 12):
        runs = bench.runs(BUILDERS["chain"](depth=depth), 0.0, VERIFIERS["exact-match"](), bench.prompts)
        passes = []
        for run in runs:
            written = used = 0
            for step in run.steps:
                if written >= TOKENS:
                    break
                written, used = written + len(step.emitted), used + 1
            if written >= TOKENS:
                passes.append(used)
        rows.append([depth, len(passes), sum(passes) / max(1, len(passes)), min(passes, default=0)])
    return {"rows": rows}


def verdict(data):
    best = min(data["rows"], key=lambda row: row[2] or 99)
    return judge(
        0 < best[3] <= PASSES,
        f"{TOKENS} tokens took {best[2]:.1f} passes on average with chains of {best[0]} and {best[3]} at best; the "
        f"example needs {PASSES}.",
        f"{TOKENS} tokens took {best[2]:.1f} passes on average with chains of {best[0]} and {best[3]} at best, more "
        f"than the example's {PASSES}: it is one sentence of a 97 M model with a 6 M draft (Leviathan et al., figure "
        "1), and drafts of any length.",
    )


ENTRY = Entry(
    "nine-passes",
    "Section 5.1",
    "An example: 37 tokens in 9 passes",
    "In the example “it only forwards 9 times and generates 37 tokens”.",
    verdict,
    measure=measure,
    opens=(live(BUILDERS["chain"](depth=12), VERIFIERS["exact-match"](), 0.0),),
    shown=lambda data: [Table(("Longest draft", "Texts", "Passes for 37 tokens, mean", "Fewest"), data["rows"])],
)
