"""The record of a step: who drafted each node, and its probabilities, charts and texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..base.codec import JsonObject
from ..drafters.base import DrafterSession
from ..record.step import BEST, Detail, Step
from ..sampling.ceiling import ceiling
from ..sampling.children import component_of_children, most_probable
from ..sampling.distributions import Distributions, Mixture
from ..tree import Chart, TokenTree
from ..verifiers.base import ShownRows, Verdict

CEILINGS = ("iid", "distinct", "top", "top-draw")  # schemes whose ceiling is known
FEW = 64  # most tokens of a row whose ceiling for children without replacement is computed
MOST_PROBABLE = 4  # tokens of a chart; with a rejected one and the one written there are six
SMALL = 12  # a row of so few tokens is shown whole


@dataclass(frozen=True)
class Sources:
    """Where the nodes of a tree came from.

    Args:
        drafter, draft_prob: the drafter of each node and the probability of its token in the row
            that it was drawn from, [n]; None for the root and where no draft was asked.
        guesses: how a drafter came to a node, node -> plain facts.
    """

    drafter: tuple[str | None, ...]
    draft_prob: tuple[float | None, ...]
    guesses: dict[int, JsonObject]


def find_sources(drafting: DrafterSession | None, tree: TokenTree) -> Sources:
    """Where the nodes of a tree came from. Before the commit: afterwards a drafter has forgotten
    how it came by its guesses."""
    names: list[str | None] = [None] * len(tree)
    probs: list[float | None] = [None] * len(tree)
    guesses: dict[int, JsonObject] = {}
    for node, row in tree.draft_distributions.items():
        assert drafting is not None  # without one nobody made the row
        # Probes are not among them: nobody drafted those.
        children = tree.children[node]
        tokens = [tree.tokens[child] for child in children]
        if isinstance(row, Mixture):
            # Each child was drawn from the row of one drafter, whose chance a rule compares with.
            parts = component_of_children(row, tree.scheme, tokens)
            sources = [(row.drafters[part], row.components[part]) for part in parts]
        else:
            sources = [(drafting.name, row)] * len(children)
        for child, token, (name, source) in zip(children, tokens, sources, strict=True):
            names[child] = name
            probs[child] = float(source[token])
            if guess := drafting.describe_guess(tree, child, name):
                guesses[child] = guess
    return Sources(tuple(names), tuple(probs), guesses)


def record_step(
    tree: TokenTree,
    p: Distributions,
    verdict: Verdict,
    sources: Sources,
    token_text: Callable[[int], str],
    **values: Any,
) -> Step:
    """The record of a step. Its probabilities, charts and texts are computed here and nowhere
    before.

    Args:
        tree, p, verdict: what was drafted, scored and decided.
        sources: where the nodes came from.
        token_text: the text of a token as a person reads it.
        values: fields of `Step` that the session knows: index, emitted, emitted_texts,
            draft_passes, seconds.
    """
    parents = tuple(tree.parents)
    tokens = tuple(tree.tokens)
    path = verdict.path
    # The root follows no node of the tree, so both columns begin with None.
    target_prob, at_temperature_1 = p.gather(parents[1:], tokens[1:])
    emitted: tuple[int, ...] = values["emitted"]
    uncut = len(emitted) == len(path) + 1  # the limits and the end of the text took nothing away
    # A token of the target is a correction where a child was there to be taken, else a bonus.
    last = path[-1] if path else 0
    charts = Charts(p, token_text)
    details = {node: Detail(**charts.record(notes)) for node, notes in verdict.detail.items()}
    if best := best_possible(tree, last, p):
        detail = details.get(last, Detail())
        details[last] = replace(detail, facts={**detail.facts, BEST: best})
    return Step(
        **values,
        start=tree.start,
        parents=parents,
        tokens=tokens,
        texts=tuple(map(token_text, tokens)),
        draft_prob=sources.draft_prob,
        drafter=sources.drafter,
        target_prob=(None, *target_prob),
        target_prob_at_1=(None, *at_temperature_1),
        outcome=verdict.outcome,
        accept_prob=verdict.accept_prob,
        coin=verdict.coin,
        order=verdict.order,
        bonus=emitted[-1] if uncut else None,
        corrected=uncut and bool(tree.children[last]),
        scheme=tree.scheme,
        keys=tuple(tree.keys),
        growth=replace(tree.growth, cut=charts.record(tree.growth.cut), guesses=sources.guesses),
        detail=details,
    )


@dataclass
class Charts:
    """What rules and builders note about a step as plain data: rows become charts of a few tokens
    with their texts."""

    p: Distributions
    token_text: Callable[[int], str]
    most_probable: dict[int, list[int]] = field(default_factory=dict)  # tokens after a node

    def record(self, note: object) -> Any:
        """A note as it is recorded."""
        # A note may be a function, where a chart costs time: what is not recorded is not computed.
        if callable(note):
            note = note()
        if isinstance(note, Mapping):
            return {name: self.record(part) for name, part in note.items()}
        if isinstance(note, ShownRows):
            note = self._chart(note)
        if isinstance(note, Chart):
            note = replace(note, texts=tuple(map(self.token_text, note.tokens)))
        return note

    def _chart(self, shown: ShownRows) -> Chart:
        p = self.p[shown.node]
        # Once a node: looking for them takes longer than all else here.
        if shown.node not in self.most_probable:
            count = MOST_PROBABLE if len(p) > SMALL else len(p)
            self.most_probable[shown.node] = most_probable(p, count)
        tokens = list(dict.fromkeys([*self.most_probable[shown.node], *shown.tokens]))
        bars = {}
        for name, row in {"p": p, **shown.rows}.items():
            bars[name] = tuple(row[tokens].tolist())
        return Chart(tuple(tokens), bars)


def best_possible(tree: TokenTree, node: int, p: Distributions) -> float | None:
    """The largest chance of any lossless rule to accept a child of a node; None without children,
    or where it is not known or takes long."""
    q = tree.draft_distributions.get(node)
    children = len(tree.children[node])
    if q is None or not children or isinstance(q, Mixture) or tree.scheme not in CEILINGS:
        return None
    # Of children without replacement it is an integral for each token of the row, too slow for a
    # large one; and where the row runs out of tokens, children are drawn uniformly.
    is_integral = tree.scheme == "distinct" and children > 1
    if is_integral and not children <= np.count_nonzero(q) <= FEW:
        return None
    return min(1.0, ceiling(p[node], q, children, tree.scheme))
