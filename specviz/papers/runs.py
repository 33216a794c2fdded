"""What runs do: tokens, passes and trees, which no clock has part in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..decode import run, speculate
from ..record.metrics import Counts
from ..sampling.randomness import Randomness, Seeded
from ..tree import Topology
from .number import Sums, measurement
from .workbench import Text, Workbench

TOKENS = 48
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
    blocks = {
        (index[node] // BLOCK, (prefix + index[above]) // BLOCK)
        for node in range(len(shape))
        for above in (0, *shape.path(node))
    }
    rows = range(-(-len(shape) // BLOCK))
    blocks |= {(row, column) for row in rows for column in range(-(-prefix // BLOCK))}
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
