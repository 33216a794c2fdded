"""Lesson 2: a chain is verified from the left and ends at the first rejection."""

from __future__ import annotations

from specviz import BUILDERS, VERIFIERS, RunConfig

from .lesson import TALE, Lesson, Look, Recording, count, most, quote, readable, rejected, times, unreached

TITLE = "A chain of guesses"
CHAIN = BUILDERS["chain"](depth=6)
CONFIG = RunConfig(TALE, CHAIN, VERIFIERS["speculative-sampling"](), temperature=0.6)
RECORDINGS = (Recording("chain", "A chain", CONFIG),)


def write_lesson(trace):
    step = most(trace.steps, worth)
    if step is None:
        return None
    whole = [step for step in trace.steps if len(step.parents) > CHAIN.depth]
    kept = [sum(len(step.path) >= depth for step in whole) for depth in range(CHAIN.depth + 1)]
    behind, first_rejected = unreached(step), rejected(step)[0]
    return Lesson(
        opens=Look(step.index),
        text=(
            f"The simplest draft is a **chain**: {CHAIN.depth} guesses, each drafted after the one before it.",
            f"The rule verifies it from the left. In step {step.index + 1} it kept "
            f"{count(len(step.path), 'guess')}, {quote(*(step.texts[node] for node in step.path))}. The next one, "
            f"{quote(step.texts[first_rejected])}, was rejected (✕). The target wrote its own token there instead, "
            f"{quote(step.pieces[-1])} (◆).",
            f"The {count(len(behind), 'guess')} after the cross were not visited (○). They continue a text that was "
            "not written.",
        ),
        task="Select a hollow circle and read below why it was not visited. Then go on with ▶: how many guesses are "
        "accepted in each step?",
        shows=Look(step.index, behind[0]),
        question="Would a longer chain be better?",
        answer=(
            "It would help less and less: a guess counts only if all guesses before it were accepted.",
            f"In this run guess 1 was accepted in {times(kept[1], len(whole))}, guess 3 in {kept[3] or 'none'}, and "
            f"guess {CHAIN.depth} in {kept[CHAIN.depth] or 'none'}. But in every step each guess costs one pass of "
            "the draft.",
        ),
    )


def worth(step):
    """How far the rule got before the cross, 0 where nothing is left behind it or it does not read well."""
    if not step.corrected or len(unreached(step)) < 2:
        return 0
    return (
        len(step.path) - 1
        if readable(*(step.texts[node] for node in (*step.path, *rejected(step))), step.pieces[-1])
        else 0
    )
