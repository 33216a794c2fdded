"""Section 4.4.2: exact match, rejection sampling and typical acceptance."""

from ...builders import BUILDERS
from ...models.table import toy_pair
from ...proof.lossless import error_of
from ...verifiers import VERIFIERS
from ..bench import tokens_per_pass
from ..entry import Entry, Table, compare, judge

TEMPERATURE = 1.0
RULES = {
    "target-match": "Exact match with the target's draw",
    "speculative-sampling": "Rejection sampling",
    "typical": "Typical acceptance",
}


def measure(bench):
    rows = []
    for rule, name in RULES.items():
        runs = bench.runs(BUILDERS["chain"](depth=5), TEMPERATURE, VERIFIERS[rule](), bench.prompts[:6])
        error, _ = error_of(
            BUILDERS["chain"].smallest(), VERIFIERS[rule](), toy_pair(seed=1, closeness=0.2), scheme="distinct"
        )
        rows.append([name, tokens_per_pass(runs), error])
    return {"rows": rows}


def verdict(data):
    match, rejection, typical = data["rows"]
    return judge(
        match[1] < rejection[1] and typical[2] > 1e-3 > max(match[2], rejection[2]),
        f"Looking for the very token brings {match[1]:.2f} tokens a pass, rejection sampling {rejection[1]:.2f} with "
        f"the same law, and typical acceptance {typical[1]:.2f} with another law (off by {typical[2]:.2f} on a toy "
        "pair): as the survey says, lossy by design.",
        f"Looking for the very token brings {match[1]:.2f} tokens a pass, rejection sampling {rejection[1]:.2f}, "
        f"typical acceptance {typical[1]:.2f}.",
    )


ENTRY = Entry(
    "acceptance-rules",
    "Section 4.4.2, acceptance",
    "Exact match, rejection sampling, typical acceptance",
    "Exact matching may struggle when the target samples; a criterion modified from rejection sampling keeps the "
    "distribution; typical acceptance relaxes it for more speed.",
    verdict,
    measure=measure,
    opens=(
        compare(
            (BUILDERS["chain"](), VERIFIERS["speculative-sampling"]()),
            (BUILDERS["chain"](), VERIFIERS["typical"]()),
            temperature=TEMPERATURE,
        ),
    ),
    shown=lambda data: [
        Table(("Rule on chains of 5", "Tokens a pass", "Largest error of the law, toy pair"), data["rows"])
    ],
)
