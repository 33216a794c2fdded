"""Losslessness: the same text at temperature 0, the same distribution otherwise."""

from __future__ import annotations

from collections import Counter

import numpy as np

from specviz import papers
from specviz.base.codec import JsonObject
from specviz.config.run_config import RunConfig
from specviz.proof.enumerate import enumerate_tree
from specviz.tree import Topology
from specviz.verifiers import VERIFIERS

from .lesson import TALE, Facts, Lesson, Place, Recording, best_step, quote

TREE = RunConfig(TALE, "sequoia:size=12,depth=4", "exact-match", 0, max_new_tokens=32)
P = (0.5, 0.3, 0.2)
Q = (0.2, 0.3, 0.5)
TWO = Topology((-1, 0, 0))  # guesses for one token
RULES = {"exact": "sequoia", "lossy": "typical"}


def facts(tree, alone):
    step = best_step(tree.steps, lambda step: len(step.path))
    if step is None or tree.tokens != alone.tokens or len(tree.steps) >= len(alone.steps):
        return None
    values: JsonObject = {
        "tokens": len(tree.tokens),
        "tree_passes": len(tree.steps),
        "plain_passes": len(alone.steps),
        "text": quote(tree.text),
    }
    verdicts: Counter[str] = Counter()
    for name in papers.SOURCES:
        verdicts.update(row.verdict for row in papers.table(name))
    values |= {
        "sources": len(papers.SOURCES),
        "claims": verdicts.total(),
        "hold": verdicts["holds by proof"] + verdicts["reproduced"],
        "differ": verdicts["differs"],
    }
    for name, row in (("p", P), ("q", Q)):
        for token, prob in enumerate(row):
            values[f"{name}_{token}"] = prob
    for name, rule in RULES.items():
        verifier = VERIFIERS[rule]()
        # Every random outcome of the rule at one node with two guesses, each with its probability.
        law = enumerate_tree(verifier, TWO, np.array([P]), np.array([Q]), verifier.schemes[0])
        for (token,), prob in law.texts.items():
            values[f"{name}_{token}"] = prob
        values[name] = verifier.title
        if name == "exact":
            values |= {"deviation": f"{law.deviation:.0g}", "outcomes": law.runs}
    return Facts(values, opens=Place(step.index), shows=Place(len(alone.steps) - 1, picture=1))


LESSON = Lesson(
    "exact",
    (
        Recording("tree", "A tree", TREE, steps=32),
        Recording("alone", "Target alone", TREE, steps=32, autoregressive=True),
    ),
    facts,
)
