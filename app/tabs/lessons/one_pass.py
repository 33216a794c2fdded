"""Lesson 1: one pass of the target predicts after every token it reads."""

from __future__ import annotations

from specviz import BUILDERS, VERIFIERS, RunConfig

from .lesson import SHIP, Lesson, Look, Recording, count, most, quote, times, written

TITLE = "One pass can check many tokens"
CONFIG = RunConfig(SHIP, BUILDERS["chain"](depth=5), VERIFIERS["exact-match"](), temperature=0)
RECORDINGS = (Recording("chain", "A chain", CONFIG),)


def write_lesson(trace):
    step = most(trace.steps, lambda step: len(step.path) if step.bonus is not None and len(step.path) > 1 else 0)
    if step is None:
        return None
    alone = sum(not step.path for step in trace.steps)
    guesses = len(step.parents) - 1
    kept = f"all {guesses}" if len(step.path) == guesses else f"{len(step.path)} of them"
    poorest = min(trace.steps[:-1], key=lambda step: len(step.path))
    return Lesson(
        opens=Look(step.index),
        text=(
            "A language model writes a text one **token** at a time: a word, a part of one, or a symbol. Every "
            "token needs one run of the whole model, a **pass**.",
            "But a pass predicts more than the next token. It predicts what the model would write after each token "
            "it reads. So if the next tokens are guessed, a single pass can check all guesses: is each of them what "
            "the model would have written there? As long as the machine has spare compute, this takes little more "
            "time than a pass for one token.",
            "Here a small model, the **draft**, guesses, and a large one, the **target**, checks. In step "
            f"{step.index + 1} the draft guessed {count(guesses, 'token')}. In one pass the target accepted "
            f"{kept} (■) and added one token of its own (◆): {quote(*step.pieces)}, "
            f"{count(len(step.pieces), 'token')} in one pass.",
        ),
        task="Go through the run with the buttons ◀ and ▶ below the picture. Every step is one pass of the target. "
        "How many tokens does it add?",
        shows=Look(poorest.index),
        question="What does a pass give if the first guess is wrong?",
        answer=(
            "One token, as without any guess: the target has read the text up to there, so it predicts the next token. "
            "Only the time for guessing and checking is lost.",
            f"Here this happened in {times(alone, len(trace.steps))}. The run wrote {written(trace)}; without a draft "
            f"it would have taken {count(len(trace.tokens), 'pass')}.",
        ),
    )
