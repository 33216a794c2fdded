"""Algorithm 5: races on trees write the text of plain decoding with the same seed."""

from ...builders import BUILDERS
from ...config import RunConfig
from ...proof.lossless import PROMPT, compare_texts
from ...verifiers import VERIFIERS
from ..entry import Entry, Table, compare, judge

TREES = ("chain", "batch", "optimal", "dyspec", "eagle2")
SMALL = {"optimal": {"size": 8, "depth": 3}, "dyspec": {"size": 8}, "eagle2": {"size": 6, "depth": 3, "width": 2}}


def measure(bench):
    rows = []
    for name in TREES:
        bench.report(f"Seed by seed: {BUILDERS[name].title}.")
        builder = BUILDERS[name](**SMALL.get(name, {}))
        scheme = "race" if "race" in builder.schemes else builder.schemes[0]
        runs, difference = compare_texts(RunConfig(PROMPT, builder, VERIFIERS["race"]()), scheme, runs=24)
        rows.append([BUILDERS[name].title, scheme, runs, difference is None])
    return {"rows": rows}


def verdict(data):
    equal = sum(row[3] for row in data["rows"])
    return judge(
        equal == len(data["rows"]),
        f"For {equal} kinds of trees, a re-ranked one among them, every one of {sum(row[2] for row in data['rows'])} "
        "toy runs wrote the very text of plain decoding with the same seed, at temperatures from 0.5 to 1.5: with "
        "noise keyed by position the tree changes speed only, which is more than the paper claims.",
        f"{len(data['rows']) - equal} kinds of trees wrote another text.",
    )


ENTRY = Entry(
    "algorithm-5",
    "Algorithm 5",
    "Races on trees keep the target's law",
    "Children are the first arrivals of the race under q, the target's winner under p is written and followed if it "
    "was drafted; the verification step is simpler than GSD's.",
    verdict,
    measure=measure,
    how="exact",
    opens=(
        compare(
            (BUILDERS["optimal"](), VERIFIERS["race"]()), (BUILDERS["dyspec"](), VERIFIERS["race"]()), temperature=0.8
        ),
    ),
    shown=lambda data: [
        Table(
            ("Tree", "Children", "Runs", "All equal"), [[*row[:3], "yes" if row[3] else "no"] for row in data["rows"]]
        )
    ],
)
