"""The cost of a step: when a tree is slower than decoding alone, and how this changes with the
weights on disk."""

from __future__ import annotations

from specviz.config.run_config import RunConfig
from specviz.measure.machines import mixture_of_experts

from ...service.pair_ref import LABELS, SMOLLM2
from ..parts import recorded
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


def facts(tree, chain, alone):
    # The lesson is about a tree that does not pay.
    if tree.counts.speedup(alone.counts) >= 0.95:
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
    times = []
    speeds = []
    for weights, cost in recorded.read().costs.items():
        forecast = recorded.predict(cost, WARM)
        times.append(curve(weights, forecast, "price"))
        speeds.append(curve(weights, forecast, "speedup"))
        largest = forecast.best_of_sizes[-1]
        values |= {
            f"{weights}_best": forecast.best.size,
            f"{weights}_speedup": forecast.best.speedup,
            f"{weights}_ratio": largest.price,
        }
        if weights == "memory":
            values |= {
                "largest": largest.size,
                "largest_tokens": largest.tokens_per_pass,
                "largest_speedup": largest.speedup,
                "behind": max(cell.size for cell in forecast.best_of_sizes if cell.speedup >= 1),
            }
    figures = (
        chart("Time by nodes", "Step time", times),
        chart("Speed by nodes", "Speed", speeds),
    )
    first = len(LESSON.recordings)  # of the charts
    return Facts(values, Place(picture=first), Place(picture=first + 1), figures)


def chart(label, quantity, curves):
    """A picture of curves."""
    y = f"{quantity} of {LABELS[SMOLLM2]}, predicted at temperature {WARM} (plain = 1)"
    return Figure(label, "times", {"y": y, "curves": curves})


def curve(weights, forecast, height):
    """A quantity of the best tree of each size, after that of plain decoding, 1; the fastest tree
    is marked."""
    best = forecast.best
    points = [[1, 1.0]]
    for cell in forecast.best_of_sizes:
        if cell == best or cell.size.bit_count() == 1:
            points.append([cell.size, getattr(cell, height)])
    marked = [best.size, getattr(best, height)]
    return {"label": recorded.PLACES[weights], "points": points, "best": marked}


LESSON = Lesson(
    "cost",
    (
        Recording("large", "Large tree", TREE, steps=10),
        Recording("small", "Short chain", CHAIN, steps=24),
        Recording("alone", "Target alone", TREE, steps=24, autoregressive=True),
    ),
    facts,
    target=SMOLLM2,
)
