"""Lesson 13: the best tree changes with the machine and the temperature."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specviz.acceptance.vectors import find_acceptance
from specviz.builders.sequoia import best_trees
from specviz.planning.cost_table import CostTable, a100, l40_offload
from specviz.planning.forecast import DEPTHS, predict
from specviz.planning.forecast import SIZES as ALL_SIZES
from specviz.plots.step_tree import place
from specviz.tree import Topology

from ...parts import recorded
from .lesson import Lesson, Look, Shown, percent

TITLE = "A tree for each machine"
RECORDINGS = ()
SIZES, WIDEST = ALL_SIZES, 32
TEMPERATURES = (0.0, 0.3, 0.6, 0.8, 1.0)


def machines() -> dict[str, CostTable]:
    """What a step costs, by the button that chooses it."""
    past = recorded.read()
    here = replace(past.cost, note=f"Measured on {past.machine}, with the embedded pair.")
    return {"2 CPU cores": here, "A100": a100(), "L40 with offload": l40_offload()}


def observe(pair, seed):
    """The best of Sequoia's trees of all sizes and depths, for every machine and temperature."""
    costs, found = machines(), []
    for temperature in TEMPERATURES:
        vector = find_acceptance("sequoia" if temperature else "exact-match", temperature)
        trees = best_trees(vector, SIZES, DEPTHS, WIDEST)
        for machine, cost in costs.items():
            cells = [(predict(shape, vector, cost, tokens), shape) for shape, tokens in trees.values()]
            best, shape = max(cells, key=lambda cell: (cell[0].speedup, -cell[0].size))
            found.append(
                {
                    "machine": machine, "note": cost.note, "temperature": temperature, "parents": shape.parents,
                    "tokens": best.tokens_per_pass, "speedup": best.speedup,
                }
            )  # fmt: skip
    return {"trees": found}


def write_lesson(observed):
    trees = {(tree["machine"], tree["temperature"]): tree for tree in observed["trees"]}
    names, (cold, *_, hot) = list(machines()), TEMPERATURES
    sizes = {name: [len(trees[name, t]["parents"]) for t in TEMPERATURES] for name in names}
    depths = {name: [levels(trees[name, t]) for t in TEMPERATURES] for name in names}
    here, gpu, offload = names
    if not max(sizes[here]) < max(sizes[gpu]) < max(sizes[offload]) or not all(
        depths[name][0] > depths[name][-1] for name in names
    ):
        return None
    shared = in_common(trees[gpu, cold], trees[gpu, hot])
    return Lesson(
        view="machines",
        shown=tuple(shown(name, trees) for name in names),
        opens=Look(TEMPERATURES.index(0.6)),
        text=(
            "The best tree of a given size brings the most tokens. But which size? The expected tokens per pass are "
            "divided by the time of a step: of all sizes and depths, the tree with the largest **predicted speedup** "
            "is chosen.",
            f"On {here} each further node costs time: the chosen trees have {span(sizes[here])} nodes. On an A100 a "
            f"pass costs the same up to many nodes: {span(sizes[gpu])}. With weights in main memory, moving them takes "
            f"all the time: {span(sizes[offload])}, the largest size that was tried.",
            f"At low temperature more guesses are accepted, so a deep node is reached more often. On the A100 the tree "
            f"has {depths[gpu][0]} levels at temperature {cold:g} and {depths[gpu][-1]} at {hot:g}. The two share "
            f"{percent(shared)} of their nodes.",
        ),
        task="Move the temperature and watch which nodes are added (green) and removed. Then change the machine.",
        shows=Look(0, None, 2),
        question="Does the tree of one machine suit another?",
        answer=(
            f"Not if they differ much. At temperature {TEMPERATURES[2]:g} the trees of {here} and of the A100 share "
            f"{percent(in_common(trees[here, TEMPERATURES[2]], trees[gpu, TEMPERATURES[2]]))} of the nodes of both.",
            "The A100 and the L40 are projected from the times that Sequoia’s tables 1 and 2 print; acceptance is that "
            "of the embedded pair on all three. Sequoia’s paper (section 4.1) found 64 to 128 nodes on an A100, 768 "
            "with offloading, and deeper trees at low temperature.",
        ),
    )  # fmt: skip


def levels(tree) -> int:
    """How many levels a tree has below its root."""
    return int(Topology(tuple(tree["parents"])).depth.max())


def span(numbers) -> str:
    """The least and the largest of some numbers."""
    return f"{min(numbers)} to {max(numbers)}" if min(numbers) < max(numbers) else f"{numbers[0]}"


def nodes_by_path(tree) -> set[tuple[int, ...]]:
    """The nodes of a tree, each as the ranks on its path, so that two trees can be compared."""
    shape = Topology(tuple(tree["parents"]))
    paths: list[tuple[int, ...]] = [()]
    for node, parent in enumerate(shape.parents[1:], 1):
        paths.append((*paths[parent], int(shape.rank[node])))
    return set(paths)


def in_common(one, other) -> float:
    """Which share of the nodes of two trees is in both."""
    mine, others = nodes_by_path(one), nodes_by_path(other)
    return len(mine & others) / len(mine | others)


def shown(name: str, trees: dict[tuple[str, float], Any]) -> Shown:
    """What the view shows of one machine."""
    mine = [trees[name, t] for t in TEMPERATURES]
    steps, drawn = [], []
    for at, (t, tree) in enumerate(zip(TEMPERATURES, mine, strict=True)):
        size = f"{len(tree['parents'])} nodes, {levels(tree)} levels below the root"
        said = f"{size}: {tree['tokens']:.2f} tokens per pass, predicted speedup {tree['speedup']:.2f}."
        if at:
            said += (
                f" {percent(in_common(mine[at - 1], tree))} of the nodes are also those at {TEMPERATURES[at - 1]:g}."
            )
        steps.append((f"temperature {t:g}", said))
        shape = Topology(tuple(tree["parents"]))
        drawn.append(
            {
                "parents": list(shape.parents),
                "ranks": [int(rank) for rank in shape.rank],
                "rows": [row for _, row in place(shape)],
            }
        )
    table = [
        {
            "machine": machine, "own": machine == name,
            "cells": [f"{len(trees[machine, t]['parents'])} · {levels(trees[machine, t])}" for t in TEMPERATURES],
        }
        for machine in machines()
    ]  # fmt: skip
    columns = [f"T {t:g}" for t in TEMPERATURES]
    return Shown(name, steps, {"note": mine[0]["note"], "trees": drawn, "columns": columns, "table": table})
