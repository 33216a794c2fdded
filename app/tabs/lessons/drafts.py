"""Any distribution over the next token can draft: a model, a library, heads on the target."""

from __future__ import annotations

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
    count,
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
    twins = best_step(heads.steps, lambda step: bool(twin_nodes(step)) + len(step.path))
    if step is None or twins is None or not twin_nodes(twins):
        return None
    node = found_in_library(step)[0]
    one, other = twin_nodes(twins)
    # What the library found, where, and how often it had seen it.
    guess = step.growth.guesses[node]
    seen = "once"
    if guess["seen"] != 1:
        seen = count(guess["seen"], "time")
    values: JsonObject = {
        "step": step.index + 1,
        "token": quote(step.texts[node]),
        "match": "token" if guess["match"] == 1 else f"{guess['match']} tokens",
        "seen": f"{seen}, in {guess['where']}" if guess.get("where") else seen,
        "heads_step": twins.index + 1,
        "again": quote(twins.texts[one]),
        "one": quote(twins.texts[twins.parents[one]]),
        "other": quote(twins.texts[twins.parents[other]]),
    }
    for name, drafter in (("model", "model"), ("library", "retrieval")):
        guesses = mixed.counts.guesses
        right = guesses[drafter, "accepted"]
        # Nodes that the walk never reached were neither right nor wrong.
        tried = right + guesses[drafter, "rejected"] + guesses[drafter, "passed"]
        values |= {f"{name}_right": right, f"{name}_tried": tried}
    for level in (1, 2):
        values[f"head_{level}"] = mean(len(one_step.path) >= level for one_step in heads.steps)
    # With the Markov head the row below a node follows from that node's token.
    pairs = list(map(differing_pair, block.steps))
    first_differing = next((index for index, pair in enumerate(pairs) if pair), None)
    if first_differing is None:
        return None
    block_step = block.steps[first_differing]
    first, second = pairs[first_differing]
    values |= {
        "block_step": first_differing + 1,
        "block_first": quote(block_step.texts[block_step.parents[first]]),
        "block_second": quote(block_step.texts[block_step.parents[second]]),
        "block_after_first": quote(block_step.texts[first]),
        "block_after_second": quote(block_step.texts[second]),
    }
    if not values["library_right"] or not values["head_2"] < values["head_1"]:
        return None
    return Facts(values, opens=Place(step.index, node), shows=Place(step.index))


def found_in_library(step):
    """The accepted nodes that retrieval found and that read well."""
    return [
        node
        for node in step.path
        if step.drafter[node] == "retrieval"
        and step.growth.guesses.get(node, {}).get("seen", 0) > 0
        and readable(" " + step.texts[node].strip())
    ]


def twin_nodes(step):
    """Two nodes with the same token after different children of the root, all words; () without
    any."""
    below = []
    for child in children(step):
        below += children(step, child)
    for node in below:
        twins = []
        for other in below:
            if step.tokens[other] == step.tokens[node]:
                twins.append(other)
        if len(twins) == 2 and readable(*words_of(step, twins)):
            return tuple(twins)
    return ()


def words_of(step, nodes):
    """The texts of nodes and of their parents, all of which a lesson quotes."""
    return [step.texts[place] for place in (*nodes, *(step.parents[node] for node in nodes))]


def differing_pair(step):
    """The first children of the two first guesses, where they differ and all are words; () else."""
    nodes = []
    for child in children(step)[:2]:
        nodes += children(step, child)[:1]
    differ = len({step.tokens[node] for node in nodes}) == 2
    if differ and readable(*words_of(step, nodes)):
        return tuple(nodes)
    return ()


LESSON = Lesson(
    "drafts",
    (
        Recording("mixed", "Model and library", MIXED, steps=14),
        Recording("heads", "Heads", HEADS),
        Recording("block", "A block", BLOCK),
    ),
    facts,
    timed=True,
)
