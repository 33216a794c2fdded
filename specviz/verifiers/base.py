"""The contract of verification rules: what they are asked, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from ..config.strategy import SCHEMES, Strategy
from ..record.step import Step
from ..sampling.distributions import Distributions
from ..sampling.randomness import Randomness
from ..tree import TokenTree


class ShownRows(NamedTuple):
    """Rows that are shown for a few tokens, the target's most probable ones among them.

    Args:
        node: the one that the tokens follow; the target's row after it is shown too.
        tokens: further tokens.
        rows: float64 [V] each, by name.
    """

    node: int
    tokens: tuple[int, ...]
    rows: Mapping[str, np.ndarray] = {}


@dataclass(frozen=True)
class Verdict:
    """What a rule decided about one tree.

    Args:
        path: the accepted nodes from below the root downwards.
        bonus: the token the target adds after the last accepted node: a correction where children
            were rejected.
        outcome: one of `record.OUTCOMES` for each node, [n].
        accept_prob: the probability with which each compared node would be accepted, [n]; None
            where a rule has none.
        coin: the uniform draw u that was compared with it, [n]; None where there was none.
        order: the nodes in the order in which they were tried; a node that was accepted because of
            one below it, without a try of its own, is not among them.
        detail: what is shown with nodes, node -> fields of `Detail`. A chart is given as rows, or
            as a function that returns them: to compute one may cost more than the rule itself.
    """

    path: tuple[int, ...]
    bonus: int
    outcome: tuple[str, ...]
    accept_prob: tuple[float | None, ...]
    coin: tuple[float | None, ...]
    order: tuple[int, ...] = ()
    detail: Mapping[int, Mapping[str, object]] = field(default_factory=dict)


class Verifier(Strategy):
    """A rule that chooses the accepted path. The fields of a subclass are its parameters.

    >>> from specviz.verifiers.decisions import Decisions
    >>> class Likeliest(Verifier):
    ...     name, title = "likeliest", "Likeliest"
    ...     lossless, bias = False, "Only the most probable token is written."
    ...     def __call__(self, tree, p, rng):
    ...         return Decisions(tree).follow(lambda node: int(p[node].argmax()))
    >>> config = specviz.RunConfig("ab", "chain", Likeliest(), max_new_tokens=8)
    >>> specviz.run(specviz.toy_pair(), config).text
    'ccacbbab'
    """

    kind: ClassVar[str] = "verifier"
    # Those for which the rule is lossless, its own first.
    schemes: ClassVar[tuple[str, ...]] = tuple(SCHEMES)
    reads_draft: ClassVar[bool] = True  # whether it compares with the draft's rows
    chain_only: ClassVar[bool] = False  # whether a node may have one child at most
    paths_only: ClassVar[bool] = False  # whether it takes equal chains that share the root alone
    own_scheme_only: ClassVar[bool] = False  # whether siblings must be drawn by one of `schemes`
    greedy_only: ClassVar[bool] = False  # whether it works at temperature 0 only
    lossless: ClassVar[bool] = True
    # The sentence that says how a rule that is not lossless changes the text.
    bias: ClassVar[str] = ""
    # Whether a child's acceptance depends on how many siblings it has.
    depends_on_siblings: ClassVar[bool] = False
    # Whether its output is argmin E / p with noise keyed by position.
    shared_noise: ClassVar[bool] = False
    leaves_first: ClassVar[bool] = False  # whether it tests the nodes below a node before it
    one_row: ClassVar[bool] = False  # whether it solves for a single row of the draft
    autoregressive: ClassVar[bool] = False  # whether it checks nothing, for plain decoding
    # Whether it tries no more children than the draft's row has tokens.
    only_support: ClassVar[bool] = False
    exact_at_zero: ClassVar[bool] = True  # whether it writes the greedy text at temperature 0
    at_zero: ClassVar[str] = (
        "At temperature 0 every token accepted is exactly the target's most probable one."
    )

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        """Decide which path is accepted.

        Args:
            tree: what was drafted, with the draft's rows in `tree.draft_distributions`.
            p: the target's rows; `p[node]` is the one after a node, float64 [V].
            rng: where chance comes from.
        """
        raise NotImplementedError

    def explain(self, step: Step, node: int) -> str:
        """One sentence on why a `node` has its outcome, from the record of its `step`."""
        return f"{step.outcome[node].capitalize()}."
