"""Section 5: batch drafting, rejection against races."""

import numpy as np

from ..entry import Entry, Lines, Series, judge, tab

TEMPERATURE, WIDTHS = 1.0, (1, 2, 3, 4, 6, 8, 12, 16, 32)


def measure(bench):
    by_method = {}
    for method, rule in (("GSD", "sequoia"), ("ERSD", "race")):
        vector = np.cumsum(bench.vector(TEMPERATURE, rule))
        by_method[method] = [[k, 1 + float(vector[min(k, len(vector)) - 1])] for k in WIDTHS if k <= len(vector)]
    return by_method


def verdict(data):
    pairs = list(zip(data["GSD"], data["ERSD"], strict=True))
    first, later = pairs[0], [(g, e) for g, e in pairs if g[0] > 2]
    ahead = [g[0] for g, e in later if e[1] > g[1]]
    last = pairs[-1]
    return judge(
        first[0][1] > first[1][1] and bool(ahead),
        f"With one draft rejection brings {first[0][1]:.3f} tokens and races {first[1][1]:.3f}; from "
        f"{ahead[0] if ahead else 'no number of'} drafts on races lead, and at {last[0][0]} both stand just below two "
        f"({last[0][1]:.3f} and {last[1][1]:.3f}).",
        f"With one draft rejection brings {first[0][1]:.3f} tokens and races {first[1][1]:.3f}, and races do not "
        f"overtake up to {last[0][0]} drafts ({last[0][1]:.3f} and {last[1][1]:.3f}).",
    )


ENTRY = Entry(
    "section-5",
    "Section 5, batch drafting",
    "Rejection leads for one draft, races for several",
    "For batches GSD outperforms ERSD with one draft, consistent with lemma 3.1; with two they are about equal, with "
    "more ERSD leads; both plateau just below two tokens.",
    verdict,
    measure=measure,
    opens=(tab("acceptance"),),
    shown=lambda data: [
        Lines("drafts", "tokens a pass", [Series(m, points) for m, points in data.items()], log_x=True)
    ],
)
