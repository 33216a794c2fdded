"""Any distribution over the next token can draft: a model, a library, heads on the target."""

from __future__ import annotations

from itertools import combinations, product
from statistics import mean

from specviz.base.codec import JsonObject
from specviz.config.run_config import RunConfig

from .lesson import (
    FUNCTION,
    TALE,
    Facts,
    Lesson,
    Place,
    Recording,
    best_step,
    children,
    quote,
    readable,
)

MIXED = RunConfig(
    FUNCTION,
    "sequoia:size=12",
    "sequoia",
    temperature=0.5,
    drafter="several:drafters=model,retrieval",
)
BLOCK = RunConfig(
    TALE,
    "ddtree:size=12,depth=4",
    "naive",
    temperature=0.6,
    drafter="block",
)
HEADS = RunConfig(
    TALE,
    "branching:widths=3,2,1",
    "sequoia",
    temperature=0.6,
    drafter="medusa",
)


def facts(mixed, heads, block):
    step = best_step(mixed.steps, lambda step: len(found_in_library(step)))
    # What heads draft does not depend on the guess before it, what a block drafts does.
    twins = first_pair(heads, equal=True)
    differing = first_pair(block, equal=False)
    if step is None or not twins or not differing:
        return None
    node = found_in_library(step)[0]
    values: JsonObject = {
        "step": step.index + 1,
        "token": quote(step.texts[node]),
        "where": step.growth.guesses[node]["where"],
    }
    values |= zip(("heads_step", "one", "other", "again"), twins, strict=False)
    values |= zip(
        ("block_step", "first", "second", "after_first", "after_second"), differing, strict=True
    )
    for name, drafter in (("model", "model"), ("library", "retrieval")):
        guesses = mixed.counts.guesses
        right = guesses[drafter, "accepted"]
        # Nodes that the walk never reached were neither right nor wrong.
        tried = right + guesses[drafter, "rejected"] + guesses[drafter, "passed"]
        values |= {f"{name}_right": right, f"{name}_tried": tried}
    for level in (1, 2):
        values[f"head_{level}"] = mean(len(one_step.path) >= level for one_step in heads.steps)
    if not values["library_right"] or not values["head_2"] < values["head_1"]:
        return None
    return Facts(values, opens=Place(step.index, node), shows=Place(step.index))


def found_in_library(step):
    """The accepted nodes that retrieval found in a file and that read well."""
    return [
        node
        for node in step.path
        if "where" in step.growth.guesses.get(node, {}) and readable(step.texts[node])
    ]


def first_pair(trace, equal):
    """The first two words that were drafted after different guesses, of pairs that are equal or of
    those that are not: the step, the two guesses and the two words; () without any."""
    for step in trace.steps:
        for guesses in combinations(children(step), 2):
            for nodes in product(*(children(step, guess) for guess in guesses)):
                words = [step.texts[node] for node in (*guesses, *nodes)]
                if (words[2] == words[3]) == equal and readable(*words):
                    return (step.index + 1, *map(quote, words))
    return ()


LESSON = Lesson(
    "drafts",
    (
        Recording("mixed", "Model and library", MIXED, steps=14),
        Recording("heads", "Heads", HEADS),
        Recording("block", "A block", BLOCK),
    ),
    facts,
)
