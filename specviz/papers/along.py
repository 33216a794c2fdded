"""Tokens per pass of static trees along the target's own texts, with the dependence between
positions.

Given the text, the path that a lossless rule accepts is a walk along it: below a node the k-th
child is the accepted one with the chance that it was this child which brought the token that the
text has next,

    share[k] = P(the k-th child is accepted and is x) / p(x),    x the next token of the text,

and otherwise the target brought the token itself and the next step begins behind it. So one reading
of a text predicts every static tree, and unlike a vector it knows that hard places come together. p
= target, q = draft.
"""

from __future__ import annotations

import numpy as np

from ..proof.rates import try_children
from ..sampling.children import draw_children, without
from ..sampling.randomness import Randomness, Seeded
from ..tree import Topology
from ..verifiers import VERIFIERS
from ..verifiers.base import Verifier
from .shapes import DEEPEST, planned, shapes
from .workbench import Text, Workbench, measurement


@measurement("counted")
def along(
    bench: Workbench,
    text: Text,
    trees: str,
    temperature: float,
    rule: str = "sequoia",
    top_p: float = 1.0,
) -> dict[str, float]:
    """Tokens and passes that shapes bring along a text, in expectation over the drafts."""
    drawn, verifier, rng = shapes(trees, planned(temperature)), VERIFIERS[rule](), Seeded(text.seed)
    width = min(bench.pair.vocab_size, max(int(shape.rank.max()) + 1 for shape in drawn.values()))
    rows = [row for row in bench.rows(text, temperature, top_p) if row.p[row.token] > 0]
    acceptance = np.array(
        [shares_of(verifier, row.p, row.q, row.token, width, rng) for row in rows]
    )
    if len(acceptance) <= DEEPEST:
        return {}
    sums = {}
    for name, shape in drawn.items():
        sums[f"{name} tokens"], sums[f"{name} passes"] = renewals(ends_along(shape, acceptance))
    sums |= {f"rank {k}": chance for k, chance in enumerate(acceptance.sum(0), 1)}
    first = acceptance[:, 0]
    return sums | {
        "accepted": first.sum(),
        "positions": len(first),
        "before": first[:-1].sum(),
        "both": (first[:-1] * first[1:]).sum(),
    }


def shares_of(
    rule: Verifier, p: np.ndarray, q: np.ndarray, token: int, width: int, rng: Randomness
) -> np.ndarray:
    """The share of each of `width` children of one node, [width], given the elder ones, which are
    drawn.

    Args:
        rule: one that tries children in turn, each by a coin or the target's own draw.
        p, q: the rows.
        token: what the text has next.
        width: how many children.
        rng: where the children come from.
    """
    scheme, acceptance = rule.schemes[0], np.zeros(width)
    children = draw_children(q, width, scheme, rng, 0)
    if scheme == "top":
        acceptance[: len(children)] = try_children(
            rule, p, q, children, scheme, rng, answer=token
        ).acceptance
        return acceptance
    proposal = q
    for k, child in enumerate(children):
        if proposal[token] > 0:
            accepted = try_children(rule, p, q, [*children[:k], token], scheme, rng).acceptance[-1]
            acceptance[k] = proposal[token] * accepted / p[token]
        proposal = without(proposal, children[: k + 1]) if scheme == "distinct" else proposal
        if child == token and scheme == "distinct":
            break
    return acceptance


def renewals(ends: np.ndarray) -> tuple[float, float]:
    """Expected tokens and steps of one text, over the steps with room for the whole tree.

    Args:
        ends: from `ends_along`, [levels + 1, starts].
    """
    starts = ends.shape[1]
    step_starts = np.zeros(starts + len(ends))
    step_starts[0] = 1.0
    for start in range(starts):
        step_starts[start + 1 : start + 1 + len(ends)] += step_starts[start] * ends[:, start]
    lengths = np.arange(1, len(ends) + 1) @ ends
    return float(step_starts[:starts] @ lengths), float(step_starts[:starts].sum())


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
