"""Draw the target's token first, then accept the child that has it: the top-k rule (Sequoia, section 2.2).

Unlike `naive`, which is the same rule, it asks for the draft's most probable tokens as children. Unlike the rules that
compare p with q it never looks at how children were drawn, so any tree is lossless; but the chance to accept is the
children's mass under p, less than what a coupling of p and q can reach.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from ..randomness import first_arrivals
from .bars import Bars
from .base import Verifier
from .walk import Walk, explain_match, follow


class TargetMatch(Verifier):
    """One draw from p per accepted node, and one more."""

    name: ClassVar[str] = "target-match"
    title: ClassVar[str] = "Target match"
    schemes: ClassVar[tuple[str, ...]] = ("top", "distinct", "iid", "race")
    reads_draft: ClassVar[bool] = False
    keyed: bool = Field(
        False,
        title="Keyed noise",
        description="Draw by a race keyed by position, so that the seed alone determines the text.",
    )

    @property
    def shared_noise(self) -> bool:  # type: ignore[override]  # follows from its parameter
        """Whether it draws by a race."""
        return self.keyed

    def __call__(self, tree, p, rng):
        walk = Walk(tree)

        def draw(node: int) -> int:
            row = p[node]
            if self.keyed:
                token = int(first_arrivals(row, rng.noise(tree.position(node), len(row)))[0])
            else:
                token = rng.draw(row)
            walk.show(node, after=Bars(row)(token))
            return token

        return follow(walk, tree, draw, p)

    def explain(self, step, node):
        return explain_match(step, node, "the target drew this token", "the target drew another token")
