"""Search for the smallest tree on which a rule is wrong at temperature 0.

There a rule must write the target's most probable tokens whatever was drafted. So the drafted
tokens are given and only the rule's own randomness is enumerated: on every tree of up to three
tokens, then on random ones of up to nine, with ties.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np

from ..sampling.distributions import Distributions, Sampling
from ..sampling.randomness import Seeded
from ..tree import TokenTree
from ..verifiers.base import Verifier
from .counterexample import (
    Counterexample,
    Parents,
    Row,
    Rows,
    Search,
    failure_text,
    fits,
    normalised,
)
from .enumerate import ScriptedRandomness, Text, distribution_of, read_only

EVERY = 3  # drafted tokens up to which every tree of two tokens is tried
RANDOM_TREES = 400
DRAFT_ROWS = [(1, 1), (1, 2), (2, 1), (1, 0), (0, 1)]  # of small trees, on two tokens, as weights
Logits = tuple[int, ...]  # whole numbers; a tie goes to the lower token


@dataclass(frozen=True)
class GreedyTree:
    """A drafted tree at temperature 0.

    Attributes:
        parents, tokens: its shape, and the drafted token of each node but the root.
        logits, q: the target's logits and the draft's row after each text.
        scheme: how the children are said to be drawn.
    """

    parents: Parents
    tokens: Text
    logits: dict[Text, Logits]
    q: dict[Text, Row]
    scheme: str

    @property
    def texts(self) -> list[Text]:
        """The drafted text down to each node."""
        texts: list[Text] = [()]
        for parent, token in zip(self.parents[1:], self.tokens, strict=True):
            texts.append((*texts[parent], token))
        return texts

    def best(self, text: Text) -> int:
        """The target's most probable token after a text."""
        return self.logits[text].index(max(self.logits[text]))

    def draft(self) -> TokenTree:
        """The tree as a rule is given it."""
        tree = TokenTree(0, scheme=self.scheme)
        for parent, token in zip(self.parents[1:], self.tokens, strict=True):
            tree.add(parent, token)
        for node, text in enumerate(self.texts):
            if node in self.parents:
                tree.draft_distributions[node] = read_only(np.array(self.q[text], float))
        return tree

    def without(self, leaf: int) -> GreedyTree:
        """The same tree without one of its leaves."""
        parents = self.parents[:leaf] + self.parents[leaf + 1 :]
        parents = tuple(parent - (parent > leaf) for parent in parents)
        return replace(self, parents=parents, tokens=self.tokens[: leaf - 1] + self.tokens[leaf:])


class GreedyRandomness(ScriptedRandomness):
    """Scripted randomness with some noise: at temperature 0 a race has one entrant, whatever it
    is."""

    def noise(self, position: int, size: int) -> np.ndarray:
        return Seeded(0).noise(position, size)


def search_greedy(rule: Verifier) -> Search:
    """Try a rule at temperature 0 on every small tree and on random ones, up to the first on which
    it is wrong."""
    tried = 0
    if not rule.exact_at_zero:
        return Search(tried, 0.0, None)
    for tree in _trees(rule):
        tried += 1
        if example := _try(rule, tree):
            example = _shrink(rule, tree, example)
            error = example.probability
            if example.failure:
                error = np.nan
            return Search(tried, error, example)
    return Search(tried, 0.0, None)


def _try(rule: Verifier, given: GreedyTree) -> Counterexample | None:
    """What a rule writes wrongly on one tree; None if it always writes the greedy text."""
    texts = given.texts

    def write(rng: ScriptedRandomness) -> Text:
        """The text up to its first token that is not the target's; () if there is none."""
        tree = given.draft()
        logits = np.array([given.logits[text] for text in texts], float)
        verdict = rule(tree, Distributions(logits, Sampling(0)), rng)
        written = (*(tree.tokens[node] for node in verdict.path), verdict.bonus)
        for node, token in zip((0, *verdict.path), written, strict=True):
            if token != given.best(texts[node]):
                return (*texts[node], token)
        return ()

    try:
        wrong = distribution_of(write, GreedyRandomness)
    except Exception as error:
        return replace(_example(rule, given), failure=failure_text(error))
    # What is left was written although the target would not have.
    wrong.pop((), None)
    if not wrong:
        return None
    text = max(wrong, key=wrong.__getitem__)
    return replace(_example(rule, given), text=text, probability=wrong[text])


