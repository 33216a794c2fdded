"""What runs do: tokens, passes and trees, which no clock has part in, and the time that they take.

What is timed is timed one text and builder after the other in alternating order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Any

import numpy as np

from ..base.progress import final_result
from ..config.run_config import RunConfig
from ..decode import run, speculate
from ..measure.cost_table import CostTable
from ..measure.forecast import forecast
from ..measure.this_machine import PROMPT, measure_cost
from ..models.base import Pair
from ..record.metrics import PARTS, Counts
from ..sampling.randomness import Randomness, Seeded
from ..tree import Topology
from .along import planned
from .number import Sums, measurement
from .workbench import Text, Workbench

TOKENS = 48
TIMED_TOKENS = 64
PASSES = (1, 2, 4, 8, 16, 32, 64, 96)  # nodes of the passes that are timed
SIZES = (4, 8, 16, 32, 64)  # nodes of the trees that the chosen one is compared with
BLOCK = 32  # rows and columns of a block of an attention mask
PREFIXES = (0, 2048)
ORDERS: dict[str, Callable[[Topology], Sequence[int]]] = {
    "as drawn": lambda shape: range(len(shape)),
    "depth-first": lambda shape: sorted(range(len(shape)), key=shape.path),
    "heavy-path": lambda shape: shape.heavy_path,
}


@measurement("counted")
def runs(workbench: Workbench, text: Text, max_new_tokens: int = TOKENS, **settings: Any) -> Sums:
    """One run in counts; settings as for `RunConfig`."""
    config = workbench.config(text, max_new_tokens=max_new_tokens, **settings)
    steps = run(workbench.pair, config).steps
    counts = Counts.of(steps)
    # The last step is cut off at the limit of the run.
    drafted = [step for step in steps[:-1] if len(step.parents) > 1]
    counted = ("tokens", "passes", "nodes", "draft passes", "accepted", "compared")
    sums: dict[str, float] = {name: getattr(counts, name.replace(" ", "_")) for name in counted}
    samples: dict[str, list[float]] = {
        "tree": [len(step.parents) for step in drafted],
        "step": [len(step.path) for step in drafted],
        "text": [counts.tokens_per_pass],
    }
    for name, values in samples.items():  # what their variation follows from
        sums[name] = len(values)
        sums[f"{name} x"] = sum(values)
        sums[f"{name} xx"] = sum(value**2 for value in values)
    return sums


def count_blocks(shape: Topology, order: Sequence[int], prefix: int = 0) -> int:
    """The number of blocks of a tree's attention mask that are not empty (DySpec, appendix C).

    Every node attends to its ancestors and itself. A kernel works through the mask block by block
    and can skip an empty one, so an order that keeps paths together saves work.

    Args:
        shape: the tree, n nodes.
        order: every node once, in the order of rows and columns.
        prefix: tokens before the root, whose columns come first and which every node attends to.
    """
    index = {node: position for position, node in enumerate(order)}
    rows = range(-(-len(shape) // BLOCK))
    columns = range(-(-prefix // BLOCK))
    blocks = set(product(rows, columns))
    for node in range(len(shape)):
        for above in (0, *shape.path(node)):
            blocks.add((index[node] // BLOCK, (prefix + index[above]) // BLOCK))
    return len(blocks)


def random_tree(size: int, rng: Randomness) -> Topology:
    """A tree in which each node hangs from any earlier one with equal chance, as in DySpec's table
    5.

    Args:
        size: nodes, root included.
        rng: where chance comes from.
    """
    return Topology((-1, *(rng.draw(np.ones(node)) for node in range(1, size))))


@measurement("counted")
def random_blocks(workbench: Workbench, text: Text, size: int) -> Sums:
    """Blocks of the attention mask of a random tree; every text stands for one tree."""
    tree = random_tree(size, Seeded(text.seed))
    return {"trees": 1, **{name: count_blocks(tree, order(tree)) for name, order in ORDERS.items()}}


@measurement("counted")
def drafted_blocks(workbench: Workbench, text: Text, temperature: float, size: int) -> Sums:
    """Blocks of the first tree that DySpec drafts behind a prompt, without and with a text before
    it."""
    builder = f"dyspec:size={size},depth=24,batch=16"
    config = workbench.config(text, temperature=temperature, builder=builder, verifier="dyspec")
    # The first step alone may be small, where the prompt ends in doubt.
    steps = islice(speculate(workbench.pair, config), 2)
    shape = max((Topology(step.parents) for step in steps), key=len)
    leaves = [node for node in range(len(shape)) if not shape.children[node]]
    sums = {"nodes": len(shape), "as paths": sum(int(shape.depth[node]) + 1 for node in leaves)}
    for name, order in ORDERS.items():
        for prefix in PREFIXES:
            sums[f"{name} {prefix}"] = count_blocks(shape, order(shape), prefix)
    return sums


@measurement("timed")
def speeds(
    workbench: Workbench,
    text: Text,
    builders: Sequence[str],
    tokens: int = TIMED_TOKENS,
    offload: str = "",
    **settings: Any,
) -> Sums:
    """Tokens and seconds of plain decoding and of every builder.

    Args:
        workbench, text, tokens, settings: what is decoded, and by which rule.
        builders: as on the command line.
        offload: "disk" for the embedded pair with its target's layers on the disk.
    """
    pair = workbench.pair
    if offload:
        # It imports torch, and the page only reads what is stored.
        from ..models.pair import load_pair

        pair = workbench.cached(("pair", offload), lambda: load_pair(offload=offload))
    count = min(tokens, pair.max_positions - 64)
    config = workbench.config(text, max_new_tokens=count, **settings)
    return _timed(workbench, pair, config, {builder: builder for builder in builders}, text.number)


def _timed(
    workbench: Workbench,
    pair: Pair,
    config: RunConfig,
    builders: Mapping[str, str],
    number: int,
) -> Sums:
    configs = {"plain": config.autoregressive()}
    for name, builder in builders.items():
        configs[name] = replace(config, builder=builder)
    first = number % len(configs)  # none always runs behind the same other one
    names = [*list(configs)[first:], *list(configs)[:first]]
    # The first run of all would pay for what the models set up.
    workbench.cached(("warm", id(pair), *names), lambda: run(pair, configs[names[0]]))
    sums: dict[str, float] = {}
    for name in names:
        counts = Counts.of(run(pair, configs[name]).steps)
        sums[f"{name} tokens"] = counts.timed_tokens
        sums[f"{name} seconds"] = sum(counts.seconds)
        sums[f"{name} target"] = counts.seconds[PARTS.index("target")]
        sums[f"{name} passes"] = counts.timed_passes
    return sums


@measurement("timed")
def choice(workbench: Workbench, text: Text, temperature: float) -> Sums:
    """The tree that the formula of Sequoia's section 4.1 chooses, timed beside trees of limited and
    unlimited depth."""
    costs = workbench.cached("cost", lambda: _costs(workbench, RunConfig(PROMPT), PASSES))
    best = forecast(planned(temperature), costs).best
    trees = {"chosen": f"sequoia:size={best.size},depth={best.depth}"}
    for n in SIZES:
        trees[f"tree {n}"] = f"sequoia:size={n},depth=6"
        trees[f"unlimited {n}"] = f"sequoia:size={n},depth={n - 1}"
    rule = "sequoia"
    if temperature == 0:
        rule = "exact-match"
    config = workbench.config(
        text, temperature=temperature, max_new_tokens=TIMED_TOKENS, verifier=rule
    )
    return _timed(workbench, workbench.pair, config, trees, text.number)


@measurement("timed")
def passes(workbench: Workbench, text: Text) -> Sums:
    """Seconds of the target's passes over trees of one and of four nodes."""
    costs = _costs(workbench, workbench.config(text), (1, 4))
    return {"1": costs.target(1), "4": costs.target(4)}


def _costs(workbench: Workbench, config: RunConfig, sizes: Sequence[int]) -> CostTable:
    config = replace(config, temperature=0.8)
    updates = measure_cost(workbench.pair, config, sizes, rounds=4, seconds=workbench.seconds)
    table = final_result(updates)
    assert table  # or `measure_cost` raises
    return table
