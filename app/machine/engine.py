"""The engine behind the page: pairs, loaded when they are first needed, and one run at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, wait
from contextvars import copy_context
from itertools import count, takewhile
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import gradio as gr

from specviz.config.run_config import RunConfig
from specviz.record.step import Step

from . import limits, zero_gpu
from .pool import machine_turn
from .queue import pause_for_others

PACE = 0.25  # seconds of decoding that travel to the page together, which plays two steps a second
MAX_LOADED = 2  # pairs that are kept in memory
LEAVE = 0.2  # seconds to wait for the last step of a run without a reader
POLL = 0.2  # seconds between two looks at a pair that is being loaded
LOADING = "Loading the models. This happens once."
_ENDED, _numbers = object(), count()


class Engine:
    """Pairs that are loaded when they are first needed, and a lock because a machine can time one
    run at a time.

    Args:
        load: title -> returns that pair; or only a function, where there is one pair.
        other: what a visitor types in place of a title -> returns a function that loads it; None
            where none may.
        hub: offers more, in `hub.pairs`, to visitors that can reach it; None where nothing may be
            fetched.
    """

    def __init__(
        self,
        load: Callable[[], Any] | dict[str, Callable[[], Any]],
        other: Callable[[str], Callable[[], Any]] | None = None,
        hub: Any = None,
    ) -> None:
        self._loads = load if isinstance(load, dict) else {"This pair": load}
        self.other, self.hub = other, hub
        self.own: dict[
            str, str
        ] = {}  # pairs that visitors of this machine loaded, as they named them -> for a menu
        self._pairs: dict[str, Any] = {}  # the one used last comes last
        self._loading, self._counting, self._computing = Lock(), Lock(), 0
        self._under_way: dict[str, tuple[Callable, Future]] = {}  # pairs that are being loaded
        self._waiting: dict[str, int] = {}  # how many visitors wait for them
        self._number = next(_numbers)
        _engines[self._number] = self

    @property
    def titles(self) -> list[str]:
        """All pairs; the first is the default."""
        return list(self._loads)

    def holds(self, title: str) -> bool:
        """Whether a pair is in memory."""
        return title in list(self._pairs)

    def take(self, title: str | None = None, load: Callable[[], Any] | None = None) -> Any:
        """A pair, loaded if need be; raises a `ValueError` if there is none of that title, or it
        cannot be loaded."""
        title = self.titles[0] if title is None else title
        load = load or self._loader(title)
        with self._loading:
            pair = self._pairs.pop(title, None)
            if pair is None:
                check = getattr(load, "check", None)
                pair = (
                    check() if check else load()
                )  # one that cannot be loaded takes no other's room
                while len(self._pairs) >= MAX_LOADED:
                    del self._pairs[next(iter(self._pairs))]
                pair = load() if check else pair
            self._pairs[title] = pair
            return pair

    def _loader(self, title: Any) -> Callable[[], Any]:
        if title in list(self._loads):
            return self._loads[title]
        if self.hub is not None and title in self.hub.pairs:
            return self.hub.pairs[title]
        if self.other is None or not isinstance(title, str):
            raise ValueError(
                f"Model pair must be one of {', '.join(self._loads)}; got {str(title)[:40]!r}."
            )
        return self.other(title)

    def loading(self, title: str | None = None) -> Iterator[str]:
        """Load a pair if necessary; yields a message for the visitor while it is loading.

        It is loaded in a thread of its own, so that a visitor who leaves meanwhile frees the
        machine at once. The next who asks for the same pair waits for the same thread. Raises a
        `ValueError` as `take` does.
        """
        title = self.titles[0] if title is None else title
        load = self._loader(title)
        if zero_gpu.ON or self.holds(title):  # a borrowed GPU loads its own
            return
        while others := [
            future for name, (_, future) in list(self._under_way.items()) if name != title
        ]:
            # what a visitor who left had begun to load would disturb the clocks of the next
            yield LOADING
            wait(others, POLL)
        load, under_way = self._under_way.get(title, (load, None))
        if under_way is None:
            load, under_way = self._under_way[title] = load, Future()
            Thread(target=self._load, args=(title, load, under_way), daemon=True).start()
        self._waiting[title] = self._waiting.get(title, 0) + 1
        try:
            yield LOADING
            while not wait([under_way], POLL).done:
                yield getattr(load, "status", "") or LOADING
        finally:
            self._waiting[title] -= 1
            if not self._waiting[title] and hasattr(load, "stop"):
                load.stop()  # no visitor waits for it; the next one loads it anew
                self._under_way.pop(title, None)
        under_way.result()

    def _load(self, title: str, load: Callable[[], Any], under_way: Future) -> None:
        try:
            under_way.set_result(self.take(title, load))
        except Exception as error:
            under_way.set_exception(error)
        finally:
            if self._under_way.get(title, (load, None))[1] is under_way:
                self._under_way.pop(title, None)

    def compute(
        self, work: Callable[..., Iterator[Any]], *args: Any, title: str | None = None
    ) -> Iterator[Any]:
        """The items of work(pair, *args), computed where the models are: here, or on ZeroGPU.

        Args:
            work: a generator function of a module.
            args: plain data that can travel to another process.
            title: of the pair; the first where it is None.
        """
        items = _computed(self._number, self.titles[0] if title is None else title, work, args)
        with self._counting:
            self._computing += 1
        try:
            while True:
                pause_for_others()
                with (
                    machine_turn()
                ):  # a step that goes on after its visitor has left keeps the machine until it ends
                    item = next(items, _ENDED)
                if item is _ENDED:
                    return
                if isinstance(item, _Rejected):
                    raise ValueError(item.sentence)
                yield item
        except gr.Error as error:
            raise ValueError(re.sub(r"<[^>]*>", "", f"{error.title}: {error.message}")) from error
        finally:
            items.close()
            with self._counting:
                self._computing -= 1

    @property
    def busy(self) -> bool:
        """Whether a run or a measurement is under way."""
        return self._computing > 0


_engines: WeakValueDictionary[int, Engine] = (
    WeakValueDictionary()
)  # another process knows them by number


class _Rejected(NamedTuple):
    sentence: str


def _gpu_seconds(engine: int, title: str, work: Callable, args: tuple) -> int:
    values = [value for arg in args for value in (arg if isinstance(arg, tuple) else (arg,))]
    return limits.gpu_seconds([value for value in values if isinstance(value, RunConfig)])


@zero_gpu.gpu(_gpu_seconds)
def _computed(
    engine: int, title: str, work: Callable[..., Iterator[Any]], args: tuple
) -> Iterator[Any]:
    try:
        yield from work(_engines[engine].take(title), *args)
    except ValueError as error:
        if not zero_gpu.ON:
            raise
        yield _Rejected(str(error))  # only the name of an exception would travel back


def batch_by_time(steps: Iterator[Step], pace: float = PACE) -> Iterator[list[Step]]:
    """Groups of `pace` seconds of decoding, so that a slow page gets fewer messages, never a slow
    engine.

    The first step travels alone, and what was decoded before a failure is handed on before the
    failure is.
    """
    group: list[Step] = []
    spent = pace
    try:
        for step in steps:
            group.append(step)
            spent += step.seconds.total
            if spent >= pace:
                yield group
                group, spent = [], 0.0
    except Exception:
        if group:
            yield group
        raise
    if group:
        yield group


def prefetch(
    steps: Iterator[Any], grouped: Callable[[Iterator[Any]], Iterable[list[Any]]] = batch_by_time
) -> Generator[list[Any], None, None]:
    """Decode in a separate thread, which never waits for the page: what accumulates is handed over
    as one group.

    A failure comes after all that was decoded before it. When the reader stops, the thread ends
    within one step; the length of the run limits the number of stored steps. Closing does not wait
    for a slow step, because the reader may be the server itself. `grouped` makes groups of steps,
    or of messages on them, between two steps.
    """
    done: SimpleQueue[list[Any] | Exception | None] = SimpleQueue()
    left = Event()

    def decode() -> None:
        try:
            for group in grouped(takewhile(lambda _: not left.is_set(), steps)):
                done.put(group)
            done.put(None)
        except Exception as error:
            done.put(error)

    thread = Thread(target=copy_context().run, args=(decode,), name="decoding", daemon=True)
    thread.start()
    try:
        group: list[Any] | Exception | None = []
        while isinstance(group, list):
            items: list[Any] = []
            while isinstance(group := done.get(), list):
                items += group
                if done.empty():
                    break
            if items:
                yield items
        if group is not None:
            raise group
    finally:
        left.set()
        thread.join(LEAVE)