def _example(rule: Verifier, given: GreedyTree) -> Counterexample:
    """A tree as a counterexample, without what is written."""
    p: list[Row] = []
    q: list[Row] = []
    for node, text in enumerate(given.texts):
        p.append(tuple(Fraction(token == given.best(text)) for token in range(len(given.q[()]))))
        q.append(given.q[text] if node in given.parents else ())
    return Counterexample(
        rule.name, given.scheme, given.parents, _merged(p), _merged(q), given.tokens
    )


def _merged(rows: list[Row]) -> Rows:
    """A single row where all nodes that have one have the same."""
    different = dict.fromkeys(filter(None, rows))
    if len(different) == 1:
        return tuple(different)
    return tuple(rows)


def _shrink(rule: Verifier, tree: GreedyTree, example: Counterexample) -> Counterexample:
    """The counterexample without every leaf that the mistake does not need."""
    # From the last node backwards: a leaf that goes may leave its parent as one.
    for leaf in reversed(range(1, len(tree.parents))):
        if leaf in tree.parents or len(tree.parents) == 2:
            continue
        smaller = tree.without(leaf)
        if not fits(rule, smaller.parents):
            continue
        if found := _try(rule, smaller):
            return _shrink(rule, smaller, found)
    return example


def _trees(rule: Verifier) -> Iterator[GreedyTree]:
    """Trees in order of size: all of up to `EVERY` drafted tokens of two, then random ones."""
    for drafted in range(1, EVERY + 1):
        # Every shape: each node below any of the nodes before it.
        for above in product(*map(range, range(1, drafted + 1))):
            if fits(rule, (-1, *above)):
                for tokens in product((0, 1), repeat=drafted):
                    yield from _with_every_row((-1, *above), tokens)
    generator = np.random.default_rng(0)
    for _ in range(RANDOM_TREES):
        yield _random_tree(generator, rule)


def _with_every_row(parents: Parents, tokens: Text) -> Iterator[GreedyTree]:
    """A drafted tree with every best token after each text, and every row of the draft that could
    have drawn its children."""
    texts = GreedyTree(parents, tokens, {}, {}, "").texts
    different = sorted(set(texts))
    scheme = "iid"
    if len(different) == len(texts):
        scheme = "top"
    possible = []
    for above in different:
        drawn = [text[-1] for text in different if text and text[:-1] == above]
        rows = []
        for row in DRAFT_ROWS:
            if all(row[token] for token in drawn):
                rows.append(normalised(row))
        possible.append(rows if drawn else rows[:1])
    # Everything with everything: small enough to try all, and no case is forgotten.
    for logits in product(((1, 0), (0, 1)), repeat=len(different)):
        for q in product(*possible):
            yield GreedyTree(
                parents,
                tokens,
                dict(zip(different, logits, strict=True)),
                dict(zip(different, q, strict=True)),
                scheme,
            )


def _random_tree(generator: np.random.Generator, rule: Verifier) -> GreedyTree:
    """A tree of three to nine tokens, each the target's best with one chance in two."""
    size = int(generator.integers(2, 6))
    drafted = int(generator.integers(3, 10))
    tree = GreedyTree((-1,), (), {}, {}, ("iid", "distinct", "top")[generator.integers(3)])
    texts: list[Text] = [()]
    for node, text in enumerate(texts):  # it grows within the loop
        tree.logits.setdefault(text, tuple(generator.integers(0, 3, size).tolist()))
        tree.q.setdefault(text, normalised(generator.integers(1, 5, size).tolist()))
        # The tree has a shape that the rule is defined for.
        only_child = rule.chain_only or (rule.paths_only and node > 0)
        for _ in range(1 if only_child else generator.integers(1, 4)):
            token = tree.best(text) if generator.random() < 0.5 else int(generator.integers(size))
            new = tree.scheme == "iid" or (*text, token) not in texts
            if new and len(texts) <= drafted:
                tree = replace(tree, parents=(*tree.parents, node), tokens=(*tree.tokens, token))
                texts.append((*text, token))
        if node == 0 and rule.paths_only:
            drafted -= drafted % (len(texts) - 1)  # all chains become equally long
    return tree
