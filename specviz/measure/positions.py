"""The rows of target and drafter at every position of a text: what every measurement of acceptance
looks at.

The drafter is put to work as in a run whose steps accept nothing: at every position the text so far
is committed, with what the target saw of it, and the drafter is asked for the rows of a chain that
holds the text's own next tokens. So heads and guessed features are measured level by level.
p = target, q = drafter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from ..config.run_config import RunConfig
from ..drafters.base import TargetOutputs, open_drafter
from ..models.base import Pair
from ..sampling.distributions import distributions_of
from ..tree import TokenTree
from .texts import AnyText, text_of

# Levels that are distinguished where a drafter's rows depend on the level; what is below counts as
# the last one.
LEVELS = 5

# position, p, and q as it is at level 1, 2, ...
Node = tuple[int, np.ndarray, Sequence[np.ndarray]]


def distributions_on_text(
    pair: Pair, text: AnyText, config: RunConfig
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """(position, p, q) at every position of a text that counts; q as it is right below the text."""
    for position, p, rows in levels_on_text(pair, text, config):
        yield position, p, rows[0]


def levels_on_text(pair: Pair, text: AnyText, config: RunConfig) -> Iterator[Node]:
    """(position, p, rows) at every position of a text that counts.

    rows[d] is the drafter's row there with d tokens before it drafted, not read: one row where that
    makes no difference, else up to `LEVELS`, as many as there are positions that count.

    Args:
        pair: the models.
        text: token ids or a `Text`, cut at the pair's context.
        config: drafter, temperatures, top-p and top-k.

    Raises:
        ValueError: if the pair has not what the drafter takes.
    """
    text = text_of(text)
    first = text.start - 1
    # What lies behind the longest text that the pair can hold is left out.
    tokens = list(text.tokens)[: pair.max_positions]
    if first >= len(tokens) - 1:
        return
    config = config.for_pair(pair)
    drafter = config.drafter
    # The whole text as one chain is one pass: the target's rows do not depend on steps.
    whole = _chain(tokens[:-1], 0)
    logits = pair.open(tokens[:1])[0].forward(whole, range(len(whole)))
    p = distributions_of(logits, config.target_sampling)
    # What the target sees of the text does not depend on where a step begins, so it reads it once.
    features = None
    if drafter.reads_features:
        features = pair.open(tokens)[0].watch()
    target, draft = pair.open(tokens[: first + 1])
    drafting = open_drafter(drafter, pair, target, draft, tokens[: first + 1])
    levels = 1
    if drafter.depends_on_depth:
        levels = LEVELS
    # Rows of the last roots, the latest first: what level d shows at a position was drafted from
    # the root d positions before it.
    before: deque[list[np.ndarray]] = deque(maxlen=levels)
    for root in range(first, len(tokens) - 1):
        tree = _chain(tokens[root : min(root + levels, len(tokens) - 1)], root)
        rows = []
        for node in range(len(tree)):
            rows += drafting.expand(tree, [node], config.draft_sampling)
        before.appendleft(rows)
        yield root, p[root], [rows[depth] for depth, rows in enumerate(before)]
        seen = TargetOutputs((root,), p, None if features is None else features[root : root + 1])
        emitted = [tokens[root + 1]]
        target.commit(tree, (), emitted)
        # Nothing is accepted, so a drafter with a cache reads each token of the text once, as in a
        # run.
        drafting.commit(tree, (), emitted, seen)


def _chain(tokens: Sequence[int], start: int) -> TokenTree:
    tree = TokenTree(tokens[0], start=start)
    for node, token in enumerate(tokens[1:]):
        tree.add(node, token)
    return tree
