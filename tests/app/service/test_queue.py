"""The fair queue: networks, addresses and sessions take turns, and a flood takes its own places."""

import pytest

from app.service.queue import FairQueue, Full, Visitor


def filled(names, limit=200):
    queue = FairQueue(limit)
    for name in names:
        address, session, *_ = name.split()
        queue.push(Visitor(address, session), name)
    return queue


def drained(queue):
    served = []
    while (item := queue.pop()) is not None:
        served.append(item)
    return served


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        # addresses of one network, and sessions of one address, take turns
        (
            ["10.0.0.1 1", "10.0.0.1 2", "10.0.0.2 1", "10.0.0.1 3"],
            ["10.0.0.1 1", "10.0.0.2 1", "10.0.0.1 2", "10.0.0.1 3"],
        ),
        # a network has one turn, however many addresses it sends from
        (
            ["10.0.0.1 1", "10.0.0.2 1", "10.0.0.3 1", "10.0.9.1 1"],
            ["10.0.0.1 1", "10.0.9.1 1", "10.0.0.2 1", "10.0.0.3 1"],
        ),
        (
            ["2001:db8::1 1", "2001:db8::2 1", "2001:db8::3 1", "2001:db8:1::1 1"],
            ["2001:db8::1 1", "2001:db8:1::1 1", "2001:db8::2 1", "2001:db8::3 1"],
        ),
        # runs of one session come as they were asked for
        (["testclient a 1", "testclient a 2"], ["testclient a 1", "testclient a 2"]),
    ],
)
def test_turns_go_by_network_address_and_session(waiting, expected):
    queue = filled(waiting)
    assert queue.order() == expected and drained(queue) == expected


@pytest.mark.parametrize(
    "stranger",
    [lambda n: f"10.0.0.1 {n}", lambda n: f"2001:db8::{n + 1:x} 1", lambda n: f"10.0.0.{n} {n}"],
    ids=["sessions", "addresses of a /64", "addresses of a /24"],
)
def test_a_visitor_who_was_served_waits_for_one_turn_of_a_network_that_always_brings_new_ones(
    stranger,
):
    queue = filled([stranger(0), stranger(1), "192.0.2.7 me"])
    newcomers, waits, own = iter(range(2, 200)), 0, []
    for _ in range(40):
        served = queue.pop()
        if served == "192.0.2.7 me":
            own.append(waits)
            waits = 0
            queue.push(Visitor("192.0.2.7", "me"), served)
        else:
            waits += 1
        name = stranger(next(newcomers))
        queue.push(Visitor(*name.split()), name)
    assert len(own) == 20 and set(own) == {1}


class Item(str):
    """An item that knows whether it had to make room; equal only to itself."""

    ended = None
    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def end(self, error):
        self.ended = error


def test_a_full_queue_makes_room_at_the_cost_of_who_has_most():
    names = ["10.0.1.1 1", *(f"10.0.0.1 {number % 3}" for number in range(5))]
    names += ["10.0.2.1 ", "10.0.0.1 9"]
    queue, items = FairQueue(5), [Item(name) for name in names]
    dropped = []
    for item in items:
        address, _, session = item.partition(" ")
        queue.admit(Visitor(address, session), item)
        dropped += [one for one in items if one.ended and one not in dropped]
        assert len(queue) <= 5
    assert str(dropped[0]) == "10.0.0.1 1" and len(dropped) == 3
    assert all(item.startswith("10.0.0.1 ") for item in dropped)
    assert isinstance(dropped[0].ended, Full) and "queue is full" in str(dropped[0].ended)


def test_an_item_that_may_not_go_yet_keeps_its_place():
    queue = filled(["10.0.0.1 a", "10.0.1.1 b", "10.0.2.1 c"])
    queue.take("10.0.1.1 b")
    assert queue.pop() == "10.0.0.1 a" and queue.remove("10.0.2.1 c") and not queue.remove("x")
    assert queue.pop() is None and not queue._turns


def test_who_came_during_a_turn_is_before_whoever_had_it():
    queue = filled(["10.0.0.1 1", "10.0.0.1 2", "10.0.0.1 3"])
    assert queue.pop() == "10.0.0.1 1"
    other = Visitor("192.0.2.7", "me")
    queue.push(other, "192.0.2.7 me")  # while that turn lasts
    queue.rest(Visitor("10.0.0.1", "1"))
    assert queue.order() == ["192.0.2.7 me", "10.0.0.1 2", "10.0.0.1 3"]


def test_the_order_is_found_once_for_all_who_ask_and_again_when_something_changes(monkeypatch):
    queue, found = filled(["10.0.0.1 1", "10.0.0.1 2", "10.0.1.1 3"]), []
    order = FairQueue._merge
    monkeypatch.setattr(FairQueue, "_merge", lambda *args: found.append(args) or order(*args))
    first = queue.order()
    found.clear()
    assert queue.order() == first and not found
    queue.rest(Visitor("10.0.0.1", "1"))
    assert queue.order() == ["10.0.1.1 3", "10.0.0.1 2", "10.0.0.1 1"] and found
    queue.push(Visitor("10.0.2.1", "4"), "10.0.2.1 4")
    assert queue.order()[-2:] == ["10.0.2.1 4", "10.0.0.1 1"]
    assert queue.pop() == "10.0.1.1 3" and "10.0.1.1 3" not in queue.order()
