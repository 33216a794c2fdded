"""Tokens per pass of static trees along the target's own texts, with the dependence between
positions.

Given the text, the path that a lossless rule accepts is a walk along it: below a node the k-th
child is the accepted one with the chance that it was this child which brought the token that the
text has next,

    acceptance[k] = P(the k-th child is accepted and is x) / p(x),    x the next token of the text,

and otherwise the target brought the token itself and the next step begins behind it. So one reading
of a text predicts every static tree, and unlike a vector it knows that hard places come together. p
= target, q = draft.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..builders.plans import best_tree, isotonic, priority_queue_tree
from ..builders.static import grow_shape
from ..proof.rates import try_children
from ..record.vectors import expected_tokens, find_acceptance
from ..sampling.children import draw_children, without
from ..sampling.randomness import Randomness, Seeded
from ..tree import Topology
from ..verifiers import VERIFIERS
from ..verifiers.base import Verifier
from .number import Sums, measurement
from .workbench import Text, Workbench

SIZES = (4, 8, 16, 32, 64, 128, 256, 512)
DEEPEST, WIDEST = 16, 32  # levels below the root, and children of a node
SEQUENCES = (1, 2, 4, 8, 16, 32)  # how many sequences a tree of them may have


def planned(temperature: float) -> tuple[float, ...]:
    """The stored vector that trees are planned with, never one of the texts that they are counted
    on."""
    return find_acceptance("exact-match" if temperature == 0 else "sequoia", temperature)


@lru_cache
def shapes(kind: str, vector: tuple[float, ...]) -> dict[str, Topology]:
    """Shapes by name: one "tree", Sequoia's and sequences of several "sizes", or "strategies" of
    the races paper."""
    if kind == "tree":
        return {"tree": best_tree(vector, 16, 5, WIDEST)[0]}
    trees = {f"sequence {k}": grow_shape([1] * k) for k in (4, 15, 16)}
    if kind == "strategies":
        return trees | {
            "optimal tree 16": priority_queue_tree(isotonic(vector), 17, DEEPEST, WIDEST)
        }
    for n in SIZES:
        trees[f"Sequoia {n}"] = best_tree(vector, n, DEEPEST, WIDEST)[0]
        lengths = {k: (n - 1) // k for k in SEQUENCES}
        several = [
            grow_shape([k] + [1] * (length - 1))
            for k, length in lengths.items()
            if 1 <= length <= DEEPEST
        ]
        trees[f"best sequences {n}"] = max(several, key=lambda tree: expected_tokens(tree, vector))
    return trees


@measurement("counted")
def along(
    workbench: Workbench,
    text: Text,
    trees: str,
    temperature: float,
    rule: str = "sequoia",
    top_p: float = 1.0,
) -> Sums:
    """Tokens and passes that shapes bring along a text, in expectation over the drafts."""
    by_name = shapes(trees, planned(temperature))
    widest = max(int(shape.rank.max()) + 1 for shape in by_name.values())
    width = min(workbench.pair.vocab_size, widest)
    verifier = VERIFIERS[rule]()
    rng = Seeded(text.seed)
    acceptance = np.array(
        [
            child_acceptance(verifier, row.p, row.q, row.token, width, rng)
            for row in workbench.rows(text, temperature=temperature, top_p=top_p)
            if row.p[row.token] > 0
        ]
    )
    if len(acceptance) <= DEEPEST:
        return {}
    first = acceptance[:, 0]
    sums = {f"rank {k}": chance for k, chance in enumerate(acceptance.sum(0), 1)} | {
        "accepted": first.sum(),
        "positions": len(first),
        "before": first[:-1].sum(),
        "both": (first[:-1] * first[1:]).sum(),
    }
    for name, shape in by_name.items():
        sums[f"{name} tokens"], sums[f"{name} passes"] = renewals(ends_along(shape, acceptance))
    return sums


def child_acceptance(
    rule: Verifier, p: np.ndarray, q: np.ndarray, token: int, width: int, rng: Randomness
) -> np.ndarray:
    """The acceptance of each of `width` children of one node, [width], as the module defines it,
    given the elder ones, which are drawn.

    Args:
        rule: one that tries children in turn, each by a coin or the target's own draw.
        p, q: the rows.
        token: what the text has next.
        width: how many children.
        rng: where the children come from.
    """
    scheme = rule.schemes[0]
    acceptance = np.zeros(width)
    children = draw_children(q, width, scheme, rng, 0)
    if scheme == "top":
        tries = try_children(rule, p, q, children, scheme, rng, answer=token)
        acceptance[: len(children)] = tries.acceptance
        return acceptance
    proposal = q
    for k, child in enumerate(children):
        if proposal[token] > 0:
            accepted = try_children(rule, p, q, [*children[:k], token], scheme, rng).acceptance[-1]
            acceptance[k] = proposal[token] * accepted / p[token]
        if scheme == "distinct":
            if child == token:
                break  # no younger child can be the token again
            proposal = without(proposal, children[: k + 1])
    return acceptance


def ends_along(shape: Topology, acceptance: np.ndarray) -> np.ndarray:
    """The chance that a step from each start ends after 0, 1, ... accepted tokens, [levels + 1,
    starts]."""
    deepest = int(shape.depth.max())
    starts, width = len(acceptance) - deepest, acceptance.shape[1]
    reach = np.zeros((len(shape), starts))
    reach[0] = 1.0
    ends = np.zeros((deepest + 1, starts))
    for node, parent in enumerate(shape.parents):
        depth, rank = int(shape.depth[node]), int(shape.rank[node])
        if node and rank < width:
            reach[node] = reach[parent] * acceptance[depth - 1 : depth - 1 + starts, rank]
            ends[depth - 1] -= reach[node]
        ends[depth] += reach[node]
    return ends


def renewals(ends: np.ndarray) -> tuple[float, float]:
    """Expected tokens and steps of one text, over the steps with room for the whole tree.

    Args:
        ends: from `ends_along`, [levels + 1, starts].
    """
    longest, starts = ends.shape
    step_starts = np.zeros(starts + longest)  # how likely a step begins at each position
    step_starts[0] = 1.0
    for start in range(starts):
        step_starts[start + 1 : start + 1 + longest] += step_starts[start] * ends[:, start]
    tokens = np.arange(1, longest + 1) @ ends
    return float(step_starts[:starts] @ tokens), float(step_starts[:starts].sum())
