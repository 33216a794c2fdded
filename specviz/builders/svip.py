"""A chain that stops where the draft is uncertain (SVIP: Zhang et al. 2024, algorithm 1).

Unlike `heuristic`, which looks at past steps, it looks at the entropy H of the row each token was drawn from, and stops
after the first token with sqrt(c H) > h. The test does not depend on the token itself, and the token is kept, so every
rule that is lossless on chains remains lossless. 1 - sqrt(c H) estimates a lower bound of the acceptance.

The paper's h from 0.2 to 0.5 multiplies no constant, so c is 1; the default h was chosen by the paper's procedure, as
the fastest on eight held-out prompts. Where the draft's temperature is 0 its rows have no entropy, and the
test looks at the row at temperature 1.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from pydantic import Field

from ..distributions import entropy
from ..sampling import draw_children
from .base import TreeBuilder


class Svip(TreeBuilder):
    """A chain of at most `depth` tokens that ends with the first one drawn from a row of high entropy."""

    name: ClassVar[str] = "svip"
    title: ClassVar[str] = "SVIP chain"
    is_chain: ClassVar[bool] = True
    key_title: ClassVar[str] = "draft entropy"
    small: ClassVar[dict[str, Any]] = {"depth": 2, "h": 1.0}
    h: float = Field(
        1.4,
        ge=0.0,
        le=3.0,
        title="Threshold h",
        description="Stop after a token with sqrt(c * entropy in nats) above this.",
    )
    c: float = Field(
        1.0, ge=0.01, le=2.0, title="Factor c", description="Factor of the entropy; 1 is the paper's value."
    )
    depth: int = Field(40, ge=1, le=64, title="Max length", description="Maximum number of tokens in the chain.")

    def __call__(self, draft, rng, scheme, tokens_left, state):
        tree, node = draft.tree, 0
        for _ in range(min(self.depth, tokens_left - 1)):
            (q,) = draft.expand([node])
            uncertainty = math.sqrt(self.c * entropy(draft.plain(node, q)))
            tokens = draw_children(q, 1, scheme, rng, tree.position(node))
            if not tokens:  # the drafter has nothing to say
                break
            node = tree.add(node, tokens[0], uncertainty)
            if uncertainty > self.h:
                break
        return tree
