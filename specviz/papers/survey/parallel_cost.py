"""Sections 4.1 and 5.3.1: several tokens at the price of one."""

from ..entry import Entry, Lines, Series, judge, tab


def measure(bench):
    cost = bench.cost()
    return {"points": [[n, s / (n * cost.target_s[0])] for n, s in zip(cost.sizes, cost.target_s, strict=True)]}


def verdict(data):
    ratio = {n: share * n for n, share in data["points"]}
    four = min(ratio, key=lambda n: abs(n - 4))
    last = max(ratio)
    return judge(
        ratio[four] < 2,
        f"On this machine a pass over {four} tokens costs {ratio[four]:.2f} times one token, so nearly the same; over "
        f"{last} it costs {ratio[last]:.1f} times, {100 * data['points'][-1][1]:.0f} % of {last} single passes.",
        f"On this machine a pass over {four} tokens already costs {ratio[four]:.2f} times one token: arithmetic, not "
        "memory, limits a small model on few cores.",
    )


ENTRY = Entry(
    "parallel-cost",
    "Sections 4.1 and 5.3.1",
    "Several tokens at about the price of one",
    "Decoding is bound by memory, so “the time taken for a large model to process one token is almost the same as "
    "the time taken to process multiple tokens in parallel”.",
    verdict,
    measure=measure,
    how="timed",
    opens=(tab("speedup"),),
    shown=lambda data: [
        Lines(
            "tokens in the pass",
            "cost of a token, in single passes",
            [Series("this machine", data["points"])],
            log_x=True,
        )
    ],
)
