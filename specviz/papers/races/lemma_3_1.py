"""Lemma 3.1: the harmonic bound below the exact race acceptance, and 1 - TV above it."""

import numpy as np

from ...theory.bounds import coupling_bound, harmonic_bound, race_acceptance
from ..entry import Entry, Lines, Series, Table, judge, lab

TEMPERATURE, PARTS = 1.0, 50


def measure(bench):
    points = []
    for row in bench.positions(TEMPERATURE):
        tv = 1 - float(np.minimum(row.p, row.q).sum())
        points.append(
            (race_acceptance(row.p, row.q), harmonic_bound(row.p, row.q), coupling_bound(row.p, row.q), 1 - tv)
        )
    points = np.array(sorted(points))
    means = [part.mean(axis=0) for part in np.array_split(points, min(PARTS, len(points)))]
    broken = int(
        (points[:, 1] > points[:, 0] + 1e-9).sum()
        + (points[:, 2] > points[:, 0] + 1e-9).sum()
        + (points[:, 0] > points[:, 3] + 1e-9).sum()
    )
    names = ("exact", "lemma", "coupling", "ceiling")
    return {
        **{name: [[i / len(means), float(mean[j])] for i, mean in enumerate(means)] for j, name in enumerate(names)},
        "broken": broken,
        "positions": len(points),
        "mean": points.mean(axis=0).tolist(),
    }


def verdict(data):
    exact, lemma, coupling, ceiling = data["mean"]
    return judge(
        data["broken"] == 0,
        f"At all {data['positions']} positions the bound holds and 1 - TV is not passed; on average the lemma says "
        f"{lemma:.3f}, the race accepts {exact:.3f}, and 1 - TV is {ceiling:.3f}. The lemma never exceeds one half, "
        f"even for p = q; (1 - TV) / (1 + TV), {coupling:.3f}, is the better bound here.",
        f"{data['broken']} inequalities are broken.",
    )


ENTRY = Entry(
    "lemma-3-1",
    "Lemma 3.1",
    "A lower bound of the first race's acceptance",
    "P(accept) >= (1 - D_HM(P, Q)) / 2 = sum of P Q / (P + Q), with the harmonic mean distance D_HM (equations 1 and "
    "2); the formulas of the text at hand are damaged, and the normalisation of D_HM is a reading.",
    verdict,
    measure=measure,
    opens=(lab("verification"),),
    shown=lambda data: [
        Lines(
            "positions, sorted",
            "chance to be accepted",
            [
                Series("1 - TV, the ceiling", data["ceiling"]),
                Series("the race, exact", data["exact"]),
                Series("(1 - TV) / (1 + TV)", data["coupling"], "dashes"),
                Series("lemma 3.1", data["lemma"], "dashes"),
            ],
        ),
        Table(
            ("Mean", "Value"),
            [
                ["the race, exact", data["mean"][0]],
                ["lemma 3.1", data["mean"][1]],
                ["(1 - TV) / (1 + TV)", data["mean"][2]],
                ["1 - TV", data["mean"][3]],
            ],
        ),
    ],
)
