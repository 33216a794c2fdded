"""Four rules on a small tree, each run under every random outcome: the figure of the lesson on
lossy rules.

Two of them are rules of the menu, two are wrong, and only on larger trees than the first one.
"""

from __future__ import annotations

import numpy as np

from specviz.base.codec import JsonObject
from specviz.proof.enumerate import Outcome, enumerate_tree
from specviz.sampling.distributions import Distributions, residual
from specviz.sampling.randomness import Randomness
from specviz.tree import TokenTree, Topology
from specviz.verifiers import VERIFIERS
from specviz.verifiers.base import Verdict, Verifier
from specviz.verifiers.decisions import Decisions, ratio
from specviz.verifiers.frames import Selection, TopDown

TOKENS = "abc"
SCHEME = "iid"  # how the guesses are drawn: duplicates stay
EXACT = 1e-12
# The parents of the nodes, by what the tree is called.
TREES = {
    "one guess": (-1, 0),
    "two guesses": (-1, 0, 0),
    "a guess after a guess": (-1, 0, 1),
    "two guesses, one more after the first": (-1, 0, 0, 1),
}
# p and q after every token
P = (0.5, 0.3, 0.2)
Q = (0.2, 0.3, 0.5)


class SameTargetSelection(Selection):
    """Every guess is compared with p itself."""

    def __post_init__(self) -> None:
        self.residual = residual(self.p, self.q)

    def chance(self, token: int) -> float:
        return ratio(self.p[token], self.q[token])


class SameTarget(TopDown):
    """Every guess is compared with p itself, although those before it were rejected."""

    name = "same-target"
    title = "Same target"
    selection = SameTargetSelection


class PathRatio(Verifier):
    """A guess is compared with the product of the ratios on its path, and not with its own."""

    name = "path-ratio"
    title = "Ratio of the path"

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        decisions = Decisions(tree)
        node = 0
        # The mistake: carried down the path, where each guess has a ratio of its own.
        product = 1.0
        while children := tree.children[node]:
            q = tree.draft_distributions[node]
            left = p[node]
            for child in children:
                token = tree.tokens[child]
                chance = ratio(product * left[token], q[token])
                if decisions.accept(child, chance, rng):
                    product = chance
                    node = child
                    break
                left = residual(left, q)
            else:
                return decisions.verdict(rng.draw(left))
        return decisions.verdict(rng.draw(p[node]))


# How each rule is put to the visitor, and the rule.
CANDIDATES: tuple[tuple[str, Verifier], ...] = (
    (
        "Draw a token from p. A guess that equals it is accepted; if none does, the token is "
        "written.",
        VERIFIERS["naive"](),
    ),
    (
        "Accept each guess in turn with min(1, p/q). If all are rejected, draw from what p has "
        "more than q.",
        SameTarget(),
    ),
    (
        "Accept each guess in turn with min(1, r/q). r is p; after each rejection it is what r had "
        "more than q. If all are rejected, draw from r.",
        VERIFIERS["specinfer"](),
    ),
    (
        "As the rule before, but a guess below an accepted one is accepted with the product of "
        "the chances on its path.",
        PathRatio(),
    ),
)


def judged() -> list[JsonObject]:
    """Each rule in words, whether it is exact, and a sentence about it for each tree."""
    rules = []
    for words, rule in CANDIDATES:
        outcomes = {tree: outcome_of(rule, tree) for tree in TREES}
        lossy = [tree for tree in TREES if outcomes[tree].deviation > EXACT]
        verdicts = {tree: verdict(tree, outcomes[tree], lossy) for tree in TREES}
        rules.append({"words": words, "exact": not lossy, "verdicts": verdicts})
    return rules


def verdict(tree: str, outcome: Outcome, lossy: list[str]) -> str:
    """Whether a rule is exact; if not, the text whose probability differs most on a tree, or where
    one differs.

    Args:
        tree: the one that is chosen.
        outcome: what the rule writes there.
        lossy: all trees on which it does not write the distribution of the target.
    """
    if not lossy:
        accepted = f"{outcome.accepted:.2f} tokens"
        return f"exact on all {len(TREES)} trees; on this one it accepts {accepted}."
    if tree not in lossy:
        return f"lossy, though right on this tree: choose “{lossy[0]}”."
    text = "".join(TOKENS[token] for token in outcome.worst)
    return (
        f"lossy: on this tree it writes “{text}” with {outcome.texts[outcome.worst]:.3f} "
        f"instead of {outcome.target[outcome.worst]:.3f}."
    )


def outcome_of(rule: Verifier, tree: str) -> Outcome:
    """What a rule writes on a tree whose rows are the same after every token."""
    shape = Topology(TREES[tree])
    levels = int(shape.depth.max())
    # One row more than levels: what follows a leaf is compared too.
    return enumerate_tree(rule, shape, np.array([P] * (levels + 1)), np.array([Q] * levels), SCHEME)
