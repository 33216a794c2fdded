"""One fair queue: next comes the session served least recently, of the address served least
recently.

Gradio's queue holds the runs and measurements, `Slots` everything else that may take long; both use
one `Order`.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from contextvars import ContextVar
from itertools import count
from statistics import median
from threading import Event as Signal
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import gradio as gr
from gradio.context import LocalContext
from gradio.queueing import Queue
from gradio.server_messages import ProcessCompletedMessage
from gradio.state_holder import StateHolder
from gradio.utils import run_coro_in_background

from . import limits

T = TypeVar("T")
ID = "machine"
MACHINE = {"concurrency_limit": 1, "concurrency_id": ID}  # of every event that decodes
SLICE = 5.0  # seconds that a run computes while others wait, until it pauses
MAX_PAUSED = 12  # runs; each holds a thread and its caches
UNREAD, FORGET = (
    10.0,
    60.0,
)  # seconds after which the runs of a page that reads no messages end, and its messages go
MAX_SERVED = 10_000  # visitors whose last turn is remembered
FULL = "The queue is full ({} requests wait). Try again in a minute; nothing was lost."
_END = object()


class Visitor(NamedTuple):
    """Who sends a request."""

    address: str  # of the client, or the one that a trusted proxy names
    session: str = ""  # of the page; empty where the request names none


VISITOR: ContextVar[Visitor] = ContextVar("visitor")  # of the request that is being answered


class Order:
    """Who was served when, and the order that follows from it."""

    def __init__(self) -> None:
        self._served: OrderedDict[Any, int] = OrderedDict()
        self._number = count(1)

    def serve(self, visitor: Visitor) -> None:
        """Count a turn of a visitor."""
        for key in (visitor.address, visitor):
            self._served[key] = next(self._number)
            self._served.move_to_end(key)
        while len(self._served) > MAX_SERVED:
            self._served.popitem(last=False)

    def sort(self, waiting: Iterable[T], visitor_of: Callable[[T], Visitor]) -> list[T]:
        """The items, which come as they arrived, in the order in which they are served if nobody
        else comes."""

        def take_turns(items: list[T], key: Callable[[T], Any]) -> list[T]:
            rounds = Counter[Any]()
            places = []
            for owner in map(key, items):
                places.append((rounds[owner], self._served.get(owner, 0)))
                rounds[owner] += 1
            return [items[i] for i in sorted(range(len(items)), key=places.__getitem__)]

        return take_turns(
            take_turns(list(waiting), visitor_of), lambda item: visitor_of(item).address
        )


ORDER = Order()  # a machine has one


class RecentTime:
    """How long events of one kind took of late, as gradio's estimate of the wait reads it."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=9)

    def add(self, seconds: float) -> None:
        self._seconds.append(seconds)

    @property
    def avg_time(self) -> float:
        """The median in seconds; what lasts longer lets others go first."""
        return min(median(self._seconds), SLICE) if self._seconds else 0.0


def visitor_of(event: Any) -> Visitor:
    """Who waits for an event of gradio's queue, looked up once."""
    if not hasattr(event, "visitor"):
        client = getattr(event.request, "client", None)
        event.visitor = Visitor(client.host if client else "", event.session_hash)
    return event.visitor


