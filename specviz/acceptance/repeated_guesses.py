"""Mistakes made twice: guesses that repeat a token which was rejected at the same node (Sequoia, section 3.2.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..config import RunConfig
from ..models.base import Pair
from ..randomness import Seeded
from ..sampling import draw_children
from ..strategy import strategy_of
from ..theory.rates import SameRow
from ..tree import TokenTree
from .positions import distributions_on_text


def repeated(parents: Sequence[int], tokens: Sequence[int], outcome: Sequence[str]) -> list[int]:
    """The nodes that were rejected although a sibling with the same token had been rejected before them.

    Args:
        parents, tokens, outcome: columns of a step over its nodes, [n].

    >>> from specviz.acceptance.repeated_guesses import repeated
    >>> repeated((-1, 0, 0, 0), (9, 4, 4, 5), ("root", "rejected", "rejected", "accepted"))
    [2]
    """
    seen, found = set(), []
    for node, result in enumerate(outcome):
        if result != "rejected":
            continue
        mistake = parents[node], tokens[node]
        if mistake in seen:
            found.append(node)
        seen.add(mistake)
    return found


@dataclass(frozen=True)
class Tried:
    """The guesses of one node that a rule tried, in order.

    Attributes:
        tokens: their ids.
        outcome: "rejected", "accepted", or "repeated" where the token had been rejected before.
        written: the token that the rule wrote: the accepted one, else the target's own.
    """

    tokens: tuple[int, ...]
    outcome: tuple[str, ...]
    written: int


def tried_on_text(
    pair: Pair, text: Sequence[int], config: RunConfig, rules: Sequence[str], width: int
) -> Iterator[tuple[int, dict[str, Tried]]]:
    """At every position of a text: its index, and what each rule tried of `width` children from the same rows.

    Args:
        pair: the models.
        text: token ids.
        config: drafter, temperatures, top-p, top-k and seed; every rule has chance of its own from this seed.
        rules: menu names; children are drawn as each of them asks for.
        width: how many children are drawn.
    """
    rngs = {rule: Seeded(config.seed) for rule in rules}
    for position, p, q in distributions_on_text(pair, text, config):
        found = {}
        for rule, rng in rngs.items():
            verifier = strategy_of("verifier", rule)
            scheme = verifier.schemes[0]
            tree = TokenTree(text[position], start=position, scheme=scheme)
            tree.draft_distributions[0] = q
            for token in draw_children(q, width, scheme, rng, tree.position(0)):
                tree.add(0, token)
            verdict = verifier(tree, SameRow(p), rng)
            again = set(repeated(tree.parents, tree.tokens, verdict.outcome))
            nodes = [node for node, outcome in enumerate(verdict.outcome) if outcome in ("accepted", "rejected")]
            found[rule] = Tried(
                tuple(tree.tokens[node] for node in nodes),
                tuple("repeated" if node in again else verdict.outcome[node] for node in nodes),
                tree.tokens[verdict.path[0]] if verdict.path else verdict.bonus,
            )
        yield position, found
