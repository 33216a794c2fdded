"""Figures 5, 6 and 7: drafted and accepted length and the rate, by policy."""

from ..entry import Entry, Table, judge, tab
from .policies import POLICIES, by_kind


def measure(bench):
    by_temperature = {}
    for temperature in (0.0, 1.0):
        rows = by_kind(bench, temperature)
        by_temperature[f"{temperature:g}"] = [
            [name, *(sum(row[i] for row in rows if row[1] == name) / len(bench.kinds) for i in (4, 5))]
            for name in POLICIES
        ]
    return {t: [[*row, row[2] / max(row[1], 1e-9)] for row in rows] for t, rows in by_temperature.items()}


def verdict(data):
    rates = {t: {row[0]: row[3] for row in rows} for t, rows in data.items()}
    words = " and ".join(
        f"{100 * rate['SVIP']:.0f} % at temperature {t} ({100 * rate['constant 5']:.0f} % constant, "
        f"{100 * rate['heuristic']:.0f} % heuristic)"
        for t, rate in rates.items()
    )
    return judge(
        all(rate["SVIP"] > max(rate["constant 5"], rate["heuristic"]) for rate in rates.values()),
        f"SVIP's drafts are accepted most often, as in the figures: {words}.",
        f"SVIP's drafts are accepted to {words}: with the threshold that was fastest here they are not the shortest.",
    )


ENTRY = Entry(
    "figure-5",
    "Figures 5 to 7",
    "Shorter drafts, more of them accepted",
    "SVIP leads to shorter drafts and a higher acceptance rate: about 80 % or more for Qwen2.5 and more than 90 % "
    "for LLaMA-3 in greedy decoding.",
    verdict,
    measure=measure,
    opens=(tab("acceptance"),),
    shown=lambda data: [
        Table((f"Temperature {t}", "Drafted a step", "Accepted a step", "Rate"), rows) for t, rows in data.items()
    ],
)
