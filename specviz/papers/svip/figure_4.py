"""Figure 4: acceptance, its bound and the estimate, positions sorted by acceptance."""

from math import isfinite

import numpy as np

from ...distributions import entropy
from ...theory.bounds import cross_entropy, entropy_estimate, pinsker_bound
from ..entry import Entry, Lines, Series, judge, percent, tab

TEMPERATURE, SHOWN, C = 1.0, 60, 0.15


def measure(bench):
    estimates = []
    for row in bench.positions(TEMPERATURE):
        own, cross = entropy(row.q), cross_entropy(row.q, row.p)
        bound = pinsker_bound(max(0.0, cross - own)) if isfinite(cross) else 0.0
        estimates.append((float(np.minimum(row.p, row.q).sum()), max(0.0, bound), max(0.0, entropy_estimate(own, C))))
    estimates.sort()
    each = np.array_split(np.array(estimates), min(SHOWN, len(estimates)))
    means = [part.mean(axis=0) for part in each]
    names = ("acceptance", "bound", "estimate")
    above = np.array([[acceptance - bound, acceptance - guess] for acceptance, bound, guess in estimates])
    return {
        **{
            name: [[place / len(means), float(mean[i])] for place, mean in enumerate(means)]
            for i, name in enumerate(names)
        },
        "under": float((above[:, 1] >= 0).mean()),
        "distance": float(np.abs(above[:, 1]).mean()),
        "positions": len(estimates),
    }


def verdict(data):
    return judge(
        data["under"] > 0.5,
        f"With c = {C}, as in the authors' code, the estimate from the draft's entropy alone stays below the "
        f"acceptance at {percent(data['under'])} of {data['positions']} positions and is {data['distance']:.2f} away "
        "on average: a usable lower estimate, no bound.",
        f"With c = {C} the estimate lies below the acceptance at {percent(data['under'])} of {data['positions']} "
        "positions only.",
    )


ENTRY = Entry(
    "figure-4",
    "Figure 4, equation 6",
    "The bound, and the estimate that needs the draft alone",
    "beta >= 1 - sqrt(c H(q)) approximates the bound of equation 5 with the draft's entropy; drawn beside the "
    "acceptance for positions sorted by it.",
    verdict,
    measure=measure,
    opens=(tab("acceptance"),),
    shown=lambda data: [
        Lines(
            "positions, sorted",
            "chance to be accepted",
            [
                Series("1 - TV", data["acceptance"]),
                Series("bound (5)", data["bound"], "dots"),
                Series("estimate (6)", data["estimate"], "dots"),
            ],
        )
    ],
)
