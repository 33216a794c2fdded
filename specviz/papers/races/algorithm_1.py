"""Algorithms 1 and 4: greedy speculative decoding is greedy rejection sampling, and lossless."""

from ...builders import BUILDERS
from ...models.table import toy_pair
from ...proof.lossless import error_of
from ...verifiers import VERIFIERS
from ..entry import Entry, Table, judge, lab

CASES = (("chain", "speculative-sampling"), ("batch", "sequoia"), ("branching", "sequoia"))


def measure(bench):
    rows = []
    for builder, rule in CASES:
        bench.report(f"{builder} under {rule}.")
        error, runs = error_of(BUILDERS[builder].smallest(), VERIFIERS[rule](), toy_pair(seed=1, closeness=0.2))
        rows.append([BUILDERS[builder].title, VERIFIERS[rule].title, error, runs])
    return {"rows": rows}


def verdict(data):
    error = max(row[2] for row in data["rows"])
    return judge(
        error < 1e-12,
        f"Sequences, batches and trees under rejection write the target's exact law (largest error {error:.0e}).",
    )


ENTRY = Entry(
    "algorithm-1",
    "Algorithms 1 and 4",
    "GSD on sequences, batches and trees",
    "Drafts without replacement, accepted one after the other with min(1, p / q), residual after each: the tree "
    "procedure applies the batch selection at every vertex.",
    verdict,
    measure=measure,
    how="exact",
    opens=(lab("verification"),),
    shown=lambda data: [Table(("Strategy", "Rule", "Largest error of the law", "Outcomes enumerated"), data["rows"])],
)
