"""Theorem 4.1: the Tunstall bound on the completed vector."""

from ...acceptance.vectors import expected_tokens
from ...builders.optimal import falling, likeliest_tree
from ...theory.bounds import leaf_bound, tunstall_bound
from ..entry import Entry, Lines, Series, judge, lab
from .rows import completed

TEMPERATURE, DRAFTED = 1.0, (1, 2, 4, 8, 16, 32, 64, 128, 256)
RULES = {"sequoia": "GSD", "race": "ERSD"}


def measure(bench):
    by_strategy = {}
    for rule, name in RULES.items():
        vector = falling(bench.vector(TEMPERATURE, rule))
        whole = completed(vector, bench.pair.vocab_size)
        by_strategy[name] = {
            "tokens": [[k, expected_tokens(likeliest_tree(vector, k + 1, 64, 32), vector)] for k in DRAFTED],
            "bound": [[k, tunstall_bound(whole, k)] for k in DRAFTED],
            "leaves": [[k, leaf_bound(whole, k)] for k in DRAFTED],
        }
    return by_strategy


def verdict(data):
    held = all(
        t[1] <= leaf[1] + 1e-6 <= b[1] + 2e-3
        for one in data.values()
        for t, leaf, b in zip(one["tokens"], one["leaves"], one["bound"], strict=True)
    )
    ratios = {name: one["bound"][-1][1] / one["tokens"][-1][1] for name, one in data.items()}
    first = {name: one["bound"][0][1] / one["tokens"][0][1] for name, one in data.items()}
    return judge(
        held,
        f"The bound holds for both methods at every number of drafts; it is {first['GSD']:.1f} times the optimal "
        f"tree's tokens for one draft and {ratios['GSD']:.1f} times for {DRAFTED[-1]} (ERSD {ratios['ERSD']:.1f}): "
        "loose while the vocabulary's logarithm rules, closing slowly, as the paper says.",
        "At some number of drafts the optimal tree brings more than the bound allows.",
    )


ENTRY = Entry(
    "theorem-4-1",
    "Theorem 4.1",
    "No tree brings more than (log |Omega| + log(k + 1)) / H[R]",
    "The expected number of generated tokens of the optimal tree of k drafts is at most (log |Omega| + log(k + 1)) / "
    "H[R]; for large k the entropy of which draft is accepted governs the speedup.",
    verdict,
    measure=measure,
    how="exact",
    opens=(lab("tree", preset="races"),),
    shown=lambda data: [
        Lines(
            f"drafted tokens, {name}",
            "tokens a pass",
            [
                Series("optimal tree", one["tokens"]),
                Series("theorem 4.1", one["bound"], "dashes"),
                Series("the same by leaves", one["leaves"], "dashes"),
            ],
            log_x=True,
        )
        for name, one in data.items()
    ],
)
