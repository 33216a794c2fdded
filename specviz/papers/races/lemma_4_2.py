"""Lemma 4.2: a tighter bound for few drafts, for fixed m and at its best."""

from math import log

from ...acceptance.vectors import expected_tokens
from ...builders.optimal import falling, likeliest_tree
from ...theory.bounds import tail_bound
from ..entry import Entry, Lines, Series, judge, lab

TEMPERATURE, DRAFTED, FIXED = 1.0, (1, 2, 4, 8, 16, 32, 64, 128), 8


def fixed(vector, drafted, used, m):
    """The bound with the rest spread over m ranks."""
    head = [share for share in vector[:used] if share > 0]
    rest = 1 - sum(head)
    entropy = -sum(share * log(share) for share in head) - (rest * log(rest / m) if rest > 1e-12 else 0.0)
    return (log(used + m) + log(drafted + 1)) / entropy


def measure(bench):
    vector = falling(bench.vector(TEMPERATURE))
    series = {"tokens": [], "best": [], "fixed": []}
    for k in DRAFTED:
        tree = likeliest_tree(vector, k + 1, 64, 32)
        used = int(tree.rank.max()) + 1
        series["tokens"].append([k, expected_tokens(tree, vector)])
        series["best"].append([k, tail_bound(vector, k, used)])
        series["fixed"].append([k, fixed(vector, k, used, FIXED)])
    return series


def verdict(data):
    triples = list(zip(data["tokens"], data["best"], data["fixed"], strict=True))
    held = all(t[1] <= b[1] + 2e-3 and b[1] <= f[1] + 2e-3 for t, b, f in triples)
    first, last = (b[1] / t[1] for t, b, _ in (triples[0], triples[-1]))
    return judge(
        held,
        f"Both bounds hold at every number of drafts, the best m never above m = {FIXED}; at its best the bound is "
        f"{first:.2f} times the optimal tree's tokens for one draft and {last:.2f} times for {DRAFTED[-1]}.",
        "At some number of drafts a bound is broken.",
    )


ENTRY = Entry(
    "lemma-4-2",
    "Lemma 4.2",
    "A tighter bound for few drafts",
    "Keep the ranks that the tree uses, spread the rest e over m equal ranks: tokens <= (log(N + m) + log(k + 1)) / "
    "H[R'] for every integer m; figure 3 shows the minimum over m and a fixed m.",
    verdict,
    measure=measure,
    how="exact",
    opens=(lab("tree", preset="races"),),
    shown=lambda data: [
        Lines(
            "drafted tokens",
            "tokens a pass",
            [
                Series("optimal tree", data["tokens"]),
                Series("bound, best m", data["best"], "dashes"),
                Series(f"bound, m = {FIXED}", data["fixed"], "dashes"),
            ],
            log_x=True,
        )
    ],
)
