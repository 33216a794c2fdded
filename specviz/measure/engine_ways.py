"""What other engines' ways to draft and verify would bring with the same drafter and costs.

Above temperature 0 most engines draft the most probable tokens and verify with the target's own
draw; with a switch they draw tokens and verify by rejection sampling. Both are measured on the same
texts, and predicted for one request and for several together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice

import numpy as np

from ..builders import BUILDERS
from ..config.run_config import RunConfig, compatible
from ..record.vectors import AcceptanceVector, Plan, by_level
from ..verifiers.base import Verifier
from .choose import CHAINS, Trial, candidates, held_out
from .cost_table import CostTable
from .forecast import fastest, predict
from .profile import Profile

OWN_DRAW = "target-match"
REJECTION = "speculative-sampling"
CHAIN = "chain"
TREE = "tree"
SAMPLED = "sampled"
RULES = {OWN_DRAW: (CHAIN, TREE), REJECTION: (SAMPLED,)}  # rule -> ways that verify by it
BUDGETS = 65  # numbers of verified slots that are tried


@dataclass(frozen=True)
class EngineWay(Trial):
    """One way to draft and verify, with the best shape for it; `by_batch` is (fewest, most, length
    of the chain) by the number of requests."""

    by_batch: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True)
class BatchForecast:
    """Several texts decoded together: the best tree, the best fixed chain, and adaptive
    verification.

    Attributes:
        tree, speedup: the best tree, and what it brings.
        fixed: tokens of the best fixed chain, and its speedup.
        drafted, verified: tokens that are drafted for each text, and of them verified on average.
        adaptive: the speedup of that.
    """

    tree: str
    speedup: float
    fixed: tuple[int, float]
    drafted: int
    verified: float
    adaptive: float


def engine_rules(config: RunConfig) -> list[Verifier]:
    """The rules of engines that a configuration's drafter goes with, besides its own."""
    rules: list[Verifier] = []
    if config.temperature == 0:  # all rules are one there
        return rules
    for name in RULES:
        chain = replace(config, builder="chain", verifier=name)
        if name != config.verifier.name and compatible(chain).lossless:
            rules.append(chain.verifier)
    return rules


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
    for rule, names in RULES.items():
        # At temperature 0 all rules accept the same tokens, so any measured one stands for them.
        name = rule
        if greedy:
            name = config.verifier.name
        measured = name in {vector.verifier for vector in profile.vectors}
        if not measured or (greedy and rule == REJECTION):
            continue
        own = replace(config, verifier=name)
        acceptance = profile.vector(name, config.temperature)
        ranked = candidates(acceptance.plan, costs, own)
        promise = held_out(acceptance, costs, own)
        for way in names:
            # The best that the way may be: any tree, or the best of the chains.
            tree = next((tree for tree in ranked if way == TREE or tree.builder.is_chain), None)
            # A chain that is the best of all is one way, not two.
            if tree is not None and not (way == TREE and tree.builder.is_chain):
                ways[way] = EngineWay(
                    replace(own, builder=tree.builder),
                    tree,
                    promise.speedup(tree, costs),
                    by_batch=() if way == TREE else lengths_by_batch(acceptance, costs, texts),
                )
    return ways


def lengths_by_batch(
    acceptance: AcceptanceVector, costs: CostTable, texts: Sequence[int]
) -> tuple[tuple[int, int, int], ...]:
    """The best length of a chain by the number of requests; 0 where plain decoding is faster."""
    chains = [BUILDERS["chain"](depth=length).shape for length in CHAINS]
    ranges = []
    fewest = 1
    for count in sorted(set(texts)):
        shared = costs.per_text(count)
        cells = [predict(chain, acceptance.plan, shared) for chain in chains]
        best = fastest(cells)
        length = 0
        if best.speedup > 1:
            length = best.depth
        ranges.append((fewest, count, length))
        fewest = count + 1
    return tuple(ranges)


def adaptive_verification(
    acceptance: AcceptanceVector, costs: CostTable, texts: int
) -> tuple[tuple[int, float], int, float, float]:
    """A fixed draft for each text, of which the slots are verified that most probably survive.

    Slots of all texts compete, and as many are verified as write the most tokens per second. What
    a text's slots survive is known from its own acceptance, not from a single draft.

    Args:
        acceptance: measured text by text.
        costs: of one text.
        texts: how many are decoded together.

    Returns:
        Of the best fixed chain its tokens and speedup; of adaptive verification the tokens that are
        drafted, the mean of those that are verified, and the speedup.

    Source: vLLM 0.32, adaptive verification; DySpec (Xiong et al. 2024), trees of a batch.
    """
    shared = costs.per_text(texts)

    def price(length: int, verified: float) -> float:
        """Plain steps of a step that drafts a chain and verifies a part of it."""
        # Drafting is paid for the whole chain, verifying only for the slots that are kept.
        drafting = length * (shared.draft(1) + shared.row_s) + shared.opening_s
        # Everything that a step does, then in plain steps; it cannot cost less than one.
        step = drafting + shared.target(1 + verified) + shared.overhead(1 + verified)
        if shared.plain_s:
            return max(1.0, step / shared.plain_s)
        return 1.0

    plans = [plan for _, plan in acceptance.by_text] or [acceptance.plan]
    # Texts differ, which is what adaptive verification uses; fewer texts than requests are used
    # again.
    survival = np.array(list(map(chain_survival, islice(cycle(plans), texts))))
    fixed = (0, 1.0)
    adaptive = (0, 0.0, 1.0)
    for length in CHAINS:
        # All slots of all texts, the most probable ones first: any budget verifies a beginning.
        slots = np.sort(survival[:, :length].ravel())[::-1]
        tokens = 1 + np.concatenate([[0.0], np.cumsum(slots)]) / texts  # by slots verified
        for budget in np.unique(np.linspace(0, len(slots), BUDGETS).astype(int)).tolist():
            verified = budget / texts
            speedup = float(tokens[budget] / price(length, verified))
            adaptive = max(adaptive, (length, verified, speedup), key=lambda best: best[-1])
        speedup = float(tokens[-1] / price(length, length))
        fixed = max(fixed, (length, speedup), key=lambda best: best[-1])
    return fixed, *adaptive


def chain_survival(plan: Plan) -> list[float]:
    """How often a chain is accepted up to each position: products of first children's chances."""
    levels = by_level(plan)
    chances = []
    for place in range(max(CHAINS)):
        chances.append(levels[min(place, len(levels) - 1)][0])
    return np.cumprod(chances).tolist()
