"""One decoder layer that predicts the target's next hidden state (EAGLE, Li et al. 2024).

Unlike Medusa's heads it reads the tokens it drafts: its input at a token is that token's embedding beside the hidden
state before it, the target's own as far as the text goes, its own guesses within the tree. The target's output head
makes rows of its guesses. With it EAGLE-2's tree is EAGLE-2 as published.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .base import Drafter
from .reading import Reading


class Eagle(Drafter):
    """Rows of a layer that was trained on the target's hidden states."""

    name: ClassVar[str] = "eagle"
    title: ClassVar[str] = "EAGLE"
    spoken: ClassVar[str] = "EAGLE"
    reads_features: ClassVar[bool] = True
    by_level: ClassVar[bool] = True

    def open(self, desk):
        session = desk.model(self.name)
        session.take(desk.prompt_features)
        return OnFeatures(self.name, session, desk.pair.vocab_size)


class OnFeatures(Reading):
    """A session that is handed the target's features at every commit, and needs one to begin with."""

    def __init__(self, name, session, vocab_size) -> None:
        super().__init__(name, session)
        self._nothing = np.zeros(vocab_size)

    def expand(self, tree, nodes, sampling):
        if len(self.session.context) < 2:  # a text of one token: nothing was read yet
            return [self._nothing] * len(nodes)
        return super().expand(tree, nodes, sampling)

    def commit(self, tree, path, emitted, seen):
        super().commit(tree, path, emitted, seen)
        self.session.take(seen.features)
