"""Exponential races: what a text remembers, and trees that know where they stand."""

from __future__ import annotations

from ..theory.bounds import chain_tokens
from .claim import claim
from .entry import Entry, Lines, Table, compare, curves, figure, tab
from .in_context import by_context
from .numbers import per_pass, share, times
from .on_rows import DRAFTS, along

ON_TEXT = along(trees="strategies", temperature=1.0)
TREES = by_context(temperature=1.0, nodes=16)


def order_1(s, k: int) -> float:
    """Tokens of a chain of k drafts where the chance of acceptance depends on whether the token before was accepted."""
    return 1 + share("accepted")(s) * chain_tokens(share("both", "before")(s), k - 1)


def closer(s) -> float:
    """By how much order 1 is nearer than order 0 to what a chain of 16 brings along the texts."""
    brought = per_pass("sequence 16")(s)
    return abs(chain_tokens(share("accepted")(s), 16) - brought) - abs(order_1(s, 16) - brought)


def chains(s) -> Lines:
    """Chains along texts and by order 0 and 1."""
    alpha = share("accepted")(s)
    ks = [k for k in DRAFTS if f"sequence {k} tokens" in s]
    return curves(
        "drafts of a chain",
        "tokens per pass",
        {
            "order 0": [(k, chain_tokens(alpha, k)) for k in ks],
            "order 1": [(k, order_1(s, k)) for k in ks],
            "along the texts": [(k, per_pass(f"sequence {k}")(s)) for k in ks],
        },
        ("order 0", "order 1"),
    )


MEMORY = (
    Entry(
        "memory", "Section 5, order 0", "Text has memory: more is accepted than order 0 predicts",
        "“The empirical performance plateaus at a higher level than predicted by the measured [acceptance], "
        "indicating higher-order Markov dependencies”: regions where target and draft agree.",
        (
            claim("A chain of 16 drafts brings more tokens along the texts than order 0 says", ON_TEXT,
                lambda s: per_pass("sequence 16")(s) - chain_tokens(share("accepted")(s), 16), ">", 0),
            claim("Behind an accepted token the next is accepted more often than on average", ON_TEXT,
                lambda s: s["both"] / s["before"] - s["accepted"] / s["positions"], ">", 0),
        ),
        (figure(chains, ON_TEXT),), (tab("acceptance"),),
    ),
    Entry(
        "section-6", "Section 6", "Acceptance that depends on the context",
        "“Our current stateless approximation of the acceptance probability function oversimplifies the contextual "
        "nature of language. Developing more context-aware approximations could yield improvements in future work.”",
        (
            claim("A chance that depends on whether the token before was accepted predicts a chain of 16 more closely",
                ON_TEXT, closer, ">", 0),
            claim("Trees of 16 nodes planned for whether the draft is sure (its largest probability at least 1/2): "
                "tokens per pass over those of one tree", TREES, times(per_pass("two"), per_pass("one")), ">", 1),
        ),
        (figure(lambda s: Table(("Trees of 16 nodes", "Tokens per pass along the texts"),
            [["one for all positions", per_pass("one")(s)], ["two, by the draft's confidence", per_pass("two")(s)]]),
                TREES),),
        (compare(("sequoia:size=16,depth=8", "sequoia"), ("dyspec:size=16", "dyspec"), temperature=1.0),),
    ),
)  # fmt: skip
