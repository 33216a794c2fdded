"""Expected tokens per pass of a static tree on the target's own texts, including dependence between positions.

Once the text is given, the path that a lossless rule accepts is a walk along it: below a node the k-th child is the
accepted one with the chance that it was this child which brought the token that the text has next,

    share[k] = P(the k-th child is accepted and is x) / p(x),    x the next token of the text,

and otherwise the target brought the token itself and the next step begins behind it. So one reading of a text predicts
every static tree, and unlike a vector it knows that hard places come together and that steps begin at hard ones.
p = target, q = draft.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..config import RunConfig
from ..metrics import estimate
from ..models.base import Pair
from ..randomness import Seeded
from ..theory.forms import SHARES, Shares, match_shares
from ..tree import Topology
from ..verifiers.base import Verifier
from .positions import distributions_on_text


def shares_of(verifier: Verifier, temperature: float) -> Shares | None:
    """How a rule's shares are found; None where they have no closed form, as its decisions look at whole paths."""
    if temperature == 0:
        return match_shares
    return SHARES.get(verifier.name)


def path_shares(
    pair: Pair,
    verifier: Verifier,
    texts: Iterable[Sequence[int]],
    config: RunConfig,
    width: int = 16,
) -> Iterator[np.ndarray] | None:
    """The shares at every token that the target wrote, float64 [tokens, width] for each text, one by one.

    Args:
        pair: the models.
        verifier: the rule, with children as it asks for them.
        texts: `Written` ones, or token ids without a prompt, which must be the target's own under `config`.
        config: drafter, temperatures, top-p, top-k and seed.
        width: how many children to look at.

    Returns:
        None where `shares_of` knows no way, or a node has several rows, another at another level, or perhaps none.
    """
    shares, drafter = shares_of(verifier, config.temperature), config.drafter
    if shares is None or drafter.by_level or drafter.blends or drafter.sparse:
        return None
    return _shares_on(pair, shares, texts, config, width)


def _shares_on(
    pair: Pair, shares: Shares, texts: Iterable[Sequence[int]], config: RunConfig, width: int
) -> Iterator[np.ndarray]:
    rng = Seeded(config.seed)
    for text in texts:
        rows = distributions_on_text(pair, text, config)
        found = [shares(p, q, text[at + 1], width, rng) for at, p, q in rows if p[text[at + 1]] > 0]
        yield np.array(found).reshape(-1, width)


def tokens_on_texts(shape: Topology, texts: Iterable[np.ndarray]) -> tuple[float, float | None]:
    """Tokens per pass that a shape brings on texts, and the margin of its interval; nan where no text has room for it.

    Args:
        shape: the tree; ranks beyond the shares are never accepted.
        texts: from `path_shares`. Steps without room for the whole tree do not count.
    """
    pairs = [renewals(ends_along(shape, shares)) for shares in texts if len(shares) > shape.depth.max()]
    return estimate(pairs) if pairs else (np.nan, np.nan)


def renewals(ends: np.ndarray) -> tuple[float, float]:
    """Expected tokens and steps of one text, over the steps with room for the whole tree.

    Args:
        ends: from `ends_along`, [levels + 1, starts].
    """
    starts = ends.shape[1]
    begun = np.zeros(starts + len(ends))
    begun[0] = 1.0
    for start in range(starts):
        begun[start + 1 : start + 1 + len(ends)] += begun[start] * ends[:, start]
    lengths = np.arange(1, len(ends) + 1) @ ends
    return float(begun[:starts] @ lengths), float(begun[:starts].sum())


def ends_along(shape: Topology, shares: np.ndarray) -> np.ndarray:
    """The chance that a step from each start ends after 0, 1, ... accepted tokens, [levels + 1, starts]."""
    deepest = int(shape.depth.max())
    starts, width = len(shares) - deepest, shares.shape[1]
    reach = np.zeros((len(shape), starts))
    reach[0] = 1.0
    ends = np.zeros((deepest + 1, starts))
    for node, parent in enumerate(shape.parents):
        depth, rank = int(shape.depth[node]), int(shape.rank[node])
        if node and rank < width:
            reach[node] = reach[parent] * shares[depth - 1 : depth - 1 + starts, rank]
            ends[depth - 1] -= reach[node]
        ends[depth] += reach[node]
    return ends
