"""Section 4.4.1: when to stop drafting: fixed lengths, a rule on past steps, a threshold on the draft's doubt."""

from ...acceptance.vectors import tuned_h
from ...builders import BUILDERS
from ...verifiers import VERIFIERS
from ..bench import drafted, speedup, tokens_per_pass
from ..entry import Entry, Lines, Series, Table, compare, judge

TEMPERATURE = 0.6
WAYS = {
    "static": {n: BUILDERS["chain"](depth=n) for n in (1, 2, 4, 8)},
    "heuristic": {0: BUILDERS["heuristic"]()},
    "threshold": {h: BUILDERS["svip"](h=h) for h in sorted({0.5, 1.0, 1.4, tuned_h()})},
}


def measure(bench):
    prompts, rows = bench.prompts[:4], []
    plain = bench.plain(TEMPERATURE, prompts)
    for kind, ways in WAYS.items():
        for value, builder in ways.items():
            runs = bench.runs(builder, TEMPERATURE, None, prompts)
            rows.append([kind, value, drafted(runs), tokens_per_pass(runs), speedup(runs, plain)])
    return {"rows": rows}


def verdict(data):
    best = max(data["rows"], key=lambda row: row[4] or 0)
    ends = [row for row in data["rows"] if row[0] == "static"]
    inside = max(ends, key=lambda row: row[4] or 0)
    fixed = inside is not ends[0] and inside is not ends[-1]
    return judge(
        fixed,
        f"Of the fixed lengths {inside[1]} is fastest ({inside[4]:.2f} times plain decoding), shorter and longer ones "
        f"are slower; of all policies {best[0]} with {best[2]:.1f} drafts a step is ({best[4]:.2f}).",
        f"Of the fixed lengths {inside[1]} is fastest here ({inside[4]:.2f}), an end of what was tried: a draft pass "
        f"costs little beside the target's. Of all policies {best[0]} with {best[2]:.1f} drafts a step is "
        f"({best[4]:.2f}).",
    )


ENTRY = Entry(
    "termination",
    "Section 4.4.1, termination",
    "When to stop drafting",
    "“Sequences of speculative tokens that are too short or too long are suboptimal”: a static setting, an adaptive "
    "threshold on each token, or heuristic rules such as longer after a full acceptance.",
    verdict,
    measure=measure,
    how="timed",
    opens=(
        compare(
            (BUILDERS["chain"](depth=4), VERIFIERS["speculative-sampling"]()),
            (BUILDERS["svip"](), VERIFIERS["speculative-sampling"]()),
            temperature=TEMPERATURE,
        ),
    ),
    shown=lambda data: [
        Lines(
            "drafted tokens a step",
            "speedup, timed",
            [
                Series(
                    kind,
                    sorted([row[2], row[4]] for row in data["rows"] if row[0] == kind),
                    "dots" if kind == "heuristic" else "line",
                )
                for kind in WAYS
            ],
        ),
        Table(("Policy", "Length or h", "Drafted a step", "Tokens a pass", "Speedup"), data["rows"]),
    ],
)
