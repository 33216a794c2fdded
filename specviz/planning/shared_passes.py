"""What several texts decoded together cost and bring: each pays its share of passes that read all of them.

A pass over b trees of n nodes is taken to cost what one over b n nodes costs, for its products read the weights once
either way. So with more texts plain decoding becomes cheap, drafted nodes become dear, and the best trees small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import log2

from ..builders.dyspec_threshold import HIGH, LOW, DySpecThreshold
from ..config import RunConfig
from .choose import Candidate, best_candidate
from .cost_table import CostTable

MOST_TEXTS = 256
GAIN = 0.5  # how much of what a step's trees lack of their budget the next threshold makes up for


def per_text(cost: CostTable, texts: int) -> CostTable:
    """The costs of one text where several are decoded together.

    Args:
        cost: of a text alone.
        texts: how many are decoded together, from 1.

    >>> cost = CostTable("mine", False, "", 0.02, (1, 64), (0.02, 0.083), (0.0, 0.0), (1, 64), (0.001, 0.001))
    >>> shared = per_text(cost, 4)
    >>> round(shared.plain_s, 5), round(shared.target(8), 5)
    (0.00575, 0.01275)
    """
    target = tuple(cost.target(texts * size) / texts for size in cost.sizes)
    draft = tuple(cost.draft(texts * width) / texts for width in cost.widths)
    plain = max(0.0, cost.plain_s - cost.target(1)) + cost.target(texts) / texts
    return replace(cost, plain_s=plain, target_s=target, draft_s=draft, spread={})


def best_trees(vector: tuple, cost: CostTable, config: RunConfig, counts: Sequence[int]) -> dict[int, Candidate]:
    """The tree of largest predicted speedup for each number of texts decoded together.

    Args:
        vector, cost, config: as for `choose.candidates`, the costs of a text alone.
        counts: numbers of texts.
    """
    return {texts: best_candidate(vector, per_text(cost, texts), config) for texts in counts}


def stops_paying(speedups: Sequence[tuple[int, float]]) -> float | None:
    """Where a speedup falls to 1, on a straight line over the logarithm of the number of texts; None where it does not.

    Args:
        speedups: (texts, speedup), texts rising.

    >>> round(stops_paying([(1, 1.5), (4, 1.25), (16, 0.75)]), 6), stops_paying([(1, 1.5), (4, 1.25)])
    (8.0, None)
    """
    before = None
    for texts, speedup in speedups:
        if speedup <= 1:
            if before is None:
                return float(texts)
            share = (before[1] - 1) / (before[1] - speedup)
            return float(2 ** (log2(before[0]) + share * log2(texts / before[0])))
        before = texts, speedup
    return None


def where_it_ends(speedups: Sequence[tuple[int, float]]) -> str:
    """`stops_paying` in words, to follow a name.

    Args:
        speedups: as for `stops_paying`.
    """
    end = stops_paying(speedups)
    if end is None:
        return "pays at all of these"
    return f"stops paying at about {end:.2g} texts" if speedups[0][1] > 1 else "does not pay"


@dataclass
class SharedBudget:
    """The nodes that all texts together may have in a step, shared by one threshold.

    Args:
        nodes: of all texts together, roots included.
        texts: how many there are.

    Attributes:
        threshold: what a slot's survival probability must exceed.
    """

    nodes: int
    texts: int
    threshold: float = field(init=False)

    def __post_init__(self) -> None:
        self.threshold = max(LOW, min(0.5, self.texts / self.nodes))

    def spent(self, nodes: int) -> None:
        """Move the threshold after a step in which the trees of all texts had so many nodes."""
        wanted = max(1, self.nodes - self.texts)
        self.threshold = max(LOW, min(HIGH, self.threshold * (max(1, nodes - self.texts) / wanted) ** GAIN))


@dataclass(frozen=True)
class SharedTree(DySpecThreshold):
    """The tree of one of several texts that share a budget of nodes: DySpec's, by the threshold of all texts.

    Slots of all texts compete by their survival probability, the product of the draft's probabilities along their path,
    so nodes go to the texts where the draft expects most to be accepted (adaptive verification in vLLM does so with
    tokens that are drafted already). The threshold is fixed before a step draws anything and moves after it, by how
    many nodes all trees had: whether a node is drawn never depends on its token, and rules are as lossless as with
    DySpec's tree.
    """

    budget: SharedBudget = field(default_factory=lambda: SharedBudget(2, 1), compare=False)

    def __call__(self, draft, rng, scheme, tokens_left, state):
        return super().__call__(draft, rng, scheme, tokens_left, self.budget.threshold)

    def learn(self, state, tree, verdict, rows=None):
        return state
