"""Proposition 3.4: expected tokens are the sum over the nodes; and what the assumption costs on real text."""

from ...acceptance.vectors import expected_tokens
from ...builders import BUILDERS
from ...metrics import estimate
from ...verifiers import VERIFIERS
from ..entry import Entry, Table, judge, live

SIZES, TEMPERATURE = (4, 8, 16, 32), 0.8


def measure(bench):
    vector, rows = bench.vector(TEMPERATURE), []
    for size in SIZES:
        builder = BUILDERS["sequoia"](size=size, depth=8, acceptance=vector)
        traces = bench.runs(builder, TEMPERATURE, VERIFIERS["sequoia"]())
        measured, margin = estimate([(trace.counts.tokens, trace.counts.passes) for trace in traces])
        rows.append([size, expected_tokens(builder.shape, vector), measured, margin])
    return {"rows": rows, "texts": len(bench.prompts)}


def verdict(data):
    off = [abs(got - want) / max(margin, 1e-9) for _, want, got, margin in data["rows"]]
    share = max(abs(got / want - 1) for _, want, got, _ in data["rows"])
    return judge(
        sum(o <= 1 for o in off) >= len(off) - 1,
        f"The sum of the scores foretells the tokens of {len(off)} trees to within {100 * share:.0f} %, and all but "
        f"at most one lie within the 95 % interval ({data['texts']} texts are the unit).",
        f"The sum of the scores misses by up to {100 * share:.0f} %, beyond the 95 % interval for "
        f"{sum(o > 1 for o in off)} of {len(off)} trees: acceptance depends on more than the child's place, since "
        "hard positions come together.",
    )


ENTRY = Entry(
    "proposition-3-4",
    "Proposition 3.4",
    "Expected tokens are the sum of the nodes' scores",
    "Under the positional acceptance assumption (definition 3.1) a tree brings F(T) = sum over nodes of the product "
    "of P along the path. Appendix B names the assumption as the main theoretical limitation.",
    verdict,
    measure=measure,
    opens=(live(BUILDERS["sequoia"](size=16, depth=8), VERIFIERS["sequoia"]()),),
    shown=lambda data: [Table(("Nodes", "Sum of scores", "Tokens a pass, counted", "95 %, ±"), data["rows"])],
)
