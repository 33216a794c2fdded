"""The tree with the most expected tokens, and a rule whose children are never a rejected token
again."""

from __future__ import annotations

from dataclasses import replace

from specviz.config.run_config import RunConfig

from ...service.pair_ref import SMOLLM2
from .lesson import Facts, Lesson, Place, Recording, best_step, children, nodes_with, quote

SIZE = 16
QUESTION = "How do bees make honey?"
TREE = RunConfig(
    QUESTION, f"sequoia:size={SIZE},depth=5", "sequoia", temperature=0.6, drafter="eagle"
)
SPECINFER = replace(TREE, verifier="specinfer")
DYSPEC = replace(TREE, builder=f"dyspec:size={SIZE}", verifier="dyspec")


def facts(sequoia, specinfer, dyspec):
    step = best_step(sequoia.steps, lambda step: len(step.path))
    twice = best_step(specinfer.steps, lambda step: len(repeated(step)))
    # The shape is planned before the run, so the lesson may speak of "the" tree.
    if step is None or twice is None or any(one.parents != step.parents for one in sequoia.steps):
        return None
    top = children(step)
    below = children(step, top[0])
    if not below:
        return None
    above = step.keys[top[0]]
    value = step.keys[below[0]]
    assert above and value  # every node of a planned tree has one
    again = repeated(twice)[0]
    values = {
        "nodes": len(step.parents),
        "guesses": len(step.parents) - 1,
        "rates": ", ".join(f"{step.keys[node]:.0%}" for node in top[:3]),
        "value_1": above,
        "value_2": value,
        "rate_2": value / above,
        "twice_step": twice.index + 1,
        "twice": quote(twice.texts[again]),
        "expected": step.growth.expected,
        "measured": sequoia.tokens_per_pass,
        "specinfer_tokens": specinfer.tokens_per_pass,
    }
    for name, trace in (("sequoia", sequoia), ("specinfer", specinfer)):
        values[f"{name}_rejected"] = sum(len(nodes_with(one, "rejected")) for one in trace.steps)
        values[f"{name}_repeated"] = sum(len(repeated(one)) for one in trace.steps)
    return Facts(values, opens=Place(step.index), shows=Place(twice.index, again, 1))


def repeated(step):
    """The nodes that were rejected although a sibling with the same token had been rejected before
    them."""
    mistakes = set()
    nodes = []
    for node in nodes_with(step, "rejected"):
        # The same token below the same parent: a rule that draws with replacement makes it again.
        mistake = step.parents[node], step.tokens[node]
        if mistake in mistakes:
            nodes.append(node)
        mistakes.add(mistake)
    return nodes


LESSON = Lesson(
    "sequoia",
    (
        Recording("tree", "Sequoia", TREE, steps=15),
        Recording("specinfer", "SpecInfer’s rule", SPECINFER, steps=15),
        Recording("dyspec", "DySpec’s trees", DYSPEC),
    ),
    facts,
    target=SMOLLM2,
)