class FairQueue(Queue):
    """Gradio's queue in fair order, where runs pause for others and end with the page that asked
    for them."""

    def __init__(
        self, blocks: gr.Blocks, max_size: int = limits.QUEUE, order: Order = ORDER
    ) -> None:
        super().__init__(True, blocks.max_threads, 1, max_size, blocks, default_concurrency_limit=4)
        self.order, self.limit = order, max_size
        self.max_size = None  # `push` makes room
        self.process_time_per_fn: Any = defaultdict(RecentTime)
        self._paused: dict[str, Signal] = {}
        self._began = 0.0  # when the run that computes got its turn

    def __len__(self) -> int:
        return super().__len__() + len(
            self._paused
        )  # which keeps gradio looking for whose turn is next

    def start(self) -> None:
        super().start()
        run_coro_in_background(self._end_unread)

    async def push(self, body: Any, request: Any, username: Any) -> Any:
        """Add an event; at the limit, whoever would be served last is rejected, who may have waited
        already."""
        success, event_id, state = await super().push(body=body, request=request, username=username)
        event = self.event_ids_to_events.get(event_id) if success else None
        if event is None:
            return success, event_id, state
        lines = self.event_queue_per_concurrency_id
        waiting = sorted(
            (one for line in lines.values() for one in line.queue), key=lambda one: one.enqueue_time
        )
        if len(waiting) > self.limit:
            last, text = self.order.sort(waiting, visitor_of)[-1], FULL.format(self.limit)
            lines[last.concurrency_id].queue.remove(last)
            self.event_ids_to_events.pop(last._id, None)
            if last is event:
                self.pending_event_ids_session[event.session_hash].discard(event_id)
                return False, text, "queue_full"
            self.send_message(last, ProcessCompletedMessage(output={"error": text}, success=False))
        line = lines[event.concurrency_id]
        self._sort(line)
        self.broadcast_estimations(
            line.concurrency_id, line.queue.index(event) if event in line.queue else None
        )
        return success, event_id, state

    def get_events(self) -> Any:
        """The next event, unless a paused run goes on."""
        line = self.event_queue_per_concurrency_id.get(ID)
        if line:
            active = {event._id for events in self.active_jobs if events for event in events}
            paused = [
                self.event_ids_to_events[name] for name in list(self._paused) if name in active
            ]
            if line.current_concurrency <= len(paused):  # nobody computes
                first = self.order.sort([*line.queue, *paused], visitor_of)[:1]
                if first and first[0] in paused:
                    self._serve(first[0])
                    self._paused.pop(first[0]._id).set()
                    paused.remove(first[0])
            line.concurrency_limit = 1 + len(paused)
        events = super().get_events()
        if events:
            self._serve(events[0][0])
        return events

    def _serve(self, event: Any) -> None:
        self.order.serve(visitor_of(event))
        for line in self.event_queue_per_concurrency_id.values():
            self._sort(line)
        if event.concurrency_id == ID:
            self._began = monotonic()

    def _sort(self, line: Any) -> None:
        line.queue[:] = self.order.sort(
            sorted(line.queue, key=lambda event: event.enqueue_time), visitor_of
        )

    @property
    def waiting(self) -> int:
        """How many runs wait behind the one that computes."""
        line = self.event_queue_per_concurrency_id.get(ID)
        return (len(line.queue) if line else 0) + len(self._paused)

    def pause(self, event_id: str) -> None:
        """Let others compute between two steps of a run that had its `SLICE`; a `ValueError` if its
        page has left."""
        event, line = (
            self.event_ids_to_events.get(event_id),
            self.event_queue_per_concurrency_id.get(ID),
        )
        if (
            not event
            or not line
            or monotonic() - self._began < SLICE
            or len(self._paused) >= MAX_PAUSED
        ):
            return
        if all(visitor_of(other) == visitor_of(event) for other in line.queue) and not self._paused:
            return
        signal = self._paused[event_id] = Signal()
        while not signal.wait(0.2):
            if not event.alive or event_id not in self.event_ids_to_events:
                self._paused.pop(event_id, None)
                raise ValueError("The page that asked for this run was closed.")

    async def _end_unread(self) -> None:
        """End the runs of pages that no longer read their messages, and forget those messages."""
        oldest: dict[
            str, tuple[Any, float]
        ] = {}  # session -> its first unread message, and since when
        while not self.stopped:
            now, sessions = monotonic(), self.pending_messages_per_session
            unread = {
                name: messages._queue[0]
                for name, messages in list(sessions.items())
                if messages.qsize()
            }
            oldest = {
                name: oldest[name] if name in oldest and oldest[name][0] is first else (first, now)
                for name, first in unread.items()
            }
            for name, (_, since) in oldest.items():
                if now - since > UNREAD:
                    await self.clean_events(session_hash=name)
                if now - since > FORGET:
                    sessions.pop(name, None)
            for name in self.pending_event_ids_session.keys() - sessions.keys():
                del self.pending_event_ids_session[name]
            await asyncio.sleep(UNREAD / 10)


def pause_for_others() -> None:
    """`FairQueue.pause` for the run whose step has just ended, if it is one of a page."""
    blocks, event_id = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    if event_id and isinstance(queue := getattr(blocks, "_queue", None), FairQueue):
        queue.pause(event_id)


def until_run_waits(rounds: Iterator[T]) -> Iterator[T]:
    """The items of `rounds` while no run waits; then it is closed."""
    queue = getattr(LocalContext.blocks.get(None), "_queue", None)
    with closing(rounds):  # type: ignore[type-var]
        while not getattr(queue, "waiting", 0) and (item := next(rounds, _END)) is not _END:
            yield item  # type: ignore[misc]


def current_visitor() -> Visitor:
    """Who sent the request, or asked for the event, that is being answered."""
    visitor, request = VISITOR.get(Visitor("")), LocalContext.request.get(None)
    if not visitor.address and getattr(request, "client", None):
        return Visitor(request.client.host, getattr(request, "session_hash", None) or "")
    return visitor


class FairStates(StateHolder):
    """What gradio keeps of each page; where there are too many, the address with the most loses its
    oldest."""

    def __init__(self, blocks: Any) -> None:
        super().__init__()
        self.set_blocks(blocks)
        self._owners: dict[str, str] = {}

    def update(self, session_id: str) -> None:
        """Count a use of a session, and make room."""
        with self.lock:
            self._owners.setdefault(session_id, current_visitor().address)
            if session_id in self.session_data:
                self.session_data.move_to_end(session_id)
            while len(self.session_data) > self.capacity:
                owner = Counter(self._owners[name] for name in self.session_data).most_common(1)[0][
                    0
                ]
                oldest = next(name for name in self.session_data if self._owners[name] == owner)
                for table in (self.session_data, self.time_last_used, self._owners):
                    table.pop(oldest, None)
