"""What runs do: tokens, passes and trees, which no clock has part in."""

from __future__ import annotations

from itertools import islice

import numpy as np

from ..decode import run, speculate
from ..record.metrics import Counts
from ..sampling.randomness import Seeded
from ..tree import Topology
from .mask_blocks import ORDERS, count_blocks, random_tree
from .on_positions import moments
from .workbench import Text, Workbench, measurement

TOKENS = 48
PREFIXES = (0, 128, 512, 2048)


@measurement("counted")
def runs(
    bench: Workbench,
    text: Text,
    builder: str,
    rule: str,
    temperature: float,
    drafter: str = "model",
    draft_temperature: float | None = None,
) -> dict[str, float]:
    """One run with a builder and a rule, in counts."""
    config = bench.config(
        text,
        temperature,
        builder=builder,
        verifier=rule,
        drafter=drafter,
        draft_temperature=draft_temperature,
        max_new_tokens=TOKENS,
    )
    trace = run(bench.pair, config)
    counts = Counts.of(trace.steps)
    drafted = [step for step in trace.steps[:-1] if len(step.parents) > 1]
    nodes = np.array([len(step.parents) for step in drafted], float)
    paths = np.array([len(step.path) for step in drafted], float)
    return {
        "tokens": counts.tokens,
        "passes": counts.passes,
        "nodes": counts.nodes,
        "draft passes": counts.draft_passes,
        "accepted": counts.accepted,
        "compared": counts.compared,
    } | moments("tree", np.ones(len(drafted)), nodes, paths)


@measurement("counted")
def random_blocks(bench: Workbench, text: Text, size: int) -> dict[str, float]:
    """Blocks of the attention mask of a random tree; every text stands for one tree."""
    tree = random_tree(size, Seeded(text.seed))
    return {
        "trees": 1.0,
        **{name: count_blocks(tree, order(tree)) for name, order in ORDERS.items()},
    }


@measurement("counted")
def drafted_blocks(bench: Workbench, text: Text, temperature: float, size: int) -> dict[str, float]:
    """Blocks of the first tree that DySpec drafts behind a prompt, without and with a text before
    it."""
    config = bench.config(
        text, temperature, builder=f"dyspec:size={size},depth=24,batch=16", verifier="dyspec"
    )
    shape = max(
        (Topology(step.parents) for step in islice(speculate(bench.pair, config), 2)), key=len
    )
    paths = sum(
        int(shape.depth[node]) + 1 for node in range(len(shape)) if not shape.children[node]
    )
    return {"trees": 1.0, "nodes": len(shape), "as paths": paths} | {
        f"{name} {prefix}": count_blocks(shape, order(shape), 32, prefix)
        for name, order in ORDERS.items()
        for prefix in PREFIXES
    }
