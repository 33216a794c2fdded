"""Appendix C: the drafted tree as a Tunstall code."""

from math import ceil, log2

from ...acceptance.vectors import expected_tokens, reach
from ...builders.optimal import falling, likeliest_tree
from ..entry import Entry, Table, judge, lab
from .rows import bits

TEMPERATURE, DRAFTED, HEAD, SHOWN = 1.0, 6, 6, 10


def measure(bench):
    head = falling(bench.vector(TEMPERATURE))[:HEAD]
    rest = max(0.0, 1 - sum(head))
    ranks = max(1, ceil(rest / max(head[-1], 1e-3)))
    vector = (*head, *([rest / ranks] * ranks))
    tree = likeliest_tree(vector, DRAFTED + 1, DRAFTED, len(vector))
    chance = reach(tree, vector)
    leaves = [
        (chance[node] * share, (*(int(tree.rank[n]) + 1 for n in tree.path(node)), rank + 1))
        for node in range(len(tree))
        for rank, share in enumerate(vector)
        if rank >= len(tree.children[node])
    ]
    leaves.sort(reverse=True)
    width = ceil(log2(len(leaves)))
    return {
        "tokens": expected_tokens(tree, vector),
        "mean": sum(share * len(path) for share, path in leaves),
        "leaves": len(leaves),
        "inner": len(tree),
        "symbols": len(vector),
        "bits": width,
        "entropy": bits(vector),
        "codewords": [
            [".".join(map(str, path)), f"{turn:0{width}b}", share] for turn, (share, path) in enumerate(leaves[:SHOWN])
        ],
    }


def verdict(data):
    bound = data["bits"] / data["entropy"]
    counted = data["inner"] * (data["symbols"] - 1) + 1
    return judge(
        abs(data["tokens"] - data["mean"]) < 2e-3 and data["leaves"] == counted and data["mean"] <= bound + 1e-9,
        f"The optimal tree of {data['inner'] - 1} drafts is the inside of a Tunstall tree with {data['leaves']} "
        f"leaves; the mean length of their codewords' sequences is {data['mean']:.3f}, the tree's tokens a pass "
        f"({data['tokens']:.3f}), and {data['bits']} bits over an entropy of {data['entropy']:.2f} bits allow "
        f"{bound:.2f}.",
        "Leaves and tree do not fit together.",
    )


ENTRY = Entry(
    "appendix-c",
    "Appendix C",
    "The drafted tree is a Tunstall code",
    "The inner nodes of a Tunstall tree, grown by expanding the most probable leaf, are the optimal draft tree; its "
    "expected sequence length equals the number of generated tokens, so H E[L] <= the length of a codeword "
    "(equations 25 and 26).",
    verdict,
    measure=measure,
    how="exact",
    opens=(lab("tree", preset="races"),),
    shown=lambda data: [
        Table(("Leaf: which child is accepted, level by level", "Codeword", "Probability"), data["codewords"])
    ],
)
