"""Lesson 5: the tree of a given size that is expected to bring the most tokens."""

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
            f"Which {nodes} nodes are worth having? Sequoia asks how often the first child of a node is accepted, how "
            "often the second, and so on. At the root of this tree it reckons with "
            f"{', '.join(percent(worth[node]) for node in top[:4])}{' and so on' if len(top) > 4 else ''}.",
            "Multiply these shares along the path to a node: that is its **worth**, the chance that it is accepted, as "
            f"far as averages can tell. The root’s first child is worth {percent(worth[top[0]])}, the first child of "
            f"that one {percent(worth[below])}.",
            f"Of all trees with {nodes} nodes and at most {CONFIG.builder.depth} levels, Sequoia takes the one whose "
            "worths add up to the most. The root counts 1, for the token that the target adds in any case. This tree "
            f"has {count(len(top), 'child')} at the root and {count(levels(step), 'level')}. It promises "
            f"{step.growth.expected:.2f} tokens per pass; this short run brought {trace.tokens_per_pass:.2f}.",
        ),
        task=f"Press E to unfold the tree, then step on with ▶. The words change, the tree does not: {nodes} nodes, "
        "joined in the same way. (The picture only moves the accepted path to the top.)",
        shows=Look(step.index, deepest),
        question="Why does every step get the same tree?",
        answer=(
            "Because it was planned beforehand, from averages. It looks neither at the text nor at the draft’s "
            f"probabilities of the moment. All {count(len(trace.steps), 'step')} of this run used this one tree.",
            "So no time is spent on planning while the text is written. But a step in which the draft has no idea "
            "gets the same tree as a step in which it is sure.",
        ),
    )
