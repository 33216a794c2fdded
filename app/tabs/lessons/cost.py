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
    tokens = []
    for weights, cost in recorded.read().costs.items():
        forecast = recorded.predict(cost, WARM)
        best = forecast.best
        cells = []
        for cell in forecast.best_of_sizes:
            if cell == best or cell.size.bit_count() == 1:
                cells.append(cell)
        place = recorded.PLACES[weights]
        times.append(curve(place, cells, "price", best))
        label = f"speed {place} ({best.size} nodes: {best.speedup:.1f} ×)"
        speeds.append(curve(label, cells, "speedup", best))
        largest = cells[-1]
        label = f"tokens {place} ({largest.size} nodes: {largest.tokens_per_pass:.1f})"
        tokens.append(curve(label, cells, "tokens_per_pass", largest))
        values |= {
            f"{weights}_best": best.size,
            f"{weights}_speedup": best.speedup,
            f"{weights}_ratio": largest.price,
            f"{weights}_tokens": largest.tokens_per_pass,
        }
        if weights == "memory":
            values["largest_speedup"] = largest.speedup
            values["behind"] = max(cell.size for cell in cells if cell.speedup >= 1)
    values["largest"] = largest.size
    x = f"tree nodes (log scale), temperature {WARM}"
    model = LABELS[SMOLLM2]
    figures = (
        chart("Time by nodes", x, f"Predicted step time (plain = 1), {model}", times),
        chart("Tokens and speed", x, f"Predicted for {model}", speeds + tokens),
    )
    first = len(LESSON.recordings)  # of the charts
    return Facts(values, Place(picture=first), Place(picture=first + 1), figures)


def chart(label, x, y, curves):
    """A picture of curves."""
    return Figure(label, "times", {"x": x, "y": y, "curves": curves})


def curve(label, cells, height, best):
    """A quantity of the best tree of each size, after that of plain decoding, 1; one tree is
    marked."""
    points = [[1, 1.0]] + [[cell.size, getattr(cell, height)] for cell in cells]
    return {"label": label, "points": points, "best": [best.size, getattr(best, height)]}


LESSON = Lesson(
    "cost",
    (
        Recording("large", "Large tree", TREE, steps=10),
        Recording("small", "Short chain", CHAIN, steps=24),
        Recording("alone", "Target alone", TREE, steps=24, autoregressive=True),
    ),
    facts,
    timed=True,
    target=SMOLLM2,
)
