"""A drafter that is a language model."""

from __future__ import annotations

from typing import Any

from ..distributions import Sampling, distributions_of, probabilities
from ..models.base import Session
from .base import DrafterSession


class Reading(DrafterSession):
    """A model's session as a drafter.

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
        level = distributions_of(self.session.forward(tree, nodes), sampling, ahead=len(nodes))
        if sampling.temperature == 0:
            self._logits.update((node, (level.logits, place)) for place, node in enumerate(nodes))
        return level.every()

    def plain(self, node, q):
        if node not in self._logits:
            return q
        logits, place = self._logits[node]
        return probabilities(logits[place], Sampling())

    def commit(self, tree, path, emitted, seen):
        self.session.commit(tree, path, emitted)
        self._logits.clear()
