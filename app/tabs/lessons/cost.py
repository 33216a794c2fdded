"""The cost of a step: when a tree is slower than decoding alone, and how this changes with the
weights on disk."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice, product
from math import log2
from operator import itemgetter
from statistics import median

import specviz
from specviz.config.run_config import RunConfig
from specviz.decode import speculate
from specviz.measure.machines import mixture_of_experts
from specviz.measure.timing import interleave

from ...service.pair_ref import LABELS, SMOLLM2
from .lesson import Facts, Figure, Lesson, Place, Recording

QUESTION = "Tell me a short story about a lighthouse keeper."
NODES = 48
GUESSES = 2
# Experts of a mixture that a token uses and that there are, and the tokens of one pass.
EXPERTS = (8, 128)
MOE_TOKENS = 8
HOT = 1.0  # the temperature of the runs, at which guesses are often wrong
WARM = 0.6  # that of the curves
TREE = RunConfig(QUESTION, f"sequoia:size={NODES},depth=6", "sequoia", temperature=HOT)
CHAIN = RunConfig(QUESTION, f"chain:depth={GUESSES}", "speculative-sampling", temperature=HOT)
PLACES = {"memory": "in memory", "disk": "on disk"}
# The measured curves: nodes of the trees, steps of each, and rounds over all of them.
SIZES = (1, 2, 4, 8, 16, 32, 64, 96, 128)
STEPS = 8
ROUNDS = 5


def facts(tree, chain, alone, measured):
    # The lesson is about a tree that does not pay.
    memory = measured["curves"][0]
    behind = slower_behind(memory)
    if tree.counts.speedup(alone.counts) >= 0.95 or behind is None:
        return None
    experts = mixture_of_experts(*EXPERTS)
    values = {
        "model": LABELS[SMOLLM2],
        "temperature": HOT,
        "curves_at": WARM,
        "nodes": NODES,
        "guesses": GUESSES,
        "tree_guesses": NODES - 1,
        "plain_ms": 1000 * alone.counts.seconds_per_step,
        "active": EXPERTS[0],
        "experts": EXPERTS[1],
        "expert_tokens": MOE_TOKENS,
        "expert_ratio": experts.target(MOE_TOKENS) / experts.target(1),
    }
    for name, trace in (("tree", tree), ("chain", chain)):
        speedup = trace.counts.speedup(alone.counts)
        ratio = trace.counts.seconds_per_step / alone.counts.seconds_per_step
        values |= {
            f"{name}_tokens": speedup * ratio,
            f"{name}_ms": 1000 * trace.counts.seconds_per_step,
            f"{name}_speedup": speedup,
        }
    for curve in measured["curves"]:
        where = curve["weights"]
        best = best_point(curve)
        one = curve["points"][0]
        last = curve["points"][-1]
        values |= {
            f"{where}_best": best["nodes"],
            f"{where}_speedup": speedup_of(best, curve),
            f"{where}_ratio": last["ms"] / one["ms"],
            "largest": last["nodes"],
            "largest_tokens": last["tokens"],
        }
    values["behind"] = behind
    values["largest_speedup"] = speedup_of(memory["points"][-1], memory)
    first = len(LESSON.recordings)  # of the charts
    return Facts(values, Place(picture=first), Place(picture=first + 1), charts(measured))


def measure(pair, seed):
    """The time of a step by the nodes of its tree, with the target's weights in memory and on disk,
    timed in turns."""
    # Looked up in `specviz` only here: torch comes with it.
    pairs = {"memory": pair, "disk": specviz.load_pair(SMOLLM2, offload="disk", chat=True)}
    calls = {}
    for size, where in product(SIZES, pairs):
        calls[where, size] = partial(time_step, pairs[where], size, seed)
    seconds: dict[tuple[str, int], list[float]] = {name: [] for name in calls}
    tokens: dict[int, float] = {}
    for number, name, (median_s, expected) in interleave(calls, ROUNDS + 1):
        if number:  # the first passes of a process are slow
            seconds[name].append(median_s)
        tokens[name[1]] = expected
    curves = []
    for where in pairs:
        points = [
            {"nodes": size, "ms": 1000 * median(seconds[where, size]), "tokens": tokens[size]}
            for size in SIZES
        ]
        curves.append({"weights": where, "points": points})
    return {"curves": curves}


def time_step(pair, size, seed, number):
    """Median seconds of a step with Sequoia's tree of a size, 1 for decoding alone, and its
    expected tokens."""
    config = RunConfig(QUESTION, temperature=WARM, seed=seed, max_new_tokens=256)
    if size == 1:
        config = config.autoregressive()
    else:
        tree = f"sequoia:size={size},depth={min(size - 1, 2 + int(log2(size)))}"
        config = replace(config, builder=tree, verifier="sequoia")
    # The first step reads the prompt, which costs more than any later one.
    first, *steps = islice(speculate(pair, config), STEPS + 1)
    expected = first.growth.expected if size > 1 else 1.0
    return median(step.seconds.total for step in steps), expected


def speedup_of(point, curve):
    """Over decoding alone: expected tokens by the time of a step, in plain steps."""
    return point["tokens"] * curve["points"][0]["ms"] / point["ms"]


def best_point(curve):
    """The tree with the largest speedup."""
    return max(curve["points"], key=lambda point: speedup_of(point, curve))


def slower_behind(curve):
    """The largest tree that is still as fast as decoding alone; None where the largest that was
    timed is."""
    fast = [point["nodes"] for point in curve["points"] if speedup_of(point, curve) >= 1]
    return max(fast) if max(fast) < curve["points"][-1]["nodes"] else None


def charts(measured):
    """The time of a step and its speed by the nodes of the tree, for each place of the weights, and
    the tokens, which only rise; in multiples of a plain step."""
    times = []
    speeds = []
    for curve in measured["curves"]:
        place = PLACES[curve["weights"]]
        base = curve["points"][0]["ms"]
        best = best_point(curve)
        speed = partial(speedup_of, curve=curve)
        label = f"{place} ({best['nodes']} nodes: most tokens/s)"
        times.append(line(label, curve, best, lambda point, base=base: point["ms"] / base))
        label = f"speed {place} ({best['nodes']} nodes: {speed(best):.1f} ×)"
        speeds.append(line(label, curve, best, speed))
    largest = curve["points"][-1]
    label = f"tokens per pass ({largest['nodes']} nodes: {largest['tokens']:.1f})"
    # The places come first: they have the colours that they have in the other picture.
    speeds.append(line(label, curve, largest, itemgetter("tokens")))
    x = f"tree nodes (log scale), temperature {WARM}"
    model = LABELS[SMOLLM2]
    return (
        Figure(
            "Time by nodes",
            "times",
            {"x": x, "y": f"step time (plain = 1), {model}", "curves": times},
        ),
        Figure(
            "Tokens and speed",
            "times",
            {"x": x, "y": f"tokens or × plain speed, {model}", "curves": speeds},
        ),
    )


def line(label, curve, best, height):
    """A curve of a picture, of which one point is marked."""
    points = [[point["nodes"], height(point)] for point in curve["points"]]
    return {"label": label, "points": points, "best": [best["nodes"], height(best)]}


LESSON = Lesson(
    "cost",
    (
        Recording("large", "Large tree", TREE, steps=10),
        Recording("small", "Short chain", CHAIN, steps=24),
        Recording("alone", "Target alone", TREE, steps=24, autoregressive=True),
    ),
    facts,
    measure,
    timed=True,
    target=SMOLLM2,
)
