"""Lesson 10: heads on the target's hidden state guess several tokens ahead, without a pass of a draft."""

from __future__ import annotations

from statistics import mean

from specviz import BUILDERS, DRAFTERS, VERIFIERS, RunConfig

from .lesson import TALE, Lesson, Look, Recording, children, count, most, percent, quote, readable

TITLE = "Heads instead of a model"
TREE = BUILDERS["branching"](widths=(3, 2, 1))
MEDUSA = RunConfig(TALE, TREE, VERIFIERS["sequoia"](), temperature=0.6, drafter=DRAFTERS["medusa"]())
MODEL = RunConfig(TALE, TREE, VERIFIERS["sequoia"](), temperature=0.6)
RECORDINGS = (Recording("medusa", "Heads", MEDUSA), Recording("model", "A draft model", MODEL))


def write_lesson(heads, model):
    step = most(heads.steps, worth)
    (first, second), (first_model, second_model) = (
        [kept(trace, level) for level in (1, 2)] for trace in (heads, model)
    )
    if step is None or not second * first_model < second_model * first:
        return None
    twice = shared(step)
    one, other = (node for node in children(step) if any(step.tokens[child] == twice for child in children(step, node)))
    again = next(node for node in children(step, one) if step.tokens[node] == twice)
    passes = model.steps[-1].draft_passes
    return Lesson(
        timed=True,
        opens=Look(step.index, again),
        text=(
            f"A draft model runs once for every level of the tree: {count(passes, 'pass')} per step in the second "
            "recording. That takes time.",
            "**Heads** need no pass of a draft. They are small layers on the last hidden state of the target, "
            "which is computed anyway. The first head predicts the second next token, the second head the third, and "
            "so on: all levels at once.",
            "The disadvantage: no head sees the guesses of the others. All nodes of a level share one distribution. "
            f"In step {step.index + 1} {quote(step.texts[again])} was guessed after {quote(step.texts[one])} and after "
            f"{quote(step.texts[other])} alike.",
            f"So heads lose more with depth. In {percent(first)} of the steps a guess of the first level was "
            f"accepted, in {percent(second)} one of the second; with the model in {percent(first_model)} and "
            f"{percent(second_model)}.",
        ),
        task="Compare the bars of the time per step in both recordings: how long does drafting take? Then find two "
        "branches of the heads’ tree that continue with the same token.",
        shows=Look(step.index, None, 1) if step.index < len(model.steps) else Look(0, None, 1),
        question="Which of the two is better?",
        answer=(
            f"With heads the run wrote {heads.tokens_per_pass:.2f} tokens per target pass, with the model "
            f"{model.tokens_per_pass:.2f}. {times(drafting(heads), drafting(model))}",
            "What counts is tokens per second: with a fast target the draft’s time matters most, with a slow one "
            "the quality of the guesses. EAGLE is in between: its single layer reads the tokens it drafted.",
        ),
    )  # fmt: skip


def worth(step):
    """How many words at the first level go on with the same word; 0 where none do, or that does not read well."""
    twice = shared(step)
    return 0 if twice is None else 1 + len(step.path)


def shared(step):
    """A token that follows exactly two of the first guesses, all of them words; None where there is none."""
    below = [(node, child) for node in children(step) for child in children(step, node)]
    for _, child in below:
        same = [(node, other) for node, other in below if step.tokens[other] == step.tokens[child]]
        if len(same) == 2 and readable(*(step.texts[node] for pair in same for node in pair)):
            return step.tokens[child]
    return None


def kept(trace, level):
    """The share of the steps in which a guess of this level was accepted."""
    return mean(len(step.path) >= level for step in trace.steps)


def drafting(trace):
    """Milliseconds a step for the draft; the first step is left out."""
    return 1000 * trace.counts.step_parts["draft"]


def times(heads, model):
    """What drafting took when this was recorded, in milliseconds, and what this means."""
    took = f"Drafting took {heads:.1f} ms per step, with the model {model:.1f} ms, when this was recorded"
    if heads < model:
        return f"{took}: the heads save {100 * (1 - heads / model):.0f} % of the time for drafting."
    return f"{took}: this model is so small that its passes cost no more than the heads. With a larger one they would."
