"""Table 8: three rules while top-p cuts the rows."""

from ...acceptance.vectors import expected_tokens
from ...builders import BUILDERS
from ...verifiers import VERIFIERS
from ..entry import Entry, Lines, Series, Table, compare, judge

VALUES = (0.8, 0.9, 1.0)
RULES = {"sequoia": "Sequoia", "specinfer": "SpecInfer", "target-match": "Top-k"}


def measure(bench):
    shape = BUILDERS["sequoia"](size=16, depth=6, acceptance=bench.vector(1.0)).shape
    return {
        rule: [[value, expected_tokens(shape, bench.vector(1.0, rule, 16, top_p=value))] for value in VALUES]
        for rule in RULES
    }


def verdict(data):
    ours = dict(data["sequoia"])
    spread = max(ours.values()) / min(ours.values())
    best = all(ours[value] >= dict(data[rule])[value] - 1e-9 for rule in RULES for value in VALUES)
    margin = min(ours[v] / max(dict(data[rule])[v] for rule in RULES if rule != "sequoia") for v in VALUES)
    return judge(
        best,
        f"Sequoia's rule brings the most tokens at every top-p, by at least {100 * (margin - 1):.0f} %, and varies by "
        f"a factor of {spread:.2f} only.",
        f"At one top-p another rule brings more ({1 / margin:.2f} times): cut rows hold few tokens, and a draft "
        "trained on this target ranks them right, which is all that top-k asks for.",
    )


ENTRY = Entry(
    "table-8",
    "Table 8",
    "Robust to top-p",
    "With one tree, Sequoia's rule is fastest at top-p 0.8, 0.9 and 1.0.",
    verdict,
    measure=measure,
    quoted=Table(
        ("Top-p", "Sequoia", "SpecInfer", "Top-k"),
        (
            (0.8, "2.54 x (3.18)", "2.35 x (2.93)", "2.43 x (2.90)"),
            (0.9, "2.61 x (3.27)", "2.42 x (3.01)", "2.27 x (2.71)"),
            (1.0, "2.69 x (3.26)", "2.55 x (3.10)", "2.12 x (2.44)"),
        ),
    ),
    opens=(
        compare(
            (BUILDERS["sequoia"](), VERIFIERS["sequoia"]()),
            (BUILDERS["sequoia"](), VERIFIERS["target-match"]()),
            temperature=1.0,
            top_p=0.8,
        ),
    ),
    shown=lambda data: [
        Lines("top-p", "expected tokens a pass", [Series(title, data[rule]) for rule, title in RULES.items()]),
    ],
)
