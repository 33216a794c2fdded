"""The sentences that answer the questions of Measure."""

from __future__ import annotations

from specviz.measure.cost_table import CostTable
from specviz.measure.forecast import Forecast
from specviz.measure.this_machine import Point
from specviz.record.vectors import Plan, by_level

from ...service.http.server import local
from ..parts.fastest import fastest_sentence

# As a visitor calls it: whoever looks from elsewhere has a machine of his own.
MACHINE = "this machine" if local() else "the server"
HERE = f"on {MACHINE}"
HOLDS = 0.25  # of the timed speedup: a prediction that is further off does not hold
WIDE = 64  # nodes at most, whose cost the answer names


def fastest_tree(forecasts: dict[str, Forecast]) -> str:
    """Which tree is predicted to be the fastest, in each place."""
    best = {}
    for place, predicted in forecasts.items():
        tree = predicted.best
        best[place] = (f"a tree of {tree.size} nodes", tree.speedup)
    return fastest_sentence(best)


def cost_of_a_pass(costs: dict[str, CostTable]) -> str:
    """What a pass over many nodes costs, in each place."""
    # A slow machine may have timed smaller passes only.
    nodes = min(WIDE, *(table.sizes[-1] for table in costs.values()))
    sentences = []
    than_what = f" for a pass over {nodes} nodes as for one over a single node"  # said once
    for place, table in costs.items():
        ratio = table.target(nodes) / table.target(1)
        sentences.append(f"{place.capitalize()}: {ratio:.1f} times as long{than_what}.")
        than_what = ""
    return " ".join(sentences)


def accepted_by_rank(acceptance: Plan) -> str:
    """How often the first guess for a token is right, and how often any of the first four."""
    first, *_ = by_level(acceptance)
    return (
        f"Sequoia’s rule accepts the first guess in {100 * first[0]:.0f} % of the cases, "
        f"one of the first four in {100 * sum(first[:4]):.0f} %."
    )


def four_rates(accepted: list[int], depth: int) -> str:
    """The four meanings of acceptance, in runs of one chain.

    Args:
        accepted: of each step of a chain, how many of its guesses were accepted.
        depth: guesses of a step.
    """
    steps = len(accepted)
    total = sum(accepted)
    # A step tries one guess more than it accepts, the rejected one, unless it accepts all.
    tried = sum(min(length + 1, depth) for length in accepted)
    last = sum(length == depth for length in accepted)
    return (
        f"Accepted in a chain of {depth}: {100 * total / tried:.0f} % of the guesses tried, "
        f"{100 * total / (depth * steps):.0f} % of all, "
        f"{100 * last / steps:.0f} % at position {depth}. "
        f"Tokens per pass: {total / steps + 1:.1f}."
    )


def prediction_answer(points: dict[str, tuple[Point, ...]], temperature: float) -> str:
    """Whether predictions hold: none is far off."""
    worst, farthest = 0.0, ""
    for place, group in points.items():
        for one in group:
            tree = f"{one.size} nodes {place}"
            worst, farthest = max((worst, farthest), (abs(one.predicted / one.measured - 1), tree))
    off = f"{100 * worst:.0f}\u00a0%"
    at = f"at temperature {temperature:g}"
    if worst > HOLDS:
        return f"No {at}, off by {off} for {farthest}. If the machine was busy, measure again."
    return f"Yes {at}, within {off} of the timed speedups."
