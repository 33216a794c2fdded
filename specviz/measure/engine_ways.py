"""What other engines' ways to draft and verify would bring with the same drafter and costs.

Above temperature 0 most engines draft the most probable tokens and verify with the target's own
draw; with a switch they draw tokens and verify by rejection sampling. Both are measured on the same
texts, and predicted for one request and for several together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..config.run_config import RunConfig, compatible
from ..verifiers import VERIFIERS
from ..verifiers.base import Verifier
from .choose import CHAINS, Candidate, candidates
from .cost_table import CostTable
from .on_text import Acceptance
from .profile import Profile
from .timing import TimedRun

OWN_DRAW, REJECTION = "target-match", "speculative-sampling"
CHAIN, TREE, SAMPLED = "chain", "tree", "sampled"
BUDGETS = 65  # numbers of verified slots that are tried


@dataclass(frozen=True)
class EngineWay:
    """One way to draft and verify: the best shape for it, and what was timed.

    Attributes:
        config: what is run; tree: the shape with its prediction.
        by_batch: (fewest, most, length of the chain) by the number of requests.
        timing: None where it was not timed.
    """

    config: RunConfig
    tree: Candidate
    by_batch: tuple[tuple[int, int, int], ...] = ()
    timing: TimedRun | None = None


@dataclass(frozen=True)
class BatchForecast:
    """Several texts decoded together: the best fixed chain, and adaptive verification.

    Attributes:
        fixed: tokens of the best fixed chain, and its speedup.
        drafted, verified: tokens that are drafted for each text, and of them verified on average.
        adaptive: the speedup of that.
    """

    fixed: tuple[int, float]
    drafted: int
    verified: float
    adaptive: float


def engine_rules(config: RunConfig) -> list[Verifier]:
    """The rules of engines that a configuration's drafter goes with, besides its own."""
    if config.temperature == 0:
        return []
    rules = [VERIFIERS[name]() for name in (OWN_DRAW, REJECTION)]
    chain = replace(config, builder="chain")
    fitting = [rule for rule in rules if compatible(replace(chain, verifier=rule)).lossless]
    return [rule for rule in fitting if rule.name != config.verifier.name]


def engine_ways(
    profile: Profile, config: RunConfig, costs: CostTable, texts: Sequence[int]
) -> dict[str, EngineWay]:
    """Each way that was measured, by "chain", "tree" and "sampled".

    Args:
        profile: acceptance by rule; at temperature 0 all rules are one.
        config: drafter and temperatures.
        costs: of one text.
        texts: numbers of texts decoded together, for lengths by batch.
    """
    greedy = config.temperature == 0
    ways = {}
    for way, rule in ((CHAIN, OWN_DRAW), (TREE, OWN_DRAW), (SAMPLED, REJECTION)):
        name = config.verifier.name if greedy else rule
        measured = any(one.verifier == name for one in profile.vectors)
        if not measured or (greedy and way == SAMPLED):
            continue
        own = replace(config, verifier=name)
        acceptance = profile.vector(name, config.temperature)
        tree = _best(acceptance, costs, own, chain=way != TREE)
        if tree is not None:
            by_batch = () if way == TREE else lengths_by_batch(acceptance, costs, own, texts)
            ways[way] = EngineWay(replace(own, builder=tree.builder), tree, by_batch)
    return ways


def _best(
    acceptance: Acceptance, costs: CostTable, config: RunConfig, chain: bool
) -> Candidate | None:
    ranked = candidates(acceptance.plan, costs, config)
    shapes = (one for one in ranked if not (chain and one.builder.shape.rank.any()))
    return next(shapes, None)


def lengths_by_batch(
    acceptance: Acceptance, costs: CostTable, config: RunConfig, texts: Sequence[int]
) -> tuple[tuple[int, int, int], ...]:
    """The best length of a chain by the number of requests; 0 where plain decoding is faster."""
    ranges = []
    fewest = 1
    for count in sorted(set(texts)):
        chain = _best(acceptance, costs.per_text(count), config, chain=True)
        pays = chain is not None and chain.predicted.speedup > 1
        ranges.append((fewest, count, chain.predicted.depth if chain and pays else 0))
        fewest = count + 1
    return tuple(ranges)


def adaptive_verification(acceptance: Acceptance, costs: CostTable, texts: int) -> BatchForecast:
    """A fixed draft for each text, of which the slots are verified that most probably survive.

    Slots of all texts compete, and as many are verified as write the most tokens per second. What
    a text's slots survive is known from its own acceptance, not from a single draft.

    Args:
        acceptance: measured text by text.
        costs: of one text.
        texts: how many are decoded together.

    Source: vLLM 0.32, adaptive verification; DySpec (Xiong et al. 2024), trees of a batch.
    """
    shared = costs.per_text(texts)
    plans = [plan for _, plan in acceptance.by_text] or [acceptance.plan]
    survival = np.array([chain_survival(plans[text % len(plans)]) for text in range(texts)])
    best_fixed, best_adaptive = (0, 1.0), (0, 0.0, 1.0)
    for length in (length for length in CHAINS if length <= survival.shape[1]):
        slots = np.sort(survival[:, :length].ravel())[::-1]
        accepted = np.concatenate([[0.0], np.cumsum(slots)]) / texts
        for budget in np.unique(np.linspace(0, len(slots), BUDGETS).astype(int)).tolist():
            verified = budget / texts
            speedup = (1 + accepted[budget]) / _price(shared, length, verified)
            if speedup > best_adaptive[2]:
                best_adaptive = (length, verified, float(speedup))
        everything = (1 + accepted[-1]) / _price(shared, length, length)
        if everything > best_fixed[1]:
            best_fixed = (length, float(everything))
    return BatchForecast(best_fixed, *best_adaptive)


def _price(costs: CostTable, length: int, verified: float) -> float:
    """Plain steps of a step that drafts a chain and verifies a part of it."""
    passes = length * costs.draft(1) + costs.opening_s
    nodes = 1 + verified
    rest = costs.target(nodes) + costs.overhead(nodes) + costs.row_s * length
    return max(1.0, (passes + rest) / costs.plain_s) if costs.plain_s else 1.0


def chain_survival(plan: tuple) -> list[float]:
    """How often a chain is accepted up to each position: products of first children's chances."""
    levels = plan if isinstance(plan[0], tuple) else (plan,)
    chances = [levels[min(place, len(levels) - 1)][0] for place in range(max(CHAINS))]
    return np.cumprod(chances).tolist()
