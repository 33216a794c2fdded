"""Section 3.6: blockwise parallel decoding needs m / k + 1 passes at best."""

from ...builders import BUILDERS
from ...metrics import count
from ...verifiers import VERIFIERS
from ..entry import Entry, Table, judge, live

LENGTHS = (2, 4, 8)


def measure(bench):
    rows = []
    for k in LENGTHS:
        traces = bench.runs(BUILDERS["chain"](depth=k), 0.0, VERIFIERS["exact-match"](), bench.prompts[:4])
        found = count(traces)
        tokens, passes = found.tokens, found.passes
        rows.append([k, tokens, passes, tokens / (k + 1) + len(traces)])
    return {"rows": rows}


def verdict(data):
    ok = all(row[2] >= row[1] / (row[0] + 1) - 1e-9 for row in data["rows"])
    words = ", ".join(f"{row[2] / row[3]:.2f} times that with {row[0]} drafts" for row in data["rows"])
    return judge(
        ok,
        f"With this pair's draft in place of heads, greedy chains need {words}: the ideal m / (k + 1) + 1 passes, "
        "where every block is accepted whole, is never passed. The target verifies and the step's last token is its "
        "own, hence k + 1.",
    )


ENTRY = Entry(
    "blockwise",
    "Sections 3.5 and 3.6",
    "Blockwise parallel decoding: m / k + 1 passes at best",
    "With k heads the number of passes falls from m to 2 m / k, and to m / k + 1 once verification and prediction "
    "share a pass, if all drafts are accepted.",
    verdict,
    measure=measure,
    opens=(live(BUILDERS["chain"](depth=4), VERIFIERS["exact-match"](), 0.0),),
    shown=lambda data: [Table(("Drafts k", "Tokens m", "Passes", "At best"), data["rows"])],
)
