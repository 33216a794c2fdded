"""The time that runs, passes and trees take, one text and way after the other in alternating
order."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..base.progress import final_result
from ..builders.sequoia import Sequoia, best_tree
from ..config.run_config import RunConfig
from ..decode import run
from ..measure.choose import suited
from ..measure.forecast import forecast
from ..measure.this_machine import PROMPT, measure_cost
from ..measure.timing import interleave, median_seconds
from ..models.base import Pair
from ..record.metrics import Counts
from ..sampling.randomness import Seeded
from ..tree import TokenTree
from .shapes import WIDEST, planned
from .workbench import Text, Workbench, measurement

TOKENS = 64
PASSES = (1, 2, 4, 8, 16, 32, 64, 96)  # nodes of the passes that are timed
BEFORE = 64  # tokens of a text before them
SIZES = (4, 8, 16, 32, 64)  # nodes of the trees that the chosen one is compared with


@measurement("timed")
def speeds(
    bench: Workbench,
    text: Text,
    ways: tuple[str, ...],
    temperature: float,
    tokens: int = TOKENS,
    kind: str = "",
    draft_temperature: float | None = None,
    offload: str = "",
) -> dict[str, float]:
    """Tokens and seconds of plain decoding and of every way.

    Args:
        bench, text, temperature, tokens, kind, draft_temperature: what is decoded.
        ways: a builder, and perhaps a rule and a drafter, with " | " between them.
        offload: "disk" for the embedded pair with its target's layers on the disk.
    """
    from ..models.pair import (
        load_pair,  # which imports torch, and the page only reads what is stored
    )

    pair = (
        bench.cached(("pair", offload), lambda: load_pair(offload=offload))
        if offload
        else bench.pair
    )
    count = min(tokens, bench.pair.max_positions - 64)
    plain = bench.config(
        text, temperature, max_new_tokens=count, draft_temperature=draft_temperature
    )
    return _timed(
        bench, pair, plain, {way: _with(plain, *way.split(" | ")) for way in ways}, text.number
    )


def _with(config: RunConfig, builder: str, rule: str = "", drafter: str = "model") -> RunConfig:
    config = replace(config, builder=builder, drafter=drafter)
    return replace(config, verifier=rule or suited(config))


def _timed(
    bench: Workbench, pair: Pair, plain: RunConfig, ways: dict[str, RunConfig], number: int
) -> dict[str, float]:
    configs = {"plain": plain.autoregressive(), **ways}
    first = number % len(configs)
    names = [*list(configs)[first:], *list(configs)[:first]]
    # The first run of all would pay for what the models set up.
    bench.cached(("warm", id(pair), *names), lambda: run(pair, configs[names[0]]))
    sums: dict[str, float] = {}
    calls = {name: lambda _, config=configs[name]: run(pair, config) for name in names}
    for _, name, trace in interleave(calls, 1):
        counts = Counts.of(trace.steps)
        sums |= {f"{name} tokens": counts.timed_tokens, f"{name} seconds": sum(counts.seconds)}
    return sums


@measurement("timed")
def choice(bench: Workbench, text: Text, temperature: float) -> dict[str, float]:
    """The tree that the formula of Sequoia's section 4.1 chooses, timed beside trees of limited and
    unlimited depth."""
    rule = "exact-match" if temperature == 0 else "sequoia"
    config = bench.config(text, temperature, max_new_tokens=TOKENS, verifier=rule)
    vector = planned(temperature)
    costs = RunConfig(PROMPT, temperature=0.8)
    measuring = measure_cost(bench.pair, costs, sizes=PASSES, rounds=4, seconds=bench.seconds)
    cost = bench.cached("cost", lambda: final_result(measuring))
    best = forecast(vector, cost).best
    sizes = {"chosen": (best.size, best.depth)} | {f"tree {n}": (n, 6) for n in SIZES}
    sizes |= {f"unlimited {n}": (n, min(64, n - 1)) for n in SIZES}
    ways = {
        name: replace(config, builder=Sequoia(acceptance=vector, size=size, depth=depth))
        for name, (size, depth) in sizes.items()
    }
    return _timed(bench, bench.pair, config, ways, text.number)


@measurement("timed")
def passes(bench: Workbench, text: Text) -> dict[str, float]:
    """Seconds of the target's passes over trees of rising size."""
    rng, vector, any_token = Seeded(text.seed), planned(0.8), np.ones(bench.pair.vocab_size)
    context = [rng.draw(any_token) for _ in range(BEFORE)]
    session = bench.pair.open(context)[0]
    calls = {}
    for n in PASSES:
        tree = TokenTree(context[-1], start=BEFORE - 1)
        for parent in best_tree(vector, n, 10, WIDEST)[0].parents[1:]:
            tree.add(parent, rng.draw(any_token))
        calls[str(n)] = partial(session.forward, tree, range(n))
    return median_seconds(calls, 3)
