"""Drafters that are models: the pair's draft, a copy that learns, the target's layers, EAGLE's
layer and Medusa."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, ClassVar, Literal, Protocol

import numpy as np
from pydantic import Field

from ..base.codec import JsonObject
from ..config.strategy import number
from ..models.base import Features, Session
from ..sampling.distributions import Logits, Sampling, distributions_of, probabilities
from ..tree import TokenTree
from .base import LAYERS, Drafter, DrafterContext, DrafterSession, TargetOutputs


class Learner(Session, Protocol):
    """A session whose model is trained while it drafts, see `models.learning`."""

    def learn(self, rows: np.ndarray, temperature: float) -> None:
        """One optimizer step towards `rows`, [n, V], of the last n places of the text."""


class FeatureReader(Session, Protocol):
    """A session that reads the target's hidden states."""

    def take(self, features: Features) -> None:
        """Those of the tokens that were committed last, [n, width]."""


class ModelSession(DrafterSession):
    """A model's session as a drafter: one pass a level."""

    def __init__(self, name: str, session: Session) -> None:
        super().__init__(name)
        self.session = session
        self._logits: dict[int, tuple[Logits, int]] = {}  # of the nodes expanded at temperature 0

    def expand(self, tree: TokenTree, nodes: Sequence[int], sampling: Sampling) -> list[np.ndarray]:
        self.passes += 1
        rows = distributions_of(self.session.forward(tree, nodes), sampling, ahead=len(nodes))
        if sampling.temperature == 0:
            # A row of temperature 0 says nothing of how sure the model is; its logits do.
            for place, node in enumerate(nodes):
                self._logits[node] = (rows.logits, place)
        return rows.all_rows()

    def certainty_row(self, node: int, q: np.ndarray) -> np.ndarray:
        if node not in self._logits:
            return q
        logits, place = self._logits[node]
        return probabilities(logits[place], Sampling())

    def commit(
        self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int], seen: TargetOutputs
    ) -> None:
        self.session.commit(tree, path, emitted)
        self._logits.clear()


class Model(Drafter):
    """The pair's own small draft model (Leviathan et al. 2023; Chen et al. 2023)."""

    name = "model"
    title = "Pair's own draft"
    title_in_sentence = "the draft model"

    def open(self, context: DrafterContext) -> DrafterSession:
        return ModelSession(self.name, context.draft_model(self.title))


class Online(Drafter):
    """A copy of the pair's draft that is trained during the run: online distillation (OSD, Liu et
    al. 2023).

    Every few steps it takes one optimizer step towards the target's latest rows. A row is compared
    before anything is learnt of it, so every rule stays exact.
    """

    name = "online"
    title = "Learning draft"
    title_in_sentence = "a learning draft"
    small: ClassVar[JsonObject] = {"every": 1}
    every: int = number(4, 1, 64, "Learn every", "Number of decoding steps per optimizer step.")
    rate: float = number(
        3e-4, 0.0, 0.1, "Learning rate", "Learning rate of the optimizer; 0 turns learning off."
    )
    last: int = number(
        128, 1, 1024, "Learn from", "Maximum number of the target's latest distributions used."
    )

    def open(self, context: DrafterContext) -> DrafterSession:
        return Learning(self.name, context.model(self.name, rate=self.rate), self.every, self.last)


class Learning(ModelSession):
    """A draft on one text whose session has `learn(rows, temperature)`, see `models.learning`."""

    session: Learner

    def __init__(self, name: str, session: Learner, every: int, last: int) -> None:
        super().__init__(name, session)
        self.every = every
        self.last = last
        self.temperature = 1.0  # of the rows it was asked for
        # the target's rows after the last tokens of the text but its very last
        self._rows: list[np.ndarray] = []
        self._steps = 0

    def expand(self, tree: TokenTree, nodes: Sequence[int], sampling: Sampling) -> list[np.ndarray]:
        self.temperature = sampling.temperature or 1.0
        return super().expand(tree, nodes, sampling)

    def commit(
        self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int], seen: TargetOutputs
    ) -> None:
        super().commit(tree, path, emitted, seen)
        # The rows were compared already. Learning before that would let a row depend on the token
        # that is compared with it.
        new = []
        for node in seen.nodes[: len(emitted)]:
            new.append(seen.rows[node].astype(np.float32))
        self._rows = [*self._rows, *new][-self.last :]
        self._steps += 1
        if self._steps % self.every == 0:
            self.session.learn(np.array(self._rows), self.temperature)


class TargetCopy(Drafter):
    """A drafter that is a model which the pair makes of its target, by the drafter's parameters."""

    def open(self, context: DrafterContext) -> DrafterSession:
        # The pair makes the model once for each set of parameters.
        return ModelSession(self.name, context.model(self.name, **self.parameters))


class EarlyExit(TargetCopy):
    """The target's first layers with its final norm and output head: no second model (LayerSkip,
    Elhoushi et al. 2024).

    It shares the target's cache: the target's pass writes all layers over the positions that the
    draft filled.
    """

    name = "early-exit"
    title = "Early exit"
    small: ClassVar[JsonObject] = {"layers": 1}
    layers: int = LAYERS


