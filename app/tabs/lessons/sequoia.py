"""Lesson 5: the tree of a given size with the most expected tokens."""

from __future__ import annotations

from specviz import BUILDERS, VERIFIERS, RunConfig
from specviz.tree import Topology

from .lesson import TALE, Lesson, Look, Recording, children, count, levels, most, percent

TITLE = "Sequoia’s tree"
CONFIG = RunConfig(TALE, BUILDERS["sequoia"](size=24, depth=6), VERIFIERS["sequoia"](), temperature=0.6)
RECORDINGS = (Recording("sequoia", "Sequoia’s tree", CONFIG),)


def write_lesson(trace):
    step = most(trace.steps, lambda step: len(step.path))
    if step is None or any(other.parents != step.parents for other in trace.steps):
        return None
    worth, nodes, top = step.keys, len(step.parents), children(step)
    depth = Topology(step.parents).depth
    deepest = max(range(nodes), key=lambda node: depth[node])
    if len(top) < 2 or not children(step, top[0]):
        return None
    below = children(step, top[0])[0]
    return Lesson(
        opens=Look(step.index),
        text=(
            f"Which {nodes} nodes should a tree have? Sequoia uses the acceptance probability of the first child of a "
            "node, of the second, and so on. At the root of this tree they are "
            f"{', '.join(percent(worth[node]) for node in top[:4])}{' and so on' if len(top) > 4 else ''}.",
            "The product of these probabilities along the path to a node is its **value**, the estimated probability "
            f"that it is accepted. The root’s first child has the value {percent(worth[top[0]])}, the first child of "
            f"that one {percent(worth[below])}.",
            f"Of all trees with {nodes} nodes and at most {CONFIG.builder.depth} levels, Sequoia chooses the one with "
            "the largest sum of values. The root counts 1, for the token that the target always adds. This tree "
            f"has {count(len(top), 'child')} at the root and {count(levels(step), 'level')}. Its expected "
            f"value is {step.growth.expected:.2f} tokens per pass; this short run had {trace.tokens_per_pass:.2f}.",
        ),
        task=f"Go on with ▶. The tokens change, the tree does not: {nodes} nodes with the same edges. (The "
        "picture only moves the accepted path. E expands what is folded.)",
        shows=Look(step.index, deepest),
        question="Why does every step get the same tree?",
        answer=(
            "Because it was planned in advance, from averages. It depends neither on the text nor on the draft’s "
            f"current probabilities. All {count(len(trace.steps), 'step')} of this run used this one tree.",
            "So no time is spent on planning during decoding. But a step in which the draft is uncertain gets the "
            "same tree as a step in which it is certain.",
        ),
    )
