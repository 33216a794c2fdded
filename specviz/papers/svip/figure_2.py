"""Figure 2: the draft's entropy, acceptance, and the length of what is accepted."""

import numpy as np

from ...distributions import entropy
from ..entry import Entry, Lines, Series, judge, tab

TEMPERATURE, BINS, LONGEST = 1.0, 8, 40


def profile(texts):
    """Binned means by the draft's entropy: acceptance, and the accepted length expected from there; correlations."""
    uncertainty, share, length = [], [], []
    for rows in texts:
        taken = [min(1.0, float(row.q[row.token] / row.p[row.token])) if row.p[row.token] > 0 else 0.0 for row in rows]
        for at, row in enumerate(rows):
            uncertainty.append(entropy(row.q))
            share.append(float(np.minimum(row.p, row.q).sum()))
            length.append(float(np.cumprod(taken[at : at + LONGEST]).sum()))
    uncertainty, share, length = map(np.array, (uncertainty, share, length))
    edges = np.quantile(uncertainty, np.linspace(0, 1, BINS + 1))
    place = np.clip(np.searchsorted(edges, uncertainty, side="right") - 1, 0, BINS - 1)
    groups = [place == group for group in range(BINS) if (place == group).any()]
    return {
        "acceptance": [[float(uncertainty[g].mean()), float(share[g].mean())] for g in groups],
        "length": [[float(uncertainty[g].mean()), float(length[g].mean())] for g in groups],
        "with_acceptance": _correlation(uncertainty, share),
        "with_length": _correlation(uncertainty, length),
        "positions": len(uncertainty),
    }


def _correlation(x, y):
    return float(np.corrcoef(x, y)[0, 1]) if x.std() > 0 and y.std() > 0 else 0.0


def shown(data):
    return [
        Lines("entropy of the draft's row, nats", "chance to be accepted", [Series("here", data["acceptance"])]),
        Lines("entropy of the draft's row, nats", "accepted length of a chain", [Series("here", data["length"])]),
    ]


def verdict(data):
    return judge(
        data["with_acceptance"] < -0.3,
        f"Over {data['positions']} positions entropy and acceptance correlate with {data['with_acceptance']:.2f} and "
        f"entropy and accepted length with {data['with_length']:.2f}; where the draft is surest a chain brings "
        f"{data['length'][0][1]:.1f} tokens, where it is least sure {data['length'][-1][1]:.1f}. The lengths stay "
        "well below the paper's dozens, whose targets are larger.",
        f"Entropy and acceptance correlate with {data['with_acceptance']:.2f} only: this draft was distilled from its "
        "target, and where it is in doubt the target is too, so the two rows still overlap.",
    )


ENTRY = Entry(
    "figure-2",
    "Figure 2",
    "Where the draft is in doubt, less is accepted",
    "Over more than a million tokens at temperature 1 there is a strong negative correlation between the draft's "
    "entropy and acceptance; at low entropy dozens of tokens in a row are accepted.",
    verdict,
    measure=lambda bench: profile(bench.rows(TEMPERATURE)),
    shown=shown,
    opens=(tab("acceptance"),),
)
