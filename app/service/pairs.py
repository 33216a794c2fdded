"""The pairs of models of a page: those that are offered, and those in memory."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from threading import Lock, Thread
from typing import Any
from weakref import WeakValueDictionary

from specviz.base.errors import ParameterError, cause
from specviz.models.base import Pair

from . import limits, zero_gpu
from .loading import Loading, Offer
from .pair_ref import LABELS, OLD_DISK, OLD_NAMES, SMOLLM2, TALES, WEIGHTS, PairRef
from .queue import NOBODY, Visitor

MAX_LOADED = 2  # pairs in memory at a time


class Pairs:
    """The pairs of a page: those that are offered, and those in memory.

    Args:
        offers: by "target|draft"; the first is the page's own.
        other: the offer for a pair that a visitor names; None where none may be named.
    """

    def __init__(
        self, offers: dict[str, Offer], other: Callable[[PairRef], Offer] | None = None
    ) -> None:
        self.offers = offers
        self.other = other
        self.preparing: Loading | None = None
        self._lock = Lock()
        self._loaded: dict[PairRef, Pair] = {}  # the one used last comes last
        self._loading: dict[PairRef, Loading] = {}
        self.number = next(_numbers)
        _everywhere[self.number] = self

    @property
    def first(self) -> PairRef:
        """The pair of whoever chooses none: the first that can be had."""
        names = [name for name in self.offers if name != SMOLLM2 or not self.problem]
        return PairRef.read(names[0])

    def find(self, models: object, weights: object = "memory") -> PairRef:
        """The pair that the page or a program asks for, in memory where it cannot be on disk.

        Raises:
            ValueError: if there is none of that name.
        """
        choice = "be one of the choices of the page"
        if not isinstance(models, str):
            raise ParameterError("models", choice, models)
        if weights not in WEIGHTS:
            raise ParameterError("weights", choice, weights)
        if models.endswith(OLD_DISK):
            models = models.removesuffix(OLD_DISK)
            weights = "disk"
        models = OLD_NAMES.get(models, models)
        # Older links and programs name a pair by its label in the menu.
        by_label = {offer.label: name for name, offer in self.offers.items()}
        ref = PairRef.read(by_label.get(models, models) or self.first.models, weights)
        return ref if self.offer(ref).has_disk else replace(ref, weights="memory")

    def offer(self, ref: PairRef) -> Offer:
        """How a pair is loaded; a `ValueError` where it may not be."""
        if ref.models in self.offers:
            return self.offers[ref.models]
        if self.other is None:
            raise ParameterError("models", f"be one of {', '.join(self.offers)}", ref.models)
        return self.other(ref)

    def choices(self) -> list[tuple[str, str]]:
        """The menu of pairs: label and name."""
        return [(offer.label, name) for name, offer in self.offers.items()]

    def add(self, offers: dict[str, Offer]) -> None:
        """Offer further pairs."""
        self.offers = self.offers | offers

    @property
    def has_disk(self) -> bool:
        """Whether the weights of any pair may be on disk."""
        return any(offer.has_disk for offer in self.offers.values())

    def get(self, ref: PairRef) -> Pair | None:
        """A pair that is in memory; None where it is not."""
        with self._lock:
            # What is used moves to the end: `_load_now` frees the first.
            pair = self._loaded.pop(ref.resolved, None)
            if pair is not None and is_intact(pair):
                self._loaded[ref.resolved] = pair
                return pair
        return None

    def load(self, ref: PairRef, visitor: Visitor = NOBODY) -> Loading:
        """Load a pair in a thread, or wait for the one that does; `Loading.leave` ends the wait."""
        key = ref.resolved
        with self._lock:
            loading = self._loading.get(key)
            # One that is unwanted stops soon; who comes now starts another.
            if loading is not None and not loading.unwanted.is_set():
                loading.waiting += 1
                return loading
            loading = self._loading[key] = Loading(ref, visitor)
        Thread(target=self._load, args=(key, loading), daemon=True).start()
        return loading

    def load_here(self, ref: PairRef) -> Pair:
        """A pair, loaded by the caller's own thread."""
        pair = self.get(ref)
        return self._load_now(Loading(ref)) if pair is None else pair

    def prepare(self) -> None:
        """Download, convert and load SmolLM2 in the background, as the page opens with it;
        `preparing` says how far that is, and `problem` why it cannot be had."""
        if SMOLLM2 in self.offers and not zero_gpu.ON and limits.PREPARE:
            self.preparing = self.load(PairRef(SMOLLM2, weights="disk"))

    @property
    def problem(self) -> str:
        """Why SmolLM2 cannot be had; nothing where it can, or where that is not known yet."""
        result = self.preparing and self.preparing.result
        error = result.exception() if result and result.done() else None
        if error is None:
            return ""
        reason = str(error).split(". ")[0].rstrip(".")
        return f"{reason}. {LABELS[TALES]} is used until “specviz prepare” has downloaded it."

    def _load(self, key: PairRef, loading: Loading) -> None:
        try:
            loading.result.set_result(self._load_now(loading))
        except Exception as error:
            loading.result.set_exception(error)
        except BaseException as error:  # a library in Rust panics with one of its own
            loading.result.set_exception(RuntimeError(cause(error)))
        finally:
            with self._lock:
                if self._loading.get(key) is loading:
                    del self._loading[key]

    def _load_now(self, loading: Loading) -> Pair:
        pair = self.offer(loading.ref).load(loading.ref, loading)
        with self._lock:
            while len(self._loaded) >= MAX_LOADED:
                del self._loaded[next(iter(self._loaded))]
            self._loaded[loading.ref.resolved] = pair
        gc.collect()  # of the one that had to go
        return pair


_numbers = count()
# A fork of this process knows the pairs of its page by number.
_everywhere: WeakValueDictionary[int, Pairs] = WeakValueDictionary()


def load_by_number(number: int, ref: PairRef) -> Pair:
    """`load_here` of the pairs with this number, which cannot travel to another process
    themselves."""
    return _everywhere[number].load_here(ref)


def is_intact(pair: Pair) -> bool:
    """Whether the file that a pair reads its layers from is still the one that it opened; any other
    pair is."""
    layers: Any = getattr(getattr(getattr(pair, "target", None), "direct", None), "layers", None)
    return layers.is_intact() if hasattr(layers, "is_intact") else True
