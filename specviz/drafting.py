"""Where a builder and a drafter meet: the draft of one step, and the opening of a drafter on a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .config import Choice
from .desk import Desk, Drafter, Drafting
from .distributions import Blend, Sampling
from .laws import whose
from .protocols import Pair, Session
from .registry import build
from .stopwatch import Stopwatch
from .tree import TokenTree


class DraftSession:
    """The draft during one step: it grows one tree and counts its passes.

    Args:
        drafting: who fills the tree; None where nobody is asked.
        tree: a fresh tree with only its root.
        context: the committed token ids.
        sampling: how the drafter's rows are post-processed.
        watch: counts the seconds of its passes, post-processing included.
        sparse: whether the drafter gives mass to few tokens alone.
    """

    def __init__(
        self,
        drafting: Drafting | None,
        tree: TokenTree,
        context: Sequence[int],
        sampling: Sampling,
        watch: Stopwatch | None = None,
        sparse: bool = False,
    ) -> None:
        self.drafting = drafting
        self.tree = tree
        self.context = context
        self.sampling = sampling
        self.sparse = sparse
        self.watch = watch or Stopwatch()
        self._before = drafting.passes if drafting else 0

    @property
    def passes(self) -> int:
        """Passes of a model that the tree took."""
        return self.drafting.passes - self._before if self.drafting else 0

    def expand(self, nodes: Sequence[int]) -> list[np.ndarray]:
        assert self.drafting is not None  # or the builder asks nobody
        with self.watch("draft"):
            rows = self.drafting.expand(self.tree, nodes, self.sampling)
        self.tree.draft_rows.update(zip(nodes, rows, strict=True))
        return rows

    def plain(self, node: int, q: np.ndarray) -> np.ndarray:
        return q if self.sampling.temperature > 0 or self.drafting is None else self.drafting.plain(node, q)


def open_drafter(choice: Any, pair: Pair, target: Session, draft: Session | None, context: Sequence[int]) -> Drafting:
    """The drafter that `choice` stands for, at work on a text.

    Raises:
        ValueError: if the pair has not what it takes.
    """
    drafter: Drafter = build("drafter", choice)
    features = target.watch() if drafter.reads_features else None

    def find(name: str, **parameters: Any) -> Drafter:
        return build("drafter", Choice(name, parameters))

    return drafter.open(Desk(pair, target, draft, context, features, find))


def guesses(
    drafting: Drafting | None, tree: TokenTree
) -> tuple[tuple[str | None, ...], tuple[float | None, ...], dict[int, dict]]:
    """Whose guess each node was, [n], its probability in the row it was drawn from, [n], and how it was made.

    The last is plain JSON data for the nodes of which there is something to tell.

    Args:
        drafting: who filled the tree; None where nobody was asked.
        tree: the tree that was verified.
    """
    names: list[str | None] = [None] * len(tree)
    details: dict[int, dict] = {}
    probs = tree.draft_prob()
    if drafting is None:
        return tuple(names), tuple(probs), details
    for node, children in enumerate(tree.children):
        if not children or node not in tree.draft_rows:
            continue
        row = tree.draft_rows[node]
        tokens = [tree.tokens[child] for child in children]
        for child, part in zip(children, whose(row, tree.law, tokens), strict=True):
            name = drafting.name
            if part is not None and isinstance(row, Blend):
                name = row.whose[part]
                probs[child] = float(row.parts[part][tree.tokens[child]])
            names[child] = name
            path = [tree.tokens[above] for above in tree.topology.path(child)]
            if guess := drafting.tell(path, name):
                details[child] = guess
    return tuple(names), tuple(probs), details
