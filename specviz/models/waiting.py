"""A pair for several texts in one loop: the passes that their sessions ask for wait until they can be made together.

Sessions are the pair's own. Only two things of a session differ: its cache is a row of a block that all texts share,
and its passes go through `ask`, which hands them to whoever decodes the texts. Models besides target and draft that
read in a way of their own (heads, EAGLE's layer, a learning draft) read each text alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Request(NamedTuple):
    """A pass that a text waits for.

    Args:
        model: who reads.
        target: whether that is the target.
        arguments: what it is asked for.
    """

    model: Any
    target: bool
    arguments: tuple


Ask = Callable[[Request], Any]


class Waiting:
    """A model whose passes wait for those of other texts; everything else is the model's own."""

    def __init__(self, model: Any, target: bool, ask: Ask) -> None:
        self._model, self._target, self._ask = model, target, ask

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def read(self, *arguments: Any) -> Any:
        """As `HuggingFaceModel.read`."""
        return self._ask(Request(self._model, self._target, arguments))


class PairForTexts:
    """A pair whose sessions belong to texts that are decoded together; each `open` is the next text.

    Args:
        pair: the models.
        texts: how many there will be.
        ask: gets every request for a pass, and returns its logits.
    """

    def __init__(self, pair: Any, texts: int, ask: Ask) -> None:
        self._pair, self._texts, self._ask = pair, texts, ask
        self._opened = 0
        self._blocks: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pair, name)

    def open(self, tokens: Sequence[int]) -> tuple[Any, Any]:
        """Fresh sessions of target and draft for the next text."""
        target, draft = self._pair.open(tokens)
        shared = draft is not None and getattr(draft, "cache", None) is getattr(target, "cache", target)
        row, self._opened = self._opened, self._opened + 1
        self._join(target, True, row)
        if draft is not None:
            self._join(draft, False, row, target.cache if shared else None)
        return target, draft

    def drafter(self, kind: str, **parameters: Any) -> Any:
        """What the pair drafts with besides its draft; the target's first layers read together as well."""
        found = self._pair.drafter(kind, **parameters)
        return _FirstLayers(found, self) if kind == "early-exit" else found

    def _join(self, session: Any, target: bool, row: int, cache: Any = None) -> None:
        """Let a session's passes wait for those of other texts."""
        model = getattr(session, "model", None)
        if not hasattr(model, "read"):  # a table, or who reads through another session: each text alone
            forward = session.forward
            session.forward = lambda tree, nodes: self._ask(Request(None, target, (forward, tree, list(nodes))))
            return
        if cache is None:
            if id(model) not in self._blocks:
                from ..passes.several_texts import new_block

                self._blocks[id(model)] = new_block(model, self._texts)
            cache = self._blocks[id(model)].caches[row]
        session.cache, session.model = cache, Waiting(model, target, self._ask)


class _FirstLayers:
    """The target's first layers, whose sessions wait for each other."""

    def __init__(self, model: Any, pair: PairForTexts) -> None:
        self._model, self._pair = model, pair

    def open(self, tokens: Sequence[int], target: Any) -> Any:
        session = self._model.open(tokens, target)
        self._pair._join(session, False, 0, getattr(target, "cache", None))
        return session


def answers(requests: Sequence[Request]) -> list[Any]:
    """The logits that several texts wait for, all of one model, in one pass."""
    model = requests[0].model
    if model is None:
        return [forward(tree, nodes) for forward, tree, nodes in (request.arguments for request in requests)]
    from ..passes.several_texts import Ask as Part
    from ..passes.several_texts import read_together

    return read_together(model, [Part(*request.arguments) for request in requests])
