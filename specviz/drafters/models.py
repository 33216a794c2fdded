"""Drafters that are models: the pair's draft, the target's own layers, EAGLE's layer and Medusa's heads."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from ..distributions import Sampling, distributions_of, probabilities
from ..models.base import Session
from .base import Drafter, DrafterSession


class ModelSession(DrafterSession):
    """A model's session as a drafter: one pass a level.

    Args:
        name: the drafter's name in menus.
        session: the model on the text.
    """

    def __init__(self, name: str, session: Session) -> None:
        super().__init__(name)
        self.session = session
        self._logits: dict[int, tuple[Any, int]] = {}  # of the nodes expanded at temperature 0

    def expand(self, tree, nodes, sampling):
        self.passes += 1
        rows = distributions_of(self.session.forward(tree, nodes), sampling, ahead=len(nodes))
        if sampling.temperature == 0:
            self._logits.update((node, (rows.logits, place)) for place, node in enumerate(nodes))
        return rows.every()

    def at_temperature_1(self, node, q):
        if node not in self._logits:
            return q
        logits, place = self._logits[node]
        return probabilities(logits[place], Sampling())

    def commit(self, tree, path, emitted, seen):
        self.session.commit(tree, path, emitted)
        self._logits.clear()


class Model(Drafter):
    """The pair's own small draft model (Leviathan et al. 2023; Chen et al. 2023)."""

    name: ClassVar[str] = "model"
    title: ClassVar[str] = "Draft model"
    spoken: ClassVar[str] = "the draft model"
    of_tokens: ClassVar[bool] = True

    def open(self, context):
        return ModelSession(self.name, context.draft_model(self.title))


class EarlyExit(Drafter):
    """The target's first layers with its final norm and output head: no second model (LayerSkip, Elhoushi et al. 2024).

    Unlike a draft model it shares the target's cache: the target's pass writes all layers over the slots that the draft
    filled. It is not trained for early exit, unless the target was.
    """

    name: ClassVar[str] = "early-exit"
    title: ClassVar[str] = "Early exit"
    small: ClassVar[dict[str, Any]] = {"layers": 1}
    of_tokens: ClassVar[bool] = True
    layers: int = Field(
        3, ge=1, le=128, title="Layers", description="Number of target layers used as draft; fewer than it has."
    )

    def open(self, context):
        return ModelSession(self.name, context.model(self.name, layers=self.layers))


class LayerSkip(Drafter):
    """The target without some of its layers: no second model (Draft & Verify, Zhang et al. 2023).

    Unlike early exit it can keep the last layers. What it computes behind a skipped layer is not what the target
    computes there, so it has keys and values of its own. Whole layers are skipped; the paper skips attention and
    feed-forward parts one by one, and searches for the best.
    """

    name: ClassVar[str] = "layer-skip"
    title: ClassVar[str] = "Skipped layers"
    spoken: ClassVar[str] = "the target without some layers"
    small: ClassVar[dict[str, Any]] = {"skip": (2,)}
    of_tokens: ClassVar[bool] = True
    skip: tuple[Annotated[int, Field(ge=2, le=128)], ...] = Field(
        (3, 6, 7),
        min_length=1,
        title="Skipped layers",
        description="Target layers that the draft skips, counted from 1.",
    )

    def open(self, context):
        return ModelSession(self.name, context.model(self.name, skip=self.skip))


class Eagle(Drafter):
    """One decoder layer that predicts the target's next hidden state (EAGLE, Li et al. 2024).

    Unlike Medusa's heads it reads the tokens it drafts: its input at a token is that token's embedding beside the
    hidden state before it, the target's own as far as the text goes, its own guesses within the tree. The target's
    output head makes rows of its guesses. With it EAGLE-2's tree is EAGLE-2 as published.
    """

    name: ClassVar[str] = "eagle"
    title: ClassVar[str] = "EAGLE"
    spoken: ClassVar[str] = "EAGLE"
    reads_features: ClassVar[bool] = True
    by_level: ClassVar[bool] = True

    def open(self, context):
        session = context.model(self.name)
        session.take(context.prompt_features)
        return FeatureSession(self.name, session, context.pair.vocab_size)


class FeatureSession(ModelSession):
    """A session that is handed the target's features at every commit, and needs one to begin with."""

    def __init__(self, name: str, session: Session, vocab_size: int) -> None:
        super().__init__(name, session)
        self._zeros = np.zeros(vocab_size)

    def expand(self, tree, nodes, sampling):
        if len(self.session.context) < 2:  # a text of one token: nothing was read yet
            return [self._zeros] * len(nodes)
        return super().expand(tree, nodes, sampling)

    def commit(self, tree, path, emitted, seen):
        super().commit(tree, path, emitted, seen)
        self.session.take(seen.features)


class Medusa(Drafter):
    """Heads on the target's last hidden state, one row a level (Stern et al. 2018; Medusa: Cai et al. 2024).

    Unlike a model, which reads every token it drafted, head i guesses the i-th token after the root from what the
    target knew before the root was there. So all nodes of one level share one row, which costs no draft pass. A row
    that ignores its node is still a row: every rule stays exact. The greedy chain of such a tree is blockwise parallel
    decoding, in which one pass verifies the last block and predicts the next.
    """

    name: ClassVar[str] = "medusa"
    title: ClassVar[str] = "Medusa heads"
    spoken: ClassVar[str] = "Medusa heads"
    reads_features: ClassVar[bool] = True
    small: ClassVar[dict[str, Any]] = {"heads": 2}
    by_level: ClassVar[bool] = True
    heads: int = Field(
        4,
        ge=1,
        le=16,
        title="Heads",
        description="Number of levels with a head; at most the number of trained heads.",
    )

    def open(self, context):
        heads, features = context.pair.drafter(self.name, heads=self.heads), context.prompt_features
        return HeadSession(self.name, heads, features[-1] if len(features) else None, context.pair.vocab_size)


class HeadSession(DrafterSession):
    """The heads on one text.

    Args:
        heads: a function of the feature before the root, [width], that returns logits, [levels, V].
        feature: the target's feature of the token before the root; None where the text has one token.
        vocab_size: V.
    """

    def __init__(self, name: str, heads: Any, feature: Any, vocab_size: int) -> None:
        super().__init__(name)
        self.heads, self.feature = heads, feature
        self._zeros = np.zeros(vocab_size)
        self._levels: list[np.ndarray] | None = None  # the rows of this step

    def expand(self, tree, nodes, sampling):
        if self.feature is None:
            return [self._zeros] * len(nodes)
        if self._levels is None:
            logits = self.heads(self.feature)
            self._levels = distributions_of(logits, sampling, ahead=len(logits)).every()
        depths = (tree.depths[node] for node in nodes)
        return [self._levels[depth] if depth < len(self._levels) else self._zeros for depth in depths]

    def commit(self, tree, path, emitted, seen):
        self.feature, self._levels = seen.features[-1], None
