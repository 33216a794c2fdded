"""Lesson 4: a tree has a second guess ready where a chain would end."""

from __future__ import annotations

from specviz import BUILDERS, VERIFIERS, RunConfig

from .lesson import TALE, Lesson, Look, Recording, children, count, most, percent, quote, readable, times

TITLE = "Why trees"
TREE = BUILDERS["branching"](widths=(3, 2, 2, 1))
CONFIG = RunConfig(TALE, TREE, VERIFIERS["sequoia"](), temperature=0.6)
RECORDINGS = (Recording("branching", "A tree", CONFIG),)


def write_lesson(trace):
    step = most(trace.steps, worth)
    first = sum(bool(step.path) and not second_at_the_root(step) for step in trace.steps)
    if step is None or not first:
        return None
    saved = sum(map(second_at_the_root, trace.steps))
    guesses, n = children(step), len(trace.steps)
    before = guesses[: guesses.index(step.path[0])]
    nodes = len(step.parents) - 1
    return Lesson(
        opens=Look(step.index),
        text=(
            "After a refusal a chain is at its end. A **tree** has another guess ready.",
            f"In step {step.index + 1} the draft had {count(len(guesses), 'guess')} for the next token. The rule tried "
            f"them in the order in which they were drawn: {' and '.join(quote(step.texts[node]) for node in before)} "
            f"{'was' if len(before) == 1 else 'were'} refused, then {quote(step.texts[step.path[0]])} was accepted, "
            f"and the walk went on below it: {quote(*step.pieces)}.",
            f"All {nodes} guesses were checked in one pass. For that, each guess sees the text so far and its own "
            "branch, nothing else.",
            "And the text stays exactly the target’s: after every refusal the next guess is compared with the residual "
            "that is left.",
        ),
        task="Select the guess that was accepted after a refusal: what did its coin have to fall below? Then look for "
        "a step in which none of the first guesses was accepted.",
        shows=Look(step.index, step.path[0]),
        question=f"Why not spend all {nodes} guesses on one long chain?",
        answer=(
            f"In this run the first guess for the next token was kept in {times(first, n)}, {percent(first / n)}. If "
            f"every guess of a chain were kept as often, the fifth would count in {small((first / n) ** 5)} of all "
            f"steps, the tenth in {small((first / n) ** 10)}. And the draft would need {nodes} passes, one "
            f"after the other; this tree took {step.draft_passes}.",
            f"In the other {count(n - first, 'step')} the first guess failed at once. A second or third guess saved "
            f"{saved} of them. How best to share out the guesses is the next lesson.",
        ),
    )


def worth(step):
    """How far the walk went after a refusal at the root, 0 where its tokens do not read well."""
    if not second_at_the_root(step):
        return 0
    tried = [node for node in children(step) if step.outcome[node] != "unreached"]
    return len(step.path) - 1 if readable(*(step.texts[node] for node in tried)) else 0


def second_at_the_root(step):
    """Whether a child of the root other than the first one tried was accepted."""
    return bool(step.path) and step.path[0] != children(step)[0]


def small(share):
    return percent(share) if share >= 0.01 else "less than 1 %"
