"""The fair queue: whose turn is next, what a flood costs others, how a long run makes way, and who
loses a place."""

import asyncio
import json
import threading
from time import monotonic, sleep

import gradio as gr
import httpx
import pytest

from app.machine import queue
from app.machine.pool import Full, Slots
from app.machine.queue import MACHINE, FairQueue, Order, Visitor
from app.page import launch
from tests.loops import in_a_loop

WAIT = 120


def order(served, waiting):
    """The order of items "address session" after those in `served` had their turn."""
    turns = Order()
    for item in served:
        turns.serve(Visitor(*item.split()))
    return turns.sort(waiting, lambda item: Visitor(*item.split()))


@pytest.mark.parametrize(
    ("served", "waiting", "expected"),
    [
        ([], ["a 1", "a 2", "b 1", "a 3"], ["a 1", "b 1", "a 2", "a 3"]),
        (["a 1"], ["a 1", "a 1", "a 2", "b 1"], ["b 1", "a 2", "a 1", "a 1"]),
        (["b 1", "a 1"], ["a 2", "b 2", "c 1"], ["c 1", "b 2", "a 2"]),
        (["a 2", "a 1"], ["a 1", "a 2", "a 1"], ["a 2", "a 1", "a 1"]),
    ],
)
def test_the_address_then_the_session_served_least_recently_comes_next(served, waiting, expected):
    assert order(served, waiting) == expected


class Gate:
    """A small page with one event, which computes when it gets a permit, and clients of it."""

    def __init__(self, limit=200, parts=1):
        self.permits, self.served, self.parts = threading.Semaphore(0), [], parts

        def generate(name: str) -> str:  # type: ignore[misc]
            for _ in range(self.parts):
                assert self.permits.acquire(timeout=WAIT)
                self.served.append(name)
                yield name
                queue.pause_for_others()

        with gr.Blocks() as self.demo:
            gr.api(generate, api_name="generate", **MACHINE)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "app.page.queue.FairQueue", lambda blocks: FairQueue(blocks, limit, Order())
            )
            _, self.url, _ = launch(
                self.demo,
                prevent_thread_lock=True,
                quiet=True,
                server_name="127.0.0.1",
                css_paths=[],
            )
        self.queue, self.joined = self.demo._queue, 0

    async def visit(self, client, address, session):
        """Join the queue and read the messages, if it is no flood: the first says that they are
        none."""
        body = {
            "data": [f"{address} {session}"],
            "fn_index": 0,
            "session_hash": f"{address}-{session}",
        }
        answer = await client.post(
            "gradio_api/queue/join", json=body, headers={"X-Forwarded-For": address}
        )
        self.joined += 1
        messages = [{"msg": "none"}]
        if answer.status_code == 200 and session != "flood":
            parameters = {"session_hash": body["session_hash"]}
            async with client.stream("GET", "gradio_api/queue/data", params=parameters) as lines:
                async for line in lines.aiter_lines():
                    if line.startswith("data:"):
                        messages.append(json.loads(line[5:]))
                        if messages[-1]["msg"] == "process_completed":
                            break
        return messages

    def visits(self, visitors, permits=10**6):
        """The messages to all visitors, who join in this order and before anybody gets a permit."""

        async def together():
            limits = httpx.Limits(max_connections=500)
            async with httpx.AsyncClient(
                base_url=self.url, timeout=WAIT, trust_env=False, limits=limits
            ) as client:
                tasks = []
                for number, visitor in enumerate(visitors, 1):
                    tasks.append(asyncio.create_task(self.visit(client, *visitor)))
                    while self.joined < number:
                        await asyncio.sleep(0.001)
                self.permits.release(permits)
                return await asyncio.gather(*tasks)

        self.joined = 0
        return in_a_loop(together())


@pytest.fixture
def gate(request):
    page = Gate(*getattr(request, "param", ()))
    yield page
    page.permits.release(10**6)
    page.demo.close(verbose=False)


def until(condition):
    end = monotonic() + WAIT
    while not condition():
        assert monotonic() < end
        sleep(0.01)


def success(messages):
    return messages[-1]["msg"] == "process_completed" and messages[-1]["success"]


