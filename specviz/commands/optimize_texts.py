"""`optimize --texts`: the best tree against the number of texts decoded together, predicted and measured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ..config import RunConfig
from ..files import printable
from ..many.load_curve import load_curve
from ..metrics import plus_minus
from ..planning.choose import Candidate
from ..planning.cost_table import CostTable
from ..planning.shared_passes import best_trees, stops_paying, where_it_ends
from .watching import until_stopped


def run_texts(
    pair: Any,
    vector: tuple,
    cost: CostTable,
    config: RunConfig,
    counts: Sequence[int],
    prompts: Sequence[str],
    as_json: bool,
) -> int:
    """Predict, measure unless `pair` is None, and print.

    Args:
        pair: the models; None for a machine that is not here.
        vector, cost, config: as for `best_trees`.
        counts: numbers of texts.
        prompts: texts to continue.
        as_json: whether to print JSON.
    """
    trees = best_trees(vector, cost, config, counts)
    if pair is None:
        rows = [{"texts": texts, "tree": one.name, "predicted": one.predicted.speedup} for texts, one in trees.items()]
        print_all(rows, trees, cost, as_json)
        return 0
    found, stopped = until_stopped(load_curve(pair, trees, config, prompts), "rounds")
    print_all([asdict(point) for point in found.known], trees, cost, as_json)
    return 130 if stopped else 0


def print_all(rows: list[dict[str, Any]], trees: dict[int, Candidate], cost: CostTable, as_json: bool) -> None:
    """The rows and where speculation stops paying."""
    speedups = {
        "predicted": [(texts, one.predicted.speedup) for texts, one in trees.items()],
        "measured": [(row["texts"], row["speedup"]) for row in rows if "speedup" in row],
    }
    if as_json:
        ends = {kind: stops_paying(each) for kind, each in speedups.items()}
        print(json.dumps({"machine": cost.machine, "note": cost.note, "texts": rows, "stops_paying": ends}))
        return
    print(printable(f"{cost.machine}: {cost.note}"))
    print("speedup over plain decoding of as many texts together; ± 95 % over rounds, each with other texts")
    print(
        f"{'texts':>5}  {'best tree of each':38} {'predicted':>9}  {'equal trees':13} shared budget (nodes)  as alone"
    )
    for row in rows:
        print(line_of(row))
    for kind, each in speedups.items():
        if each:
            print(f"{kind}: {where_it_ends(each)}")
    if any(row.get("same", row["texts"]) < row["texts"] for row in rows):
        print(
            "as alone: texts that are token for token what they are without the others. The rest differ by rounding: "
            "products of other sizes round differently (use --dtype float32)."
        )


def line_of(row: dict[str, Any]) -> str:
    """One number of texts."""
    line = f"{row['texts']:5}  {row['tree']:38} {row['predicted']:9.2f}"
    if "speedup" not in row:
        return line
    equal = f"{row['speedup']:.2f}{plus_minus(row['margin'])}"
    shared = "not lossless"
    if row["shared"] is not None:
        shared = f"{row['shared']:.2f}{plus_minus(row['shared_margin'])} ({row['shared_nodes']:.1f})"
    return f"{line}  {equal:13} {shared:22} {row['same']} of {row['texts']}"
