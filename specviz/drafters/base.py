"""The contract of drafters: `Drafter`, its session on one text, and the models it may use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..base.codec import JsonObject
from ..config.strategy import Strategy, number
from ..models.base import Features, Pair, Session
from ..sampling.distributions import Distributions, Sampling
from ..tree import TokenTree

LAYERS = number(
    3, 1, 128, "Layers", "Number of target layers that early exit uses; fewer than it has."
)


@dataclass(frozen=True)
class TargetOutputs:
    """The target's outputs for the tokens that a step commits.

    Args:
        nodes: the root and the accepted path, in the tree that was verified.
        rows: the target's distributions for that tree.
        features: its last hidden states at `nodes`, [len(nodes), width]; None where the drafter
            reads none.
    """

    nodes: tuple[int, ...]
    rows: Distributions
    features: Features = None


class DrafterSession:
    """A drafter's session on one text; `name` stands in the record, `passes` counts passes of a
    model."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.passes = 0

    def expand(self, tree: TokenTree, nodes: Sequence[int], sampling: Sampling) -> list[np.ndarray]:
        """Rows after nodes of a tree, in one pass: float64 [V], with sum 1, or zeros where there is
        no prediction.

        Args:
            tree, nodes: what was drafted so far, and the nodes to read.
            sampling: how logits become rows.
        """
        raise NotImplementedError

    def commit(
        self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int], seen: TargetOutputs
    ) -> None:
        """Append what a step wrote to the text.

        Args:
            tree, path: the tree that was expanded, and its accepted nodes, top down.
            emitted: the new token ids; the first are those of `path`.
            seen: what the target saw of them.
        """

    def certainty_row(self, node: int, q: np.ndarray) -> np.ndarray:
        """The row, [V], that shows how certain the drafter is after an expanded `node`: its row
        `q`, and at temperature 0 the one at temperature 1 where that is known."""
        return q

    def describe_guess(self, tree: TokenTree, node: int, drafter: str) -> JsonObject:
        """How a node of a tree was drafted by that `drafter`; plain JSON data, or {}."""
        return {}


@dataclass(frozen=True)
class DrafterContext:
    """What a drafter may work with on one text.

    Args:
        pair: the models; `pair.drafter(kind, **parameters)` makes what they can draft with besides
            the draft.
        target, draft: their sessions; no draft where the pair has none.
        context: the token ids so far.
        prompt_features: the target's features of `context` without its last token, for a drafter
            that reads them.
    """

    pair: Pair
    target: Session
    draft: Session | None
    context: Sequence[int]
    prompt_features: Features = None

    def draft_model(self, title: str) -> Session:
        """The session of the pair's draft, for the drafter with this `title`; a `ValueError` if the
        pair has none."""
        if self.draft is None:
            hint = "Load one, or choose another drafter, or prompt-lookup."
            raise ValueError(f"{title} needs a pair with a draft; this pair has none. {hint}")
        return self.draft

    def model(self, kind: str, **parameters: Any) -> Any:
        """A session of what the pair drafts with, of a kind and with parameters as for
        `Pair.drafter`."""
        return self.pair.drafter(kind, **parameters).open(self.context, self.target)


class Drafter(Strategy):
    """A source of draft distributions. The fields of a subclass are its parameters.

    >>> class Uniform(DrafterSession):
    ...     def expand(self, tree, nodes, sampling):
    ...         return [np.full(3, 1 / 3) for _ in nodes]
    >>> class Blind(Drafter):
    ...     name, title = "blind", "Blind"
    ...     def open(self, context):
    ...         return Uniform(self.name)
    >>> config = specviz.RunConfig("ab", "chain", drafter=Blind(), max_new_tokens=8)
    >>> specviz.run(specviz.toy_pair(vocab=3), config).steps[0].draft_prob[1]
    0.3333333333333333
    """

    kind: ClassVar[str] = "drafter"
    needs: ClassVar[str] = "open"
    # The title within a sentence; with a small letter where nothing else is given.
    title_in_sentence: ClassVar[str]
    reads_features: ClassVar[bool] = False  # whether it must be handed the target's hidden states
    # Whether its rows have a few tokens and no mass elsewhere: no child is beyond them.
    sparse: ClassVar[bool] = False
    blends: ClassVar[bool] = False  # whether children of one node come from different distributions
    merges: ClassVar[bool] = False  # whether equal tokens of a node are merged after they are drawn
    # Whether the row after the same tokens depends on how many were drafted.
    depends_on_depth: ClassVar[bool] = False
    small: ClassVar[JsonObject] = {}  # parameters that make it small enough to prove

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "title" in vars(cls) and "title_in_sentence" not in vars(cls):
            cls.title_in_sentence = cls.title[:1].lower() + cls.title[1:]

    def open(self, context: DrafterContext) -> DrafterSession:
        """Begin to draft for one text; a `ValueError` if the pair lacks the required model.

        Args:
            context: the models, their sessions and the text so far.
        """
        raise NotImplementedError


def open_drafter(
    drafter: Drafter, pair: Pair, target: Session, draft: Session | None, context: Sequence[int]
) -> DrafterSession:
    """A drafter at work on a text; a `ValueError` if the pair has not what it takes."""
    # Asked for before the drafter opens: the target keeps features only once somebody watches.
    features = None
    if drafter.reads_features:
        features = target.watch()
    return drafter.open(DrafterContext(pair, target, draft, context, features))
