"""What runs do: tokens, passes and trees, which no clock has part in, and the time they take, in alternating order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ..benchmarks.alternating_rounds import paired, seconds_in_turns, seconds_of
from ..benchmarks.measure_cost import PROMPT, cost_table
from ..builders.sequoia import Sequoia, best_tree
from ..compatibility import suited
from ..config import RunConfig
from ..decode import run, speculate
from ..metrics import Counts
from ..models.base import Pair
from ..planning.forecast import forecast, predict
from ..randomness import Seeded
from ..theory.mask_order import ORDERS, count_blocks, random_tree
from ..tree import TokenTree, Topology
from .claim import Data, measurement
from .on_rows import WIDEST, moments, planned
from .workbench import Text, Workbench

TOKENS = 64  # of what is timed
COUNTED = 48  # of what is counted
PASSES = (1, 2, 4, 8, 16, 32, 64, 96)  # nodes of the passes that are timed
BEFORE = 64  # tokens of a text before them
CHOSEN = (4, 8, 16, 32, 64)  # nodes of the trees that the chosen one is compared with
PREFIXES = (0, 128, 512, 2048)
SEQUENCES = ("1x4", "2x4", "4x4", "5x8", "8x8")


@measurement("counted")
def runs(
    bench: Workbench, text: Text, builder: str, rule: str, temperature: float, drafter: str = "",
    draft_temperature: float | None = None, kind: str = "",
) -> dict[str, float]:  # fmt: skip
    """One run with a builder and a rule, in counts."""
    config = bench.config(
        text, temperature, builder=builder, verifier=rule, drafter=drafter or None,
        draft_temperature=draft_temperature, max_new_tokens=COUNTED,
    )  # fmt: skip
    trace = run(bench.pair, config)
    found = Counts.of(trace.steps)
    whole = [step for step in trace.steps[:-1] if len(step.parents) > 1]
    nodes, paths = (
        np.array([f(step) for step in whole], float) for f in (lambda s: len(s.parents), lambda s: len(s.path))
    )
    return {
        "tokens": found.tokens, "passes": found.passes, "nodes": found.nodes, "draft passes": found.draft_passes,
        "accepted": found.accepted, "compared": found.compared,
    } | moments("tree", np.ones(len(whole)), nodes, paths)  # fmt: skip


def counted(way: str, temperature: float = 0.6, draft_temperature: float | None = None) -> Data:
    """Runs with "builder | rule" or "builder | rule | drafter", in counts; at temperature 0 with exact matching."""
    builder, rule, drafter = [*way.split(" | "), ""][:3]
    more = {"drafter": drafter, "draft_temperature": draft_temperature}
    return runs(
        builder=builder, rule=rule if temperature else "exact-match", temperature=temperature,
        **{name: value for name, value in more.items() if value},
    )  # fmt: skip


@measurement("counted")
def merged(bench: Workbench, text: Text, width: int, depth: int, temperature: float) -> dict[str, float]:
    """Sequences drawn independently, merged into a trie, and pruned of what only one of them has.

    Args:
        bench, text, temperature: what is decoded.
        width, depth: how many sequences, and how long.

    Returns:
        Nodes of the sequences, of the trie and of what remains; accepted tokens, and how many of them remain.
    """
    builder = f"k-sequences:width={width},depth={depth}"
    config = bench.config(text, temperature, builder=builder, verifier="specinfer", max_new_tokens=COUNTED)
    columns = dict.fromkeys(("drafted", "merged", "kept", "accepted", "accepted kept"), 0.0)
    for step in run(bench.pair, config).steps:
        shape = Topology(step.parents)
        words = [tuple(step.tokens[i] for i in shape.path(node)) for node in range(1, len(shape))]
        times, accepted = Counter(words), [tuple(step.tokens[i] for i in shape.path(node)) for node in step.path]
        columns["drafted"] += len(words)
        columns["merged"] += len(times)
        columns["kept"] += sum(count > 1 for count in times.values())
        columns["accepted"] += len(accepted)
        columns["accepted kept"] += sum(times[word] > 1 for word in accepted)
    return columns


@measurement("counted")
def random_blocks(bench: Workbench, text: Text, size: int) -> dict[str, float]:
    """Blocks of the attention mask of a random tree; every text stands for one tree."""
    tree = random_tree(size, Seeded(text.seed))
    return {"trees": 1.0, **{name: count_blocks(tree, order(tree)) for name, order in ORDERS.items()}}


@measurement("counted")
def drafted_blocks(bench: Workbench, text: Text, temperature: float, size: int) -> dict[str, float]:
    """Blocks of the first tree that DySpec drafts behind a prompt, without and with a text before it."""
    config = bench.config(text, temperature, builder=f"dyspec:size={size},depth=24,batch=16", verifier="dyspec")
    shape = max((Topology(step.parents) for step in islice(speculate(bench.pair, config), 2)), key=len)
    orders = {name: ORDERS[name](shape) for name in ("as drawn", "depth-first", "heavy-path")}
    counts = {
        f"{name} {before}": count_blocks(shape, order, 32, before)
        for name, order in orders.items()
        for before in PREFIXES
    }
    paths = sum(int(shape.depth[node]) + 1 for node in range(len(shape)) if not shape.children[node])
    return {"trees": 1.0, "nodes": len(shape), "as paths": paths, **counts}


# ---- timed ----


@measurement("timed")
def speeds(
    bench: Workbench, text: Text, ways: tuple[str, ...], temperature: float, tokens: int = TOKENS, kind: str = "",
    draft_temperature: float | None = None, offload: str = "",
) -> dict[str, float]:  # fmt: skip
    """Tokens and seconds of plain decoding and of every way, in alternating order.

    Args:
        bench, text, temperature, tokens, kind, draft_temperature: what is decoded.
        ways: a builder, and perhaps a rule and a drafter, with " | " between them.
        offload: "disk" for the embedded pair with its target's layers on the disk.
    """
    from ..models.pair import load_pair  # which imports torch, and the page only reads what is stored

    pair = bench.kept(("pair", offload), lambda: load_pair(offload=offload)) if offload else bench.pair
    most = min(tokens, bench.pair.max_positions - 64)
    config = bench.config(text, temperature, max_new_tokens=most, draft_temperature=draft_temperature)
    return _timed(bench, {way: _configured(config, *way.split(" | ")) for way in ways}, config, text.number, pair)


def _configured(config: RunConfig, builder: str, rule: str = "", drafter: str = "") -> RunConfig:
    config = replace(config, builder=builder, drafter=drafter or None)
    return replace(config, verifier=rule or suited(config))


def _timed(
    bench: Workbench, ways: dict[str, RunConfig], plain: RunConfig, turn: int, pair: Pair | None = None
) -> dict[str, float]:
    pair = pair or bench.pair
    order = {"plain": plain.plainly(), **ways}
    names = list(order)[turn % len(order) :] + list(order)[: turn % len(order)]
    calls = {name: (lambda _, config=order[name]: run(pair, config)) for name in names}
    if bench.once(("warm", id(pair), *names)):
        calls[names[0]](0)  # the first run of all would pay for what the models set up
    columns: dict[str, float] = {}
    for _, name, trace in paired(calls, 1):
        found = Counts.of(trace.steps)
        columns |= {f"{name} tokens": found.timed_tokens, f"{name} seconds": sum(found.seconds)}
        columns |= {f"{name} passes": found.timed_passes}
    return columns


@measurement("timed")
def choice(bench: Workbench, text: Text, temperature: float) -> dict[str, float]:
    """The tree that the formula of Sequoia's section 4.1 chooses, timed beside others, with their predictions."""
    rule = "exact-match" if temperature == 0 else "sequoia"
    config = bench.config(text, temperature, max_new_tokens=TOKENS, verifier=rule)
    vector, cost = planned(temperature), bench.kept("cost", lambda: _cost(bench))
    best = forecast(vector, cost).best
    tree = partial(Sequoia, acceptance=vector)
    builders = {"chosen": tree(size=best.size, depth=best.depth)}
    builders |= {f"tree {n}": tree(size=n, depth=6) for n in CHOSEN}
    builders |= {f"unlimited {n}": tree(size=n, depth=min(64, n - 1)) for n in CHOSEN}
    predicted = {name: predict(builder.shape, vector, cost).speedup for name, builder in builders.items()}
    ways = {name: replace(config, builder=builder) for name, builder in builders.items()}
    for name in SEQUENCES:
        width, depth = name.split("x")
        several = replace(config, builder=f"k-sequences:width={width},depth={depth}")
        ways[name] = several if temperature == 0 else replace(several, verifier="specinfer")
    found = _timed(bench, ways, config, text.number)
    found |= {f"{name} predicted": value for name, value in predicted.items()}
    return found | {"texts": 1, "nodes": best.size, "levels": best.depth}