class LayerSkip(TargetCopy):
    """The target without some of its layers: no second model (Draft & Verify, Zhang et al. 2023).

    It has keys and values of its own. The paper skips attention and feed-forward parts one by one;
    here whole layers.
    """

    name = "layer-skip"
    title = "Skipped layers"
    title_in_sentence = "the target without some layers"
    small: ClassVar[JsonObject] = {"skip": (2,)}
    skip: tuple[Annotated[int, Field(ge=2, le=128)], ...] = Field(
        (3, 6, 7),
        min_length=1,
        title="Skipped layers",
        description="Target layers that are skipped, counted from 1.",
    )


class Quantized(TargetCopy):
    """The target with its weights in a few bits, kept in memory: no training, no second model
    (SubSpec, Wang et al. 2025).

    It reads the target's own cache. A pass of it reads a third of the bytes that bfloat16 takes, so
    it pays most where the target's weights come from a slow disk.
    """

    name = "quantized"
    title = "Quantised target"
    title_in_sentence = "a quantised copy of the target"
    small: ClassVar[JsonObject] = {"bits": 4}
    bits: Literal[4, 8] = Field(4, title="Bits", description="Bits of a weight.")


class Eagle(Drafter):
    """One decoder layer that predicts the target's next hidden state (EAGLE, Li et al. 2024;
    EAGLE-3, Li et al. 2025).

    Its input at a token is that token's embedding beside the hidden state before it: the target's
    own as far as the text goes, its own guesses within the tree. The target's output head makes
    rows of its guesses. An EAGLE-3 head reads hidden states of three layers, and has an output head
    of its own over the most frequent tokens.
    """

    name = "eagle"
    title = "EAGLE"
    title_in_sentence = "EAGLE"
    reads_features = True
    depends_on_depth = True

    def open(self, context: DrafterContext) -> DrafterSession:
        return FeatureSession(self, context)


class FeatureSession(ModelSession):
    """A session that is handed the target's features at every commit, and needs one to begin
    with."""

    session: FeatureReader

    def __init__(self, drafter: Drafter, context: DrafterContext) -> None:
        session = context.model(drafter.name, **drafter.parameters)
        # A head reads the text as the target saw it, before it drafts.
        session.take(context.prompt_features)
        super().__init__(drafter.name, session)
        self._zeros = np.zeros(context.pair.vocab_size)

    def expand(self, tree: TokenTree, nodes: Sequence[int], sampling: Sampling) -> list[np.ndarray]:
        if len(self.session.context) < 2:  # a text of one token: nothing was read yet
            return [self._zeros] * len(nodes)
        return super().expand(tree, nodes, sampling)

    def commit(
        self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int], seen: TargetOutputs
    ) -> None:
        super().commit(tree, path, emitted, seen)
        self.session.take(seen.features)


class Medusa(Drafter):
    """Heads on the target's last hidden state, one row a level (Stern et al. 2018; Medusa: Cai et
    al. 2024).

    Head i guesses the i-th token after the root from what the target knew before the root was
    there. So all nodes of a level share one row, which costs no draft pass.
    """

    name = "medusa"
    title = "Medusa heads"
    title_in_sentence = "Medusa heads"
    reads_features = True
    small: ClassVar[JsonObject] = {"heads": 2}
    depends_on_depth = True
    heads: int = number(
        4, 1, 16, "Heads", "Number of levels with a head; at most the number of trained heads."
    )

    def open(self, context: DrafterContext) -> DrafterSession:
        # A function and no session: heads read no tokens, so there is nothing to commit.
        heads = context.pair.drafter(self.name, heads=self.heads)
        features = context.prompt_features
        feature = None
        if len(features):
            feature = features[-1]
        return HeadSession(self.name, heads, feature, context.pair.vocab_size)


class HeadSession(DrafterSession):
    """The heads on one text: a function of the target's feature of the token before the root,
    [width], that returns logits, [levels, V]. There is no feature where the text has one token."""

    def __init__(
        self, name: str, heads: Callable[[Features], Logits], feature: Features, vocab_size: int
    ) -> None:
        super().__init__(name)
        self.heads = heads
        self.feature = feature
        self._zeros = np.zeros(vocab_size)
        self._levels: list[np.ndarray] | None = None  # the rows of this step

    def expand(self, tree: TokenTree, nodes: Sequence[int], sampling: Sampling) -> list[np.ndarray]:
        if self.feature is None:
            return [self._zeros] * len(nodes)
        if self._levels is None:
            logits = self.heads(self.feature)
            self._levels = distributions_of(logits, sampling, ahead=len(logits)).all_rows()
        rows = []
        for node in nodes:
            # The root's row is that of the first head; below the last head nothing is known.
            depth = tree.depths[node]
            rows.append(self._levels[depth] if depth < len(self._levels) else self._zeros)
        return rows

    def commit(
        self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int], seen: TargetOutputs
    ) -> None:
        self.feature = seen.features[-1]
        self._levels = None
