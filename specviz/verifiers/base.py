"""The contract of verification rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..distributions import Distributions
from ..parameters import Strategy
from ..randomness import Randomness
from ..record import Step, Verdict
from ..sampling import SCHEMES
from ..tree import TokenTree


@dataclass(frozen=True)
class Verifier(Strategy):
    """A rule that chooses the accepted path. Subclasses are frozen dataclasses whose fields are their parameters.

    Class attributes:
        name, title: as for builders; schemes: the sampling schemes for which the rule is lossless, the one it asks for
            first;
        reads_draft: whether it compares with the draft's distributions; chain_only: whether a node may have one child
            at most;
        greedy_only: whether it works at temperature 0 only; lossless: False for rules that trade fidelity for speed;
        bias: for those, the sentence that says so; keyed: whether its output is argmin E / p, keyed by position;
        in_support: whether it tries no more children than the draft's row has tokens; shares: whether a child's
        acceptance depends on how many siblings it has; one_row: whether it solves for a single row of the draft; alone:
        whether it checks nothing, for plain decoding; at_zero: the sentence on what it does at temperature 0.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    schemes: ClassVar[tuple[str, ...]] = SCHEMES
    reads_draft: ClassVar[bool] = True
    chain_only: ClassVar[bool] = False
    greedy_only: ClassVar[bool] = False
    lossless: ClassVar[bool] = True
    bias: ClassVar[str] = ""
    shares: ClassVar[bool] = False
    keyed: ClassVar[bool] = False
    one_row: ClassVar[bool] = False
    alone: ClassVar[bool] = False
    in_support: ClassVar[bool] = False
    at_zero: ClassVar[str] = "At temperature 0 every token accepted is exactly the target's most probable one."

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        """Decide. `p[node]` is the target's distribution after a node, float64 [V]."""
        raise NotImplementedError

    def explain(self, step: Step, node: int) -> str:
        """One sentence on why `node` has its outcome, from the record."""
        raise NotImplementedError