def _cost(bench: Workbench):
    bench.report("Timing passes of rising size.")
    return cost_table(bench.pair, RunConfig(PROMPT, temperature=0.8), sizes=PASSES, rounds=4, seconds=bench.seconds)


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
    *_, last = seconds_in_turns(calls, 3)
    return {**last.known, "texts": 1}


def as_paths(shape: Topology) -> tuple[int, int, int]:
    """Paths to the leaves, the tokens of the longest, and of all of them together."""
    ends = [int(shape.depth[node]) + 1 for node in range(len(shape)) if not shape.children[node]]
    return len(ends), max(ends), sum(ends)


@measurement("timed")
def latency(bench: Workbench, text: Text, builder: str, temperature: float) -> dict[str, float]:
    """Seconds of a run, and what its passes should take by their own times: DySpec's equation 3.

    Returns:
        Tokens, seconds and predicted seconds; "draft" and "target" are seconds of one pass, summed over texts.
    """
    config = bench.config(
        text, temperature, builder=builder, verifier="dyspec", max_new_tokens=TOKENS, draft_temperature=temperature
    )
    cost = bench.kept("cost", lambda: _cost(bench))
    if bench.once(("warm", builder)):
        run(bench.pair, config)
    steps = [step for step in run(bench.pair, config).steps[1:] if len(step.parents) > 1]
    if not steps:
        return {}
    found = Counts.of(steps)
    sizes = np.array([len(step.parents) for step in steps])
    draft = cost.draft(float((sizes - 1).sum()) / found.draft_passes) if "batch=1" not in builder else cost.draft(1)
    target = cost.target(float(sizes.mean()))
    return {
        "tokens": found.tokens, "seconds": sum(step.seconds.total for step in steps),
        "predicted": found.draft_passes * draft + found.passes * target,
        "draft": draft, "target": target, "one token": cost.target(1),
    }  # fmt: skip


@measurement("timed")
def construction(bench: Workbench, text: Text, builder: str, temperature: float) -> dict[str, float]:
    """Seconds of the parts of all steps of a run, the builder's own time beside the draft's passes among them."""
    spent = [0.0]
    config = bench.config(text, temperature, builder=builder, verifier="dyspec", max_new_tokens=TOKENS)
    trace = run(bench.pair, replace(config, builder=_clocked(config.builder, spent)))
    parts = {
        part: sum(getattr(step.seconds, part) for step in trace.steps)
        for part in ("draft", "target", "verify", "other")
    }
    parts["other"] -= spent[0]
    return parts | {"construction": spent[0], "seconds": sum(parts.values()) + spent[0]}


def _clocked(builder: Any, spent: list[float]) -> Any:
    """A builder that adds up its own seconds, without those of the draft's passes."""

    class Clocked(type(builder)):  # type: ignore[misc]  # whichever builder it is
        def __call__(self, draft, *args):
            found, before = [], draft.watch.parts["draft"]
            whole = seconds_of(lambda: found.append(super(Clocked, self).__call__(draft, *args)))
            spent[0] += whole - (draft.watch.parts["draft"] - before)
            return found[0]

    return Clocked(**builder.parameters)
