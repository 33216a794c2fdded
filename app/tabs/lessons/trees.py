"""A tree has another guess where a chain would end."""

from __future__ import annotations

from statistics import mean

from specviz.config.run_config import RunConfig

from ...service.pair_ref import SMOLLM2
from .lesson import Facts, Lesson, Place, Recording, best_step, children, quote, readable

QUESTION = "Why is the sky blue?"
TREE = RunConfig(QUESTION, "branching:widths=3,2,2,1", "sequoia", temperature=0.6, drafter="eagle")


def facts(trace):
    step = best_step(trace.steps, rescued_length)
    steps = len(trace.steps)
    # A chain would have gone on only where the first guess itself was accepted.
    first = sum(bool(one.path) and not rescued(one) for one in trace.steps)
    if step is None or not 0 < first < steps:
        return None
    guesses = children(step)
    before = []
    for node in guesses[: guesses.index(step.path[0])]:
        before.append(quote(step.texts[node]))
    left = step.detail[step.path[0]].tried
    assert left is not None  # every accepted node has one
    place = left.tokens.index(step.tokens[step.path[0]])
    values = {
        "step": step.index + 1,
        "guesses": len(guesses),
        "before": " and ".join(before),
        "accepted": quote(step.texts[step.path[0]]),
        "text": quote(*step.emitted_texts),
        "nodes": len(step.parents) - 1,
        "first": first,
        "steps": steps,
        "endless": first / (steps - first),
        "tree_accepted": mean(len(one.path) for one in trace.steps),
        "passes": step.draft_passes,
        "prob": step.accept_prob[step.path[0]],
        "residual": left.rows["residual"][place],
        "draft": left.rows["draft"][place],
    }
    return Facts(values, opens=Place(step.index), shows=Place(step.index, step.path[0]))


def rescued(step):
    """Whether a child of the root other than the first was accepted."""
    return bool(step.path) and step.path[0] != children(step)[0]


def rescued_length(step):
    """How many tokens were accepted after a rejection at the root, 0 if they do not read well."""
    # What was reached is quoted in the lesson, so all of it must read well.
    tried = []
    for node in children(step):
        if step.outcome[node] != "unreached":
            tried.append(step.texts[node])
    if rescued(step) and readable(*tried):
        return len(step.path) - 1
    return 0


LESSON = Lesson("trees", (Recording("branching", "A tree", TREE),), facts, target=SMOLLM2)
