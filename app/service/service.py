"""The service that runs everything: one thread computes, and a fair queue says for whom.

A run is a generator that takes a `Turn`. The thread advances it from step to step; it yields what
its page is to get, or None between two steps. There it may be stopped, make way for others after
`SLICE` seconds, or let a short call compute. Steps are timed, so a short call computes beside one
only after it has waited for `PATIENCE` seconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from time import monotonic

from specviz.config.prompt import Prompt
from specviz.models.base import Pair

from . import limits, zero_gpu
from .admission import first_admitted
from .http.readers import Readers
from .pair_ref import PairRef
from .pairs import Pairs, load_by_number
from .process import Answer, Process, Requests
from .queue import VISITOR, Call, FairQueue, Visitor
from .queued_run import Item, Note, QueuedRun, Turn
from .run_store import RunStore
from .sizes import try_tokenizers
from .worker import Worker

SLICE = 1.0  # seconds that a run computes while others wait; who comes waits for the rest of one
PATIENCE = 5.0  # seconds that a short call waits for a step; it then computes beside it
POLL = 0.5  # seconds between two looks at what a waiting page must show
LEFT = "The page that asked for this run was closed."
TOO_LONG = "Loading the models took longer than this server allows. Choose smaller models."
STOPPING = "The server is shutting down. Try again in a minute."
CUT = "The server was shut down. What was decoded so far is shown."
END = object()


class RunService:
    """Runs and short calls of all visitors, computed one at a time.

    Args:
        pairs: that they may use.
        trials: looks at models that a visitor names.
        limit: how many runs may wait.

    Attributes:
        requests: computes what is no run, such as a lab.
        runs: those that a visitor may save.
        readers: the pages that read their messages, where a server knows them.
    """

    def __init__(
        self, pairs: Pairs, trials: Requests | None = None, limit: int = limits.QUEUE
    ) -> None:
        self.pairs = pairs
        self.runs = RunStore()
        self.readers: Readers | None = None
        self.requests = Requests(Process(limits.SECONDS), limit)
        self.trials = trials or self.requests
        self._worker = Worker("decoding", self._next)
        self._changed = self._worker.changed
        self._queue: FairQueue[QueuedRun] = FairQueue(limit)
        self._calls: FairQueue[Call] = FairQueue(limit)
        # Runs that have started, with caches in memory, and those whose turn came before their pair
        # was loaded: they stay in the queue, where they keep their place until it is.
        self._admitted: set[QueuedRun] = set()
        self._left: deque[QueuedRun] = deque()  # started runs whose page has left
        self._running: QueuedRun | None = None
        self._stopping = False

    async def stream(
        self,
        visitor: Visitor,
        ref: PairRef,
        work: Callable[..., Iterator[Item | None]],
        *args: object,
        prompts: Sequence[Prompt],
        replaces: bool = False,
    ) -> AsyncGenerator[Item | Note, None]:
        """The items of work(turn, *args), computed when it is the visitor's turn, and a `Note`
        where it has to wait. Iterate within `contextlib.aclosing`, so that it ends with its page.

        Args:
            visitor: who asks.
            ref: the pair; it is loaded if need be, while others compute.
            work, args: a generator function and what else it takes; None is not sent.
            prompts: what it decodes; tried first, elsewhere, where a visitor named the pair.
            replaces: whether it takes the place of the visitor's run of the same work, which ends.

        Raises:
            ValueError: if the queue is full, the pair cannot be had, or from the work.
        """
        if self._stopping:
            raise ValueError(STOPPING)
        if not self.pairs.offer(ref).trusted:
            await self.trials.ask(visitor, try_tokenizers, ref.target, ref.draft, prompts)
        run = QueuedRun(visitor, ref, work, args, asyncio.get_running_loop())
        with self._changed:
            for earlier in {*self._admitted, *self._queue.order()} if replaces else ():
                if earlier.visitor == visitor and earlier.work == work:
                    earlier.end()  # and its own `stream` leaves it
            # Where too many wait this ends one of them, perhaps this one: its error is seen below.
            self._queue.admit(visitor, run)
            self._worker.wake()
        last = Note("")
        due = 0.0
        try:
            while True:
                if self.readers and self.readers.have_left(visitor.session):
                    raise ValueError(LEFT)
                # What was sent comes first: an error or the end may be reported at any time.
                if run.sent:
                    yield run.sent.popleft()
                    continue
                if run.error:
                    raise run.error
                if run.over:
                    return
                if monotonic() >= due:
                    note = self.note(run)
                    # A visitor far back in the queue is told rarely: a message to each visitor at
                    # every turn would take more time than the turns.
                    due = monotonic() + max(POLL, note.ahead / 5)
                    if note.text and note != last:
                        last = note
                        yield note
                run.changed.clear()
                # What came before the event was cleared would otherwise be seen `POLL` later.
                if not (run.sent or run.over):
                    with suppress(TimeoutError):
                        await asyncio.wait_for(run.changed.wait(), POLL)
        finally:
            # However it ends: its last item, an error, Stop, or a page that was closed.
            self.leave(run)

    async def between_steps(self, work: Callable[..., Answer], *args: object) -> Answer:
        """What a short work(*args) returns, computed between two steps of a run; raises `Full`."""
        call = Call(Future(), partial(work, *args))
        with self._changed:
            self._calls.admit(VISITOR.get(), call)
            self._worker.wake()
        answer = asyncio.wrap_future(call.answer)
        await asyncio.wait([answer], timeout=PATIENCE)
        with self._changed:
            still_waits = self._calls.remove(call)
        # Whichever thread takes the call out of the queue computes it. A step that takes this long
        # is hardly disturbed.
        if still_waits:
            await asyncio.to_thread(call.compute)
        return await answer

    def leave(self, run: QueuedRun) -> None:
        """The page of a run waits for it no longer, whether it came to its end or not."""
        with self._changed:
            run.over = True
            self._queue.remove(run)
            if run.loading is not None:
                run.loading.leave()
            # The run that computes stops by itself, as its page has left. The generator of a run
            # that waits may hold caches, which are freed when it is closed.
            if run in self._admitted and run is not self._running:
                self._left.append(run)
            self._worker.wake()

    def note(self, run: QueuedRun) -> Note:
        """What to tell the page of a run that does not compute.

        Raises:
            ValueError: if loading its pair takes too long.
        """
        with self._changed:
            if run.loading is not None:
                if monotonic() > run.loading.until:
                    raise ValueError(TOO_LONG)
                return Note(run.loading.note, run.loading.done)
            # A run whose pair is being loaded can be overtaken, so it is not counted.
            order = [other for other in self._queue.order() if other.loading is None]
            # One that has begun waits only for its next slice, of which nothing is said.
            if run not in order or run.items is not None:
                return Note("")
            computes = self._running is not None and not self._running.over
            ahead = order.index(run) + computes
        runs = "1 run is" if ahead == 1 else f"{ahead} runs are"
        return Note(f"Waiting: {runs} before yours." if ahead else "", ahead=ahead)

    def shut_down(self, seconds: float = 7.0) -> None:
        """Begin no run, and end those that do not end by themselves in time with a sentence."""
        self._stopping = True
        with self._changed:
            for run in self._queue.order():
                if run.items is None:  # it waits for its first turn, not for its next slice
                    self._queue.remove(run)
                    run.end(ValueError(STOPPING))
            self._changed.wait_for(lambda: not self._admitted, timeout=seconds)
            for run in self._admitted:
                run.end(ValueError(CUT))
            self._worker.wake()
        self.requests.process.end()
        self.trials.process.end()

    # ---- the thread that computes ----

    def _next(self) -> Callable[[], None] | None:
        """What the thread does now; None where nothing may be done."""
        if self._left:
            return partial(self._free, self._left.popleft())
        call = self._calls.pop()
        if call is not None:
            return call.compute
        while run := first_admitted(self._queue.order(), self._admitted):
            self._admitted.add(run)
            # A borrowed GPU is in another process, which loads the pair itself.
            if not zero_gpu.ON and run.pair is None:
                run.pair = self.pairs.get(run.ref)
            if zero_gpu.ON or run.pair is not None:
                self._queue.take(run)
                self._running = run
                return partial(self._advance, run)
            # Loading takes seconds to minutes, in a thread of its own; others compute meanwhile.
            run.loading = self.pairs.load(run.ref, run.visitor)
            run.loading.result.add_done_callback(partial(self._loaded, run))
            run.tell()
        return None

    def _loaded(self, run: QueuedRun, result: Future[Pair]) -> None:
        """Its pair is loaded, or cannot be."""
        with self._changed:
            run.loading = None
            error = result.exception()
            if error is None:
                run.pair = result.result()
            else:
                self._queue.remove(run)
                self._admitted.discard(run)
                run.end(error)
            self._worker.wake()

    def _advance(self, run: QueuedRun) -> None:
        """Compute for a run until it ends, or its slice of time does while others wait."""
        started = monotonic()
        failure: BaseException | None = None
        try:
            if run.items is None:
                load = partial(load_by_number, self.pairs.number, run.ref) if zero_gpu.ON else None
                turn = Turn(run.pair, self.others_wait, load)
                run.items = run.work(turn, *run.args)
            while not run.over:
                with self._changed:
                    call = self._calls.pop()
                if call:
                    call.compute()
                # One step, which nothing interrupts: what is to be asked is asked between two.
                item = next(run.items, END)
                if item is END:
                    break
                if item is not None:
                    run.send(item)
                if monotonic() - started >= SLICE and self.others_wait():
                    with self._changed:  # it waits again, and keeps its caches
                        self._queue.push(run.visitor, run)
                        self._queue.rest(run.visitor)
                        self._running = None
                    return
        except BaseException as error:  # whatever it is, the next run has its turn
            failure = error
        self._free(run, failure)

    def others_wait(self) -> bool:
        """Whether a run waits behind the one that computes."""
        with self._changed:
            return any(run.loading is None for run in self._queue.order())

    def _free(self, run: QueuedRun, error: BaseException | None = None) -> None:
        """End a run and free its caches and its place."""
        try:
            if isinstance(run.items, Generator):
                run.items.close()  # it may keep what it has so far
        except BaseException:
            logging.getLogger(__name__).exception("a run failed as it ended")
        run.items = run.pair = None
        run.end(error)
        with self._changed:
            self._queue.rest(run.visitor)
            self._admitted.discard(run)
            if self._running is run:
                self._running = None
            self._worker.wake()
