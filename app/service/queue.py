"""A fair, bounded queue: subnets take turns, then the addresses of a subnet, then the sessions of
an address.

Each of them stands once in the line of its peers. Who comes, or was just served, stands at the end
of it. So a visitor waits for at most one turn of each subnet that was there before him, however
often or from however many sessions the others ask.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from itertools import chain, count, zip_longest
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    import gradio as gr  # which the other process does without

FULL = "The queue is full ({} requests wait). Try again in a minute; nothing was lost."
PREFIX = {4: 24, 6: 64}  # bits of an address that its owner cannot choose
LEVELS = 3  # subnet, address, session


class Full(ValueError):
    """The queue is full."""


class Waiting(Hashable, Protocol):
    """What may stand in a queue."""

    def end(self, error: Exception) -> None:
        """End it with an error, before its turn came."""


Item = TypeVar("Item", bound=Waiting)


class Call(NamedTuple):
    """A short call that waits for its turn."""

    answer: Future[Any]
    work: Callable[[], Any]

    def compute(self) -> None:
        """Answer the call, unless whoever asked has left."""
        if not self.answer.set_running_or_notify_cancel():
            return
        try:
            self.answer.set_result(self.work())
        except BaseException as error:  # whatever it is, the next one has its turn
            self.answer.set_exception(error)

    def end(self, error: Exception) -> None:
        """Answer the call with an error."""
        self.answer.set_exception(error)


@dataclass(frozen=True)
class Visitor:
    """Who sends a request."""

    address: str  # of the client, or the one that a trusted proxy names
    session: str = ""  # of the page; empty where the request names none

    @cached_property  # every turn asks it of all who wait
    def subnet(self) -> str:
        """The part of the address that its owner cannot change: /24 of IPv4, /64 of IPv6."""
        try:
            parsed: IPv4Address | IPv6Address = ip_address(self.address)
        except ValueError:
            return self.address
        if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped:
            parsed = parsed.ipv4_mapped
        return str(ip_network((parsed, PREFIX[parsed.version]), strict=False))

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The groups that a visitor belongs to, from the largest to himself."""
        return (
            (self.subnet,),
            (self.subnet, self.address),
            (self.subnet, self.address, self.session),
        )


NOBODY = Visitor("")
# Who sent the request that is being answered; events of gradio's queue have another context, and
# ask `visitor_of`.
VISITOR: ContextVar[Visitor] = ContextVar("visitor", default=NOBODY)


def visitor_of(request: gr.Request | None) -> Visitor:
    """Who sent a `gradio.Request`; also where a test calls a handler without one."""
    client = getattr(request, "client", None)
    session = getattr(request, "session_hash", None)
    return Visitor(getattr(client, "host", "") or "", session or "")


class _Place(NamedTuple):
    number: int  # in the order of arrival
    groups: tuple[tuple[str, ...], ...]


class FairQueue(Generic[Item]):
    """Items of visitors, no two of them equal; whoever uses it from several threads holds a lock.

    Args:
        limit: how many may wait.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._places: dict[Item, _Place] = {}
        self._numbers = count()
        # Where each group stands among its peers: the number of its arrival or of its last turn.
        self._turns: dict[tuple[str, ...], int] = {}
        # The items in the order of their turns, until something changes: all who wait ask for it
        # again and again, and in a flood it was a quarter of what the server did.
        self._ordered: list[Item] | None = None

    def __len__(self) -> int:
        return len(self._places)

    def admit(self, visitor: Visitor, item: Item) -> None:
        """Add an item; where too many wait, one of them, perhaps the same, ends with `Full`."""
        # Added first, then one is removed: the new item may be of a visitor with too many places.
        self.push(visitor, item)
        if len(self._places) <= self.limit:
            return
        # The newest of the session with the most items, of the address with the most, of the
        # subnet with the most makes room: a flood takes its own places only.
        sizes: Counter[tuple[str, ...]] = Counter()
        for place in self._places.values():
            sizes.update(place.groups)

        def weight(item: Item) -> tuple[list[int], int]:
            place = self._places[item]
            return [sizes[group] for group in place.groups], place.number

        last = max(self._places, key=weight)
        self.remove(last)
        last.end(Full(FULL.format(self.limit)))

    def push(self, visitor: Visitor, item: Item) -> None:
        """Add an item, whatever the limit."""
        place = _Place(next(self._numbers), visitor.groups)
        for group in place.groups:
            # A group that stands in the line keeps its place there: who sends many requests is not
            # served sooner, and not later either.
            self._turns.setdefault(group, place.number)
        self._places[item] = place
        self._ordered = None

    def pop(self) -> Item | None:
        """Take the item whose turn it is; None if there is none."""
        item = next(iter(self.order()), None)
        if item is not None:
            self.take(item)
        return item

    def take(self, item: Item) -> None:
        """Take out an item because its turn has come."""
        # The whole subnet goes to the end, not only the visitor: it may have any number of
        # addresses and sessions that never had a turn.
        for group in self._places[item].groups:
            self._turns[group] = next(self._numbers)
        self.remove(item)

    def rest(self, visitor: Visitor) -> None:
        """Whose turn has just ended stands at the end, also behind those who came meanwhile."""
        for group in visitor.groups:
            if group in self._turns:  # else nobody of it waits, and it has no place to lose
                self._turns[group] = next(self._numbers)
        self._ordered = None

    def remove(self, item: Item) -> bool:
        """Take out an item that has no turn; whether it was there."""
        place = self._places.pop(item, None)
        if place is None:
            return False
        self._ordered = None
        # A group without items is forgotten, or memory would grow with every address that
        # ever came; who comes back stands at the end, as a newcomer does.
        remaining = set(chain.from_iterable(other.groups for other in self._places.values()))
        for group in place.groups:
            if group not in remaining:
                self._turns.pop(group, None)
        return True

    def order(self) -> list[Item]:
        """All items in the order of their turns, if nobody else comes."""
        if self._ordered is None:
            self._ordered = self._merge(list(self._places), 0)
        return self._ordered

    def _merge(self, items: list[Item], level: int) -> list[Item]:
        """Items of one group in the order of their turns: the lines of its members, which are
        ordered in the same way, are merged."""
        if level == LEVELS:
            return sorted(items, key=lambda item: self._places[item].number)
        members: dict[tuple[str, ...], list[Item]] = {}
        for item in items:
            members.setdefault(self._places[item].groups[level], []).append(item)
        lines = []
        for group in sorted(members, key=self._turns.__getitem__):
            lines.append(self._merge(members[group], level + 1))
        # The first of each line, then the second of each: whoever had a turn goes to the end.
        rounds = zip_longest(*lines)
        return [item for item in chain.from_iterable(rounds) if item is not None]
