"""Figure 8: the same in greedy decoding."""

from ..entry import Entry, judge, tab
from .figure_2 import profile, shown


def verdict(data):
    return judge(
        data["with_length"] < -0.15,
        f"In greedy decoding entropy and accepted length correlate with {data['with_length']:.2f} over "
        f"{data['positions']} positions.",
        f"In greedy decoding entropy and accepted length correlate with {data['with_length']:.2f} only.",
    )


ENTRY = Entry(
    "figure-8",
    "Figure 8",
    "The same in greedy decoding",
    "In the greedy setting the correlation between entropy and accepted length is much stronger, as models repeat "
    "themselves.",
    verdict,
    measure=lambda bench: profile(bench.rows(0.0)),
    shown=shown,
    opens=(tab("acceptance"),),
)
