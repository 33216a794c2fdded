"""Hypothesis 1 and figure 2: likely tokens are accepted more often."""

import itertools

import numpy as np

from ..entry import Entry, Lines, Series, judge, tab

TEMPERATURE, BINS = 0.8, (0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0)


def measure(bench):
    q, p, accepted = [], [], []
    for row in bench.positions(TEMPERATURE):
        share = np.minimum(row.p, row.q)
        for token in np.argsort(-row.q)[:8]:  # each with the chance it is drawn
            q.append(float(row.q[token]))
            p.append(float(row.p[token]))
            accepted.append(float(share[token] / row.q[token]) if row.q[token] > 0 else 0.0)
    q, p, accepted = map(np.array, (q, p, accepted))
    points = []
    for low, high in itertools.pairwise(BINS):
        inside = (q > low) & (q <= high)
        if inside.sum() >= 5:
            points.append([float(np.average(q[inside])), float(np.average(accepted[inside], weights=q[inside]))])
    return {
        "points": points,
        "tokens": len(q),
        "with_target": float(np.corrcoef(q, p)[0, 1]),
        "with_acceptance": float(np.corrcoef(q, accepted)[0, 1]),
    }


def verdict(data):
    rates = [rate for _, rate in data["points"]]
    rises = sum(b >= a - 0.02 for a, b in itertools.pairwise(rates))
    return judge(
        data["with_target"] > 0.5 and rates[-1] > rates[0] and data["with_acceptance"] > 0,
        f"Over {data['tokens']:,} tokens draft and target probability correlate with {data['with_target']:.2f}, and "
        f"the chance to be accepted rises from {rates[0]:.2f} for the least likely to {rates[-1]:.2f} for the "
        f"likeliest (in {rises} of {len(rates) - 1} steps between bins).",
        f"Acceptance goes from {rates[0]:.2f} for unlikely to {rates[-1]:.2f} for likely tokens, with a correlation "
        f"of {data['with_acceptance']:.2f} token by token: a draft distilled from its target is well calibrated at "
        "every probability, so how likely it finds a token says less about whether the target agrees.",
    )


ENTRY = Entry(
    "figure-2",
    "Hypothesis 1 and figure 2",
    "Likely tokens are accepted more often",
    "“Predicted tokens of higher draft probability statistically have a higher acceptance rate”; draft and target "
    "probabilities are strongly correlated (figure 2, right).",
    verdict,
    measure=measure,
    opens=(tab("acceptance"),),
    shown=lambda data: [Lines("draft probability q", "mean of min(1, p / q)", [Series("here", data["points"])])],
)
