"""The time that runs, passes and trees take, one text and builder after the other in alternating
order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..base.progress import final_result
from ..builders.sequoia import Sequoia
from ..config.run_config import RunConfig
from ..decode import run
from ..measure.cost_table import CostTable
from ..measure.forecast import forecast
from ..measure.this_machine import PROMPT, measure_cost
from ..models.base import Pair
from ..record.metrics import PARTS, Counts
from .along import planned
from .number import Sums, measurement
from .workbench import Text, Workbench

TOKENS = 64
PASSES = (1, 2, 4, 8, 16, 32, 64, 96)  # nodes of the passes that are timed
SIZES = (4, 8, 16, 32, 64)  # nodes of the trees that the chosen one is compared with


@measurement("timed")
def speeds(
    workbench: Workbench,
    text: Text,
    builders: Sequence[str],
    tokens: int = TOKENS,
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
    builders: Mapping[str, str | Sequoia],
    number: int,
) -> Sums:
    configs = {"plain": config.autoregressive()}
    configs |= {name: replace(config, builder=builder) for name, builder in builders.items()}
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
    vector = planned(temperature)
    costs = workbench.cached("cost", lambda: _costs(workbench, RunConfig(PROMPT), PASSES))
    best = forecast(vector, costs).best
    sizes = {"chosen": (best.size, best.depth)}
    for n in SIZES:
        sizes[f"tree {n}"] = (n, 6)
        sizes[f"unlimited {n}"] = (n, n - 1)
    rule = "exact-match" if temperature == 0 else "sequoia"
    config = workbench.config(text, temperature=temperature, max_new_tokens=TOKENS, verifier=rule)
    trees = {
        name: Sequoia(acceptance=vector, size=size, depth=depth)
        for name, (size, depth) in sizes.items()
    }
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
