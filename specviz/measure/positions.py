"""The rows of target and drafter at every position of a text: what every measurement of acceptance
looks at.

A drafter whose rows follow from the tokens alone reads the text in one pass. Any other is put to
work as in a run: at every position the text so far is committed, with what the target saw of it,
and the drafter is asked for the rows of a chain that holds the text's own next tokens. So heads and
guessed features are measured level by level. p = target, q = drafter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from ..config.run_config import RunConfig
from ..drafters.base import Drafter, TargetOutputs, open_drafter
from ..models.base import Pair
from ..sampling.distributions import Distributions, distributions_of
from ..tree import TokenTree
from .texts import AnyText, text_of

# that are distinguished where a drafter's rows depend on the level; what is below counts as the
# last one
LEVELS = 5

Node = tuple[
    int, np.ndarray, Sequence[np.ndarray]
]  # position, p, and q as it is at level 1, 2, ...


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
    whole = text_of(text)
    first, tokens = whole.start - 1, list(whole.tokens)[: pair.max_positions]
    if first >= len(tokens) - 1:
        return
    config = config.for_pair(pair)
    drafter = config.drafter
    chain = _chain(tokens[:-1], 0)
    p = distributions_of(
        pair.open(tokens[:1])[0].forward(chain, range(len(chain))), config.target_sampling
    )
    read = _in_one_pass if drafter.context_only else _in_turn
    for node, rows in enumerate(read(pair, drafter, tokens, first, config, p), first):
        yield node, p[node], rows


def _in_one_pass(
    pair: Pair, drafter: Drafter, text: list[int], first: int, config: RunConfig, p: Distributions
) -> Iterator:
    """The text as one chain below its first token."""
    drafting = open_drafter(drafter, pair, *pair.open(text[:1]), text[:1])
    whole = _chain(text[:-1], 0)
    for row in drafting.expand(whole, range(first, len(whole)), config.draft_sampling):
        yield [row]


def _in_turn(
    pair: Pair, drafter: Drafter, text: list[int], first: int, config: RunConfig, p: Distributions
) -> Iterator:
    """Every position once as the root of a chain, as in a run whose steps accept nothing.

    What the target sees of the text does not depend on where a step begins, so it reads it once.
    """
    levels = LEVELS if drafter.depends_on_depth else 1
    target, draft = pair.open(text[: first + 1])
    features = pair.open(text)[0].watch() if drafter.reads_features else None
    drafting = open_drafter(drafter, pair, target, draft, text[: first + 1])
    before: deque[list[np.ndarray]] = deque(
        maxlen=levels
    )  # the rows of the last roots, the latest first
    for root in range(first, len(text) - 1):
        tree = _chain(text[root : min(root + levels, len(text) - 1)], root)
        before.appendleft(
            [drafting.expand(tree, [node], config.draft_sampling)[0] for node in range(len(tree))]
        )
        yield [rows[depth] for depth, rows in enumerate(before)]
        seen = TargetOutputs((root,), p, None if features is None else features[root : root + 1])
        emitted = [text[root + 1]]
        target.commit(tree, (), emitted)
        drafting.commit(tree, (), emitted, seen)


def _chain(tokens: Sequence[int], start: int) -> TokenTree:
    tree = TokenTree(tokens[0], start=start)
    for node, token in enumerate(tokens[1:]):
        tree.add(node, token)
    return tree
