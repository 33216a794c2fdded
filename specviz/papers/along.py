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

import numpy as np

from ..builders.static import StaticBuilder
from ..config.run_config import RunConfig
from ..proof.rates import try_children
from ..record.vectors import EMBEDDED, find_acceptance
from ..sampling.children import draw_children, without
from ..sampling.randomness import Randomness
from ..tree import Topology
from ..verifiers import VERIFIERS
from ..verifiers.base import Verifier
from .number import Sums, measurement
from .workbench import Text, Workbench

WIDEST = 32  # children of a node


def planned(temperature: float) -> tuple[float, ...]:
    """The stored vector that trees are planned with, never one of the texts that they are counted
    on."""
    return find_acceptance("exact-match" if temperature == 0 else "sequoia", temperature)


def shape_of(builder: str, temperature: float) -> Topology:
    """The tree of a static builder, planned for Sequoia's rule."""
    config = RunConfig(builder=builder, verifier="sequoia", temperature=temperature)
    found = config.builder.prepare(config, {"name": EMBEDDED})
    assert isinstance(found, StaticBuilder)
    return found.shape


@measurement("counted")
def along(
    workbench: Workbench,
    text: Text,
    builder: str,
    temperature: float,
    verifier: str = "sequoia",
    top_p: float = 1.0,
) -> Sums:
    """Tokens and passes that a static tree brings along a text, in expectation over the drafts."""
    shape = shape_of(builder, temperature)
    acceptance = rank_acceptance(workbench, text, verifier, temperature, top_p)
    if len(acceptance) <= shape.depth.max():
        return {}
    tokens, passes = renewals(ends_along(shape, acceptance))
    return {"tokens": tokens, "passes": passes}


@measurement("counted")
def ranks(workbench: Workbench, text: Text, temperature: float) -> Sums:
    """The acceptance of each rank along a text under Sequoia's rule, and of first children behind
    an accepted token."""
    acceptance = rank_acceptance(workbench, text, "sequoia", temperature, 1.0)
    if len(acceptance) < 2:
        return {}
    first = acceptance[:, 0]
    of_rank = {}
    for k, chance in enumerate(acceptance.sum(0), 1):
        of_rank[f"rank {k}"] = chance
    return of_rank | {
        "positions": len(first),
        "before": first[:-1].sum(),
        "both": (first[:-1] * first[1:]).sum(),
    }


def rank_acceptance(
    workbench: Workbench, text: Text, verifier: str, temperature: float, top_p: float
) -> np.ndarray:
    """`child_acceptance` at every position of a text, [positions, ranks]."""

    def measure() -> np.ndarray:
        width = min(workbench.pair.vocab_size, WIDEST)
        rule = VERIFIERS[verifier]()
        accepted = []
        for row in workbench.rows(text, temperature=temperature, top_p=top_p):
            if row.p[row.token] > 0:
                accepted.append(child_acceptance(rule, row.p, row.q, row.token, width, row.rng))
        return np.array(accepted)

    return workbench.cached((text.name, verifier, temperature, top_p), measure)


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
    # The children are no draws: the target's own draw, the text's token, is one of them or not.
    if scheme == "top":
        tries = try_children(rule, p, q, children, scheme, rng, answer=token)
        acceptance[: len(children)] = tries.acceptance
        return acceptance
    # Child k is a draw: with chance proposal(x) it is x, and then the rule accepts it or not.
    # Divided by p(x), which is the chance that the text goes on with x.
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
    starts = len(acceptance) - deepest
    reach = np.zeros((len(shape), starts))
    reach[0] = 1.0
    ends = np.zeros((deepest + 1, starts))
    # Who reaches a node ends there, but for those who go on to a child of it.
    for node, parent in enumerate(shape.parents):
        depth = int(shape.depth[node])
        rank = int(shape.rank[node])
        if node and rank < acceptance.shape[1]:
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
