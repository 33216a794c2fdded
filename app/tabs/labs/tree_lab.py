"""The Tree lab: from an acceptance vector and sizes to the trees of six builders, and one tree
large with its mask.

Each tree is drafted by the real loop on a pair whose draft has the vector as its distribution at
every position. No model is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, Field

from specviz.base.codec import JsonObject
from specviz.builders import BUILDERS
from specviz.builders.base import TreeBuilder
from specviz.config.run_config import RunConfig, compatible
from specviz.decode import speculate
from specviz.measure.forecast import predict
from specviz.models.table import TableModel, TablePair
from specviz.record.step import Step
from specviz.record.vector_files import published, vector_in
from specviz.record.vectors import (
    PAIR_TITLES,
    Plan,
    by_level,
    check_acceptance,
    find_acceptance,
    path_acceptance,
)
from specviz.tree import Topology
from specviz.verifiers import VERIFIERS
from specviz.view.payload import page_json
from specviz.view.web import asset

from ..parts import recorded
from ..parts.fastest import fastest_sentence
from ..parts.menus import MARKS
from ..parts.request import answer, one_of
from ..parts.web import component

if TYPE_CHECKING:
    from ...service.service import RunService

TITLE = "Tree lab"
RULE = "sequoia"  # the acceptance vectors are of this rule
BY_RULE = f"with {VERIFIERS[RULE].title}’s rule"
SIX = ("chain", "k-ary", "sequoia", "dyspec", "eagle2", "cape")
OTHERS = tuple(
    name
    for name, builder in BUILDERS.items()
    if builder.reads_draft and not builder.autoregressive and name not in SIX
)
PAPER = "llama3-8b-70b-cnn"  # the vector of Sequoia's appendix E


class TreeRequest(BaseModel):
    """What a visitor sets.

    Args:
        vector: the probability that the first, second, ... child of a node is accepted, as typed; a
            semicolon begins that of the next level, and the last level is repeated. Or the text of
            a file that has it: a profile beside a checkpoint, or one of `calibrate`.
        nodes, levels, width: sizes of the trees; nodes counts the root, levels does not.
        builder: the one that is shown large, one of the six or another.
    """

    vector: str = Field(max_length=70_000, title="Your own numbers")
    # Up to twice the largest tree whose cost is recorded, as `forecast` has it.
    nodes: int = Field(32, ge=2, le=128, title="Nodes")
    levels: int = Field(8, ge=1, le=32, title="Levels")
    width: int = Field(3, ge=1, le=16, title="Children")
    builder: str = Field("sequoia", pattern=one_of((*SIX, *OTHERS)))


def vector_of(text: str) -> Plan:
    """The acceptance vector that somebody typed, or one for each level, or what the text of a file
    has."""
    if "{" in text:
        return vector_in(text, "The file").plan
    levels = []
    for level in text.split(";"):
        chances = []
        for child, word in enumerate(level.replace(",", " ").split(), start=1):
            try:
                chance = float(word)
            except ValueError:
                chance = math.nan
            if not 0 <= chance <= 1:
                raise ValueError(
                    f"The acceptance of child {child} must be a number from 0 to 1; got {word:.20}."
                )
            chances.append(chance)
        levels.append(tuple(chances))
    return check_acceptance(tuple(levels), "The acceptance vector")


def presets() -> list[JsonObject]:
    """The vectors to start from, each with sizes."""
    paper = published()[PAPER]
    settings = recorded.read().costs["memory"].settings
    title = PAIR_TITLES[settings["pair"]]
    measured = find_acceptance(RULE, 0.6, settings["drafter"], settings["pair"])
    return [
        {
            "title": title,
            "vector": typed(measured),
            "nodes": 32,
            "levels": 8,
            "width": 3,
            "about": f"Acceptance of {title} at temperature 0.6 {BY_RULE}, and its pass times.",
        },
        {
            "title": "Sequoia’s figure 2",
            "vector": typed(paper.acceptance),
            "nodes": 64,
            "levels": 11,
            "width": 3,
            "about": f"Acceptance of {paper.title}, {BY_RULE}; pass times of {title}.",
        },
    ]


def typed(vector: Iterable[float]) -> str:
    """A vector as somebody would type it."""
    return ", ".join(f"{chance:.4g}" for chance in vector)


def build(service: RunService) -> None:
    """Lay out this page of the tab."""
    # only here: another process computes what this module does, without the server
    from ..parts.saving import server_function

    start = presets()
    fields = TreeRequest.model_json_schema()["properties"]
    sizes = {name: fields[name] for name in ("nodes", "levels", "width")}
    past = recorded.read()
    source = f"{recorded.source_of(past.costs['memory'])}, {past.label}"
    values = {
        "presets": start,
        "own": f"Your acceptance, read as one {BY_RULE}; pass times of {start[0]['title']}.",
        "sizes": sizes,
        "builders": [[name, BUILDERS[name].title] for name in (*SIX, *OTHERS)],
        "first": trees(start[0]),
    }
    component(
        "trees",
        asset("labs/trees.html").replace("<!-- source -->", source),
        page_json(values),
        server_functions=[server_function(service, trees)],
        elem_id="sv-lab",
    )


def trees(request: object) -> str:
    """The trees as JSON, or {"error": a sentence}; `request` has the fields of `TreeRequest`."""

    def draw(sizes: TreeRequest) -> JsonObject:
        vector = vector_of(sizes.vector)
        # The six side by side, and a seventh where another is shown large.
        drawn = [
            tree_of(name, vector, sizes.nodes, sizes.levels, sizes.width)
            for name in dict.fromkeys((*SIX, sizes.builder))
        ]
        return {"trees": drawn, "answer": fastest(drawn)}

    return answer(TreeRequest, request, draw)


def fastest(drawn: list[JsonObject]) -> str:
    """A sentence: which of the trees is fastest, in memory and on disk; all that are as fast in the
    numbers on the page."""
    best = {}
    for place in recorded.PLACES.values():
        most = max(tree["speeds"][place] for tree in drawn)
        *more, last = (
            named(tree) for tree in drawn if f"{tree['speeds'][place]:.2f}" == f"{most:.2f}"
        )
        best[place] = (f"{', '.join(more)} and {last}" if more else last, most)
    sentence = fastest_sentence(best, decimals=2)  # as on the cards
    return f"At these sizes, {sentence[:1].lower()}{sentence[1:]}"


def named(tree: JsonObject) -> str:
    """A tree in a sentence; one that the rule of the vectors would make lossy is called so."""
    if tree["mark"]:
        return f"{tree['title']} ({tree['mark']} {BY_RULE})"
    return tree["title"]


def tree_of(name: str, vector: tuple, nodes: int, levels: int, width: int) -> JsonObject:
    """One tree: its shape, the acceptance probability of each node, its expected tokens per pass,
    and how many times as fast as plain decoding that is."""
    builder, step = fitted(name, vector, nodes, levels, width)
    shape = Topology(step.parents)
    chance = path_acceptance(shape, vector)
    speeds = {}
    for place, cost in recorded.read().costs.items():
        cell = predict(shape, vector, cost, sum(chance), step.draft_passes)
        speeds[recorded.PLACES[place]] = cell.speedup
    match = compatible(RunConfig(builder=builder, verifier=RULE, temperature=1.0))
    return {
        "name": name,
        "title": builder.title,
        "parents": list(step.parents),
        "chance": chance,
        "tokens": sum(chance),
        "speeds": speeds,
        "nodes": len(shape),
        "levels": int(shape.depth.max()),
        "passes": step.draft_passes,
        "mark": "" if match.lossless else MARKS["lossy"],
    }


def fitted(
    name: str, vector: tuple, nodes: int, levels: int, width: int
) -> tuple[TreeBuilder, Step]:
    """A builder whose tree has at most so many nodes and levels, and the step that drafts it."""
    cls = BUILDERS[name]
    fields = cls.model_fields
    sizes: JsonObject = {"size": nodes, "acceptance": vector}
    if "acceptance" not in fields:  # a planned tree has as many children as pay
        sizes["width"] = min(width, nodes - 1)
    # A builder that has no size for the whole tree gets shallower until its tree has few enough
    # nodes; each try drafts the tree, because only then it is known how many those are.
    for depth in range(min(levels, nodes - 1), 0, -1):
        values = sizes | {"depth": depth, "longest": depth, "widths": (width,) * depth}
        try:
            builder = cls(**{key: value for key, value in values.items() if key in fields})
        except ValueError:  # more nodes than any builder makes
            continue
        step = first_step(builder, vector)
        if len(step.parents) <= nodes:
            return builder, step
    builder = cls(**{"width": nodes - 1} if "width" in fields else {})
    return builder, first_step(builder, vector)


def first_step(builder: TreeBuilder, vector: tuple) -> Step:
    """One step of the real loop on a draft with the vector, largest first, as its distribution at
    every position; of one vector for each level it is the first."""
    # The k-th most probable token is the k-th child, so its probability is that of the k-th entry.
    head = np.sort(np.array(by_level(vector)[0]))[::-1]
    tail = max(0.0, 1 - head.sum())
    # Tokens that share the rest, each less likely than the head.
    spread = max(64, int(tail / max(head[-1], 1e-3)) + 1)
    with np.errstate(divide="ignore"):
        row = np.log(np.append(head, np.full(spread, tail / spread)))
    model = TableModel(lambda context: row)
    config = RunConfig(
        [0], builder, VERIFIERS["target-match"](), temperature=1.0, max_new_tokens=512
    )
    return next(
        speculate(TablePair(model, model, len(row), (), "one vector"), config, scheme="top")
    )
