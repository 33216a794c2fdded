"""Figure 3: the ratio of cross-entropy and entropy lies in a narrow range."""

from math import isfinite

import numpy as np

from ...distributions import entropy
from ...theory.bounds import cross_entropy
from ..entry import Entry, Lines, Series, judge, percent, tab

TEMPERATURE, LOW, HIGH = 1.0, 1.0, 1.3


def measure(bench):
    ratios = []
    for row in bench.positions(TEMPERATURE):
        own, cross = entropy(row.q), cross_entropy(row.q, row.p)
        if own > 1e-3 and isfinite(cross):
            ratios.append(cross / own)
    ratios = np.array(ratios)
    counts, edges = np.histogram(ratios, bins=24, range=(0.8, 2.0))
    return {
        "share": float(((ratios >= LOW) & (ratios <= HIGH)).mean()),
        "median": float(np.median(ratios)),
        "positions": len(ratios),
        "quartiles": np.quantile(ratios, (0.25, 0.75)).tolist(),
        "histogram": [[float((a + b) / 2), int(n)] for a, b, n in zip(edges, edges[1:], counts, strict=False)],
    }


def verdict(data):
    low, high = data["quartiles"]
    return judge(
        data["share"] > 0.5,
        f"{percent(data['share'])} of {data['positions']} ratios lie between {LOW} and {HIGH} (median "
        f"{data['median']:.2f}, half of them from {low:.2f} to {high:.2f}), so the cross-entropy is about a constant "
        f"times the entropy; this pair's own factor would be c = {max(0, (data['median'] - 1) / 2):.2f}.",
        f"Only {percent(data['share'])} of the ratios lie between {LOW} and {HIGH}; half of them go from {low:.2f} to "
        f"{high:.2f}. The paper's drafts are whole models of the same family; this one is far smaller than its target.",
    )


ENTRY = Entry(
    "figure-3",
    "Figure 3",
    "Cross-entropy is about a constant times the draft's entropy",
    "For Pythia, Qwen2.5 and LLaMA-3 the ratio H(q, p) / H(q) is concentrated between 1.0 and 1.3.",
    verdict,
    measure=measure,
    opens=(tab("acceptance"),),
    shown=lambda data: [Lines("H(q, p) / H(q)", "positions", [Series("here", data["histogram"])])],
)
