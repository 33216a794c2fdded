"""One pass of the target predicts after every token it reads; a chain ends at its first
rejection."""

from __future__ import annotations

from statistics import mean

from specviz.config.run_config import RunConfig

from ...service.pair_ref import SMOLLM2
from .lesson import Facts, Lesson, Place, Recording, best_step, nodes_with, quote

GUESSES = 3
QUESTION = "How do I make a cup of tea?"
CHAIN = RunConfig(QUESTION, f"chain:depth={GUESSES}", "exact-match", temperature=0, drafter="eagle")


def facts(trace):
    step = best_step(
        trace.steps, lambda step: 0 if step.corrected or len(step.path) < 2 else len(step.path)
    )
    miss = best_step(
        trace.steps, lambda step: step.corrected and len(nodes_with(step, "unreached"))
    )
    # One step that is accepted whole, and one that ends at a rejection with guesses left after it.
    if step is None or miss is None:
        return None
    # At the end of a text the chain is cut short; such a step says nothing about its last guess.
    whole = [one for one in trace.steps if len(one.parents) > GUESSES]
    added = [len(one.emitted_texts) for one in trace.steps]
    values = {
        "guesses": GUESSES,
        "step": step.index + 1,
        "accepted": len(step.path),
        "text": quote(*step.emitted_texts),
        "written": len(step.emitted_texts),
        "miss": miss.index + 1,
        "place": len(miss.path) + 1,
        "own": quote(miss.emitted_texts[-1]),
        "alone": sum(not one.path for one in trace.steps),
        "steps": len(trace.steps),
        "tokens": len(trace.tokens),
        "fewest": min(added),
        "most": max(added),
        "mean": mean(added),
        "miss_adds": len(miss.emitted_texts),
        "first": f"{sum(len(one.path) >= 1 for one in whole)} of {len(whole)}",
        "last": sum(len(one.path) == GUESSES for one in whole),
    }
    return Facts(values, opens=Place(step.index), shows=Place(miss.index))


LESSON = Lesson("one-pass", (Recording("chain", "A chain", CHAIN),), facts, target=SMOLLM2)
