"""Algorithm 2: sampling without replacement and its verification keep the target's law."""

from ...builders import BUILDERS
from ...models.table import toy_pair
from ...proof.lossless import error_of
from ...verifiers import VERIFIERS
from ..entry import Entry, Table, judge, lab, live


def measure(bench):
    builder, rows = BUILDERS["sequoia"].smallest(), []
    cases = (
        ("as printed", "sequoia", "distinct", {}),
        (
            "draft cut to one token, so children come from the uniform fallback",
            "sequoia",
            "distinct",
            {"draft_temperature": 0.0},
        ),
        ("children drawn with replacement instead", "sequoia", "iid", {}),
        ("SpecInfer's rule on children without replacement", "specinfer", "distinct", {}),
    )
    for name, rule, scheme, more in cases:
        bench.report(name)
        error, runs = error_of(builder, VERIFIERS[rule](), toy_pair(seed=1, closeness=0.2), scheme=scheme, **more)
        rows.append([name, error, runs])
    return {"rows": rows}


def verdict(data):
    exact, wrong = [row[1] for row in data["rows"][:2]], [row[1] for row in data["rows"][2:]]
    return judge(
        max(exact) < 1e-12 and min(wrong) > 1e-3,
        f"Over two whole steps the law of the text is the target's to {max(exact):.0e}, the uniform fallback "
        f"included; the same rule on children drawn otherwise misses by up to {max(wrong):.3f}, so the test can fail.",
        "The enumeration does not separate the rule from its wrong variants.",
    )


ENTRY = Entry(
    "algorithm-2",
    "Algorithm 2",
    "Sampling without replacement keeps the target's law",
    "Children are drawn without replacement, uniformly among the rest once the draft's tokens are used up, and "
    "verified with min(1, R / D); the output distribution is the target's (proof in appendix F.2.1).",
    verdict,
    measure=measure,
    how="exact",
    opens=(live(BUILDERS["sequoia"](), VERIFIERS["sequoia"]()), lab("verification")),
    shown=lambda data: [
        Table(("Case, on a toy pair", "Largest error of the law", "Outcomes enumerated"), data["rows"])
    ],
)
