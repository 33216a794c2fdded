"""Races with shared noise, where the seed alone determines the text."""

from __future__ import annotations

from dataclasses import replace

from specviz.base.codec import JsonObject
from specviz.config.run_config import RunConfig

from .lesson import SHIP, Facts, Figure, Lesson, Place, Recording, best_step, quote, readable
from .race_figure import NOISE, TOKENS, first_error, races

LENGTH = 32  # tokens
TREE = RunConfig(SHIP, "sequoia:size=16", "race", temperature=0.8, max_new_tokens=LENGTH)
CHAIN = replace(TREE, builder="chain:depth=3")


def facts(tree, chain, alone):
    step = best_step(tree.steps, lambda step: len(step.path))
    # The point of the lesson: the seed alone determines the text, whatever drafts.
    if step is None or not tree.tokens == chain.tokens == alone.tokens:
        return None
    target, draft = (step.detail[0].race[side] for side in ("target", "draft"))
    # Both races have the same winner, or the step that is shown would be a rejection.
    if target.tokens[0] != draft.tokens[0] or not readable(*target.texts[:2]):
        return None
    drafts = races()
    error = first_error(drafts)
    values: JsonObject = {
        "step": step.index + 1,
        "winner": quote(target.texts[0]),
        "draft_time": draft.rows["times"][0],
        "target_time": target.rows["times"][0],
        "second": quote(target.texts[1]),
        "second_time": target.rows["times"][1],
        "tokens": len(alone.tokens),
        "tree_passes": len(tree.steps),
        "chain_passes": len(chain.steps),
        "plain_passes": len(alone.steps),
        "error": drafts[error]["error"],
    }
    # The lesson says that a tree takes fewest passes and plain decoding most.
    if not values["tree_passes"] < values["chain_passes"] < values["plain_passes"]:
        return None
    figure = Figure(
        "The race", "race", {"tokens": TOKENS, "noise": NOISE, "drafts": drafts}, steps=error
    )
    there = Place(step=error, picture=len(LESSON.recordings))
    return Facts(values, Place(step.index, step.path[0]), there, (figure,))


LESSON = Lesson(
    "races",
    (
        Recording("tree", "A tree", TREE, steps=LENGTH),
        Recording("chain", "A chain", CHAIN, steps=LENGTH),
        Recording("alone", "Target alone", TREE, steps=LENGTH, autoregressive=True),
    ),
    facts,
)
