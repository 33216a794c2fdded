"""The draw that accepts a guess, and the residual after a rejection."""

from __future__ import annotations

from specviz.config.run_config import RunConfig

from ...service.pair_ref import SMOLLM2
from .lesson import Facts, Lesson, Place, Recording, best_step, nodes_with, quote, readable

QUESTION = "Why do we have seasons?"
# Its guesses are wrong often enough for the lesson to show what becomes of them.
CHAIN = RunConfig(
    QUESTION, "chain:depth=4", "speculative-sampling", temperature=0.8, drafter="eagle"
)


def facts(trace):
    step = best_step(trace.steps, clearness)
    accepted = []  # of those for which the draw mattered
    for one in trace.steps:
        accepted += [(one.index, node) for node in one.path if (one.accept_prob[node] or 1) < 0.95]
    if step is None or not accepted:
        return None
    (node,) = nodes_with(step, "rejected")
    after = step.detail[step.parents[node]].after
    assert after is not None  # every rejected node has one
    # Preferably in the same step, so that one picture shows both.
    shows = next((place for place in accepted if place[0] == step.index), accepted[0])
    accepting = trace.steps[shows[0]]
    values = {
        "step": step.index + 1,
        "token": quote(step.texts[node]),
        "q": step.draft_prob[node],
        "p": step.target_prob[node],
        "prob": step.accept_prob[node],
        "coin": step.coin[node],
        "own": quote(step.emitted_texts[-1]),
        "left": after.rows["residual"][after.tokens.index(step.tokens[node])],
        "kept_step": shows[0] + 1,
        "kept_token": quote(accepting.texts[shows[1]]),
        "kept_coin": accepting.coin[shows[1]],
        "kept_prob": accepting.accept_prob[shows[1]],
    }
    return Facts(values, opens=Place(step.index, node), shows=Place(*shows))


def clearness(step):
    """How clear an example of a rejection a step is, 0 if it is none."""
    rejected = nodes_with(step, "rejected")
    if not step.corrected or len(rejected) != 1:
        return 0
    node = rejected[0]
    prob = step.accept_prob[node]
    margin = step.coin[node] - prob
    # Neither the draw nor the decision is a close one, and both tokens are words.
    is_clear = 0.2 < prob < 0.8 and margin > 0.1 and step.draft_prob[node] > 0.1
    if is_clear and readable(step.texts[node], step.emitted_texts[-1]):
        return margin
    return 0


LESSON = Lesson("accept", (Recording("chain", "A chain", CHAIN),), facts, target=SMOLLM2)
