"""Lesson 9: any distribution over the next token can draft."""

from __future__ import annotations

from specviz import BUILDERS, DRAFTERS, VERIFIERS, RunConfig

from .lesson import FUNCTION, Lesson, Look, Recording, count, most, percent, quote, readable, times

TITLE = "Drafters"
TREE, RULE = BUILDERS["sequoia"](size=12), VERIFIERS["sequoia"]()
BOTH, LIBRARY = DRAFTERS["several"](drafters=("model", "retrieval")), DRAFTERS["retrieval"]()
RECORDINGS = (
    Recording("both", "Two at once", RunConfig(FUNCTION, TREE, RULE, temperature=0.5, drafter=BOTH), steps=14),
    Recording(
        "library", "A library alone", RunConfig(FUNCTION, TREE, RULE, temperature=0.5, drafter=LIBRARY), steps=14
    ),
)
FEWEST = 3  # accepted guesses of the library; fewer show nothing


def write_lesson(both, library):
    step = most(both.steps, worth)
    model, looked_up = (right(both, name) for name in ("model", "retrieval"))
    if (
        step is None
        or not library.steps
        or not model[1]
        or looked_up[0] < FEWEST
        or not library.tokens_per_pass < both.tokens_per_pass
    ):
        return None
    node = next(node for node in step.path if looked_up_well(step, node))
    guess = step.growth.guesses[node]
    where = f", for instance in {guess['where']}" if guess.get("where") else ""
    often = "once" if guess["seen"] == 1 else f"{guess['seen']} times"
    wrong = sum(not step.path for step in library.steps)
    return Lesson(
        opens=Look(step.index, node),
        text=(
            "A rule compares a guess with the **distribution** it was drawn from: a probability for every token. The "
            "distribution can come from anywhere. So a small model can draft, or heads, or counts, or a library.",
            "Here two drafters alternate at every node: the draft model, and **retrieval**, which searches Python’s "
            "own source files for the last tokens and proposes what followed there. The outline of a node shows its "
            f"drafter. In step {step.index + 1} retrieval guessed {quote(step.texts[node])}: after the last "
            f"{count(guess['match'], 'token')} it was found {often}{where}.",
            f"Of the guesses that were compared, {model[0]} of {model[1]} of the model’s were accepted, and "
            f"{looked_up[0]} of {looked_up[1]} of the library’s.",
        ),
        task="Go through the nodes of this step and read which drafter proposed each. Then switch to the library "
        "alone: in which steps is its tree small?",
        shows=Look(min(library.steps, key=lambda step: len(step.parents)).index, None, 1),
        question="If retrieval needs no model, why not always use it?",
        answer=(
            "A library contains only existing text. Alone, none of its guesses was accepted in "
            f"{times(wrong, len(library.steps))}, and it had {library.tokens_per_pass:.2f} tokens per pass; "
            f"together with the model there were {both.tokens_per_pass:.2f}.",
            f"But it costs no pass of a model, and code repeats itself: {percent(looked_up[0] / looked_up[1])} of its "
            f"compared guesses were accepted, of the model’s {percent(model[0] / model[1])}. With any drafter, the "
            "text follows the target’s distribution.",
        ),
    )


def worth(step):
    """How many guesses of the library were accepted, 0 where none of them reads well."""
    mine = [node for node in step.path if step.drafter[node] == "retrieval"]
    return len(mine) if any(looked_up_well(step, node) for node in mine) else 0


def looked_up_well(step, node):
    """Whether a node is the library's and is a clear example."""
    guess = step.growth.guesses.get(node, {})
    return step.drafter[node] == "retrieval" and guess.get("seen", 0) > 0 and readable(" " + step.texts[node].strip())


def right(trace, name):
    """How many of a drafter's guesses were accepted, and how many were compared."""
    outcomes = [
        outcome
        for step in trace.steps
        for whose, outcome in zip(step.drafter, step.outcome, strict=True)
        if whose == name and outcome != "unreached"
    ]
    return outcomes.count("accepted"), len(outcomes)
