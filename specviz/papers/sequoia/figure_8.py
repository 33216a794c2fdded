"""Figure 8: time of a pass against the number of tokens."""

from ..entry import Entry, Lines, Series, judge, tab


def measure(bench):
    cost = bench.cost()
    return {"points": list(zip(cost.sizes, [s / cost.target_s[0] for s in cost.target_s], strict=True))}


def verdict(data):
    points = [tuple(point) for point in data["points"]]
    flat = max(n for n, t in points if t <= 1.5)
    (a, ta), (b, tb) = points[-2], points[-1]
    slope = (tb - ta) / (b - a) * b / tb
    return judge(
        flat >= 2 and tb > 1.5,
        f"Up to {flat} tokens a pass costs at most half as much again as one token; at {b} it costs {tb:.1f} times, "
        f"and there the time grows nearly in proportion (a share of {100 * min(1, max(0, slope)):.0f} % of the last "
        "rise).",
        f"The pass over {b} tokens costs {tb:.1f} times one token's; the flat part ends at {flat}.",
    )


ENTRY = Entry(
    "figure-8",
    "Figure 8",
    "A pass over n tokens: flat at first, then in proportion to n",
    "Forward pass times are roughly constant for small n and then grow about linearly; where that begins depends on "
    "the ratio of memory bandwidth to arithmetic.",
    verdict,
    measure=measure,
    how="timed",
    opens=(tab("speedup"),),
    shown=lambda data: [
        Lines(
            "tokens in the pass", "time, in passes of one token", [Series("this machine", data["points"])], log_x=True
        )
    ],
)
