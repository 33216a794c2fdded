"""Theorem 3.7: optimal transport and cover, with the paper's own counter-examples."""

import numpy as np

from ...theory import node
from ..entry import Entry, Table, judge, lab

COVER = np.array([1.0, 0.0]), np.array([0.5, 0.5])
SAME = np.array([0.6, 0.4]), np.array([0.6, 0.4])


def measure(bench):
    rules = {
        "Sequoia": lambda p, q, k: node.sequoia_acceptance(p, q, k).sum(),
        "SpecInfer": lambda p, q, k: node.specinfer_acceptance(p, q, k).sum(),
        "SpecTr": lambda p, q, k: node.spectr_acceptance(p, q, k).sum(),
        "Top-k": lambda p, q, k: node.target_match_acceptance(p, q, k).sum(),
        "Naive": lambda p, q, k: node.naive_acceptance(p, q, k).sum(),
    }
    return {"rows": [[name, float(form(*SAME, 1)), float(form(*COVER, 2))] for name, form in rules.items()]}


def verdict(data):
    accepted = {name: (round(one, 6), round(two, 6)) for name, one, two in data["rows"]}
    printed = {"Sequoia": (1, 1), "SpecInfer": (1, 0.75), "SpecTr": (1, 0.75), "Top-k": (0.6, 1)}
    return judge(
        all(accepted[name] == want for name, want in printed.items()),
        "Exactly as printed: with q = p = [0.6, 0.4] one child is accepted with certainty by the three rules that "
        f"compare, and with {accepted['Top-k'][0]:g} by top-k; with p = [1, 0], q = [1/2, 1/2] two children cover for "
        f"Sequoia and top-k, while SpecInfer and SpecTr accept with {accepted['SpecInfer'][1]:g}.",
        f"The closed forms give {accepted}, not what is printed.",
    )


ENTRY = Entry(
    "theorem-3-7",
    "Theorem 3.7",
    "Optimal transport and cover: only Sequoia has both",
    "Sequoia has both properties; SpecInfer and SpecTr lack cover (p = [1, 0], q = [1/2, 1/2]: SpecInfer rejects "
    "with 25 %, SpecTr accepts with 0.75); top-k lacks optimal transport (p = q = [0.6, 0.4]: it accepts with 0.6, "
    "not 1) (appendix F.3).",
    verdict,
    measure=measure,
    how="exact",
    opens=(lab("verification", preset="cover"),),
    shown=lambda data: [Table(("Rule", "One child, p = q", "Two children, p = [1, 0]"), data["rows"])],
)