@pytest.mark.parametrize(
    "visitors",
    [
        [("10.0.0.1", str(number)) for number in range(30)],
        [(f"10.0.0.{number}", "1") for number in range(30)],
    ],
    ids=["behind one address", "behind thirty"],
)
def test_a_class_of_thirty_is_served_and_learns_its_place(gate, visitors):
    found = gate.visits(visitors)
    assert all(map(success, found)) and gate.served == [" ".join(visitor) for visitor in visitors]
    places = [
        next(one["rank"] for one in messages if one["msg"] == "estimation")
        for messages in found[1:]
    ]
    assert places == list(range(29))


def test_a_flood_of_200_delays_another_address_by_one_run(gate):
    flood = [("10.0.0.1", "flood")] * 200
    found = gate.visits([*flood[:150], ("10.0.0.2", "1"), ("10.0.0.1", "class"), *flood[150:]])
    assert (
        gate.served[1:3] == ["10.0.0.2 1", "10.0.0.1 class"]
        and success(found[150])
        and success(found[151])
    )


@pytest.mark.parametrize("gate", [(4,)], indirect=True)
def test_a_full_queue_makes_room_at_the_cost_of_who_would_be_served_last(gate):
    flood = [
        ("10.0.0.1", f"{number}") for number in range(6)
    ]  # one computes, four wait, one is rejected
    found = gate.visits([*flood, ("10.0.0.2", "1")])
    assert [messages[-1]["msg"] == "none" for messages in found] == [False] * 5 + [True, False]
    assert [success(messages) for messages in found] == [True] * 4 + [False, False, True]
    assert "queue is full" in found[4][-1]["output"]["error"]


@pytest.mark.parametrize("gate", [(200, 3)], indirect=True)
def test_a_long_run_pauses_for_others_and_continues(gate, monkeypatch):
    monkeypatch.setattr(queue, "SLICE", 0.0)
    found = gate.visits([("10.0.0.1", "long"), ("10.0.0.2", "1")])
    assert (
        all(map(success, found))
        and sorted(gate.served) == ["10.0.0.1 long"] * 3 + ["10.0.0.2 1"] * 3
    )
    assert gate.served[1] == "10.0.0.2 1", "it goes first after one part of the long run"
    assert not gate.queue._paused and not gate.queue.waiting


@pytest.mark.parametrize("gate", [(200, 50)], indirect=True)
def test_a_page_that_left_loses_its_place_and_its_run(gate, monkeypatch):
    monkeypatch.setattr(queue, "UNREAD", 0.3)
    with httpx.Client(base_url=gate.url, timeout=WAIT, trust_env=False) as client:
        for session in ("runs", "waits"):  # nobody reads their messages
            body = {"data": [session], "fn_index": 0, "session_hash": session}
            assert client.post("gradio_api/queue/join", json=body).status_code == 200
            gate.permits.release()
        until(lambda: not gate.queue.waiting)
    gate.permits.release(100)
    until(lambda: not any(gate.queue.active_jobs))
    assert "waits" not in gate.served and 1 <= gate.served.count("runs") < 50


def test_the_wait_that_is_shown_is_of_recent_runs():
    times = queue.RecentTime()
    for seconds in (300.0, 1.0, 2.0, 1.0, 2.0, 3.0):
        times.add(seconds)
    assert times.avg_time == 2.0


def test_slots_are_given_in_fair_order_and_the_last_is_rejected_where_too_many_wait():
    async def many():
        slots, done, gate = Slots(1, limit=3, order=Order()), [], asyncio.Event()

        async def wait(address, session):
            queue.VISITOR.set(Visitor(address, session))
            async with slots.turn():
                await gate.wait()
                done.append(f"{address} {session}")

        tasks = []
        for who in ("a 1", "a 1", "a 1", "a 2", "b 1"):
            tasks.append(asyncio.create_task(wait(*who.split())))
            await asyncio.sleep(0.01)
        tasks.append(asyncio.create_task(wait("c", "1")))
        await asyncio.sleep(0.01)
        tasks[3].cancel()
        gate.set()
        return await asyncio.gather(*tasks, return_exceptions=True), done

    answers, done = in_a_loop(many())
    assert [type(answer) for answer in answers[1:4]] == [Full, Full, asyncio.CancelledError]
    assert done == ["a 1", "b 1", "c 1"]
