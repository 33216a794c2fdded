"""The service without a server: whose run computes when, what ends it, and what survives."""

import asyncio
import gc
import threading
from contextlib import aclosing
from types import SimpleNamespace

import pytest

import specviz
from app.service import service as module
from app.service.pair_ref import PairRef
from app.service.pairs import Pairs
from app.service.queue import Full, Visitor
from app.service.queued_run import Note
from app.service.service import RunService
from tests.loops import WAIT, in_a_loop, is_busy, one_pair, until, until_later

REF = PairRef("This pair")


class Panic(BaseException):
    """As libraries in Rust raise it."""


class Gate:
    """A service with one pair, whose runs take a permit for every part."""

    def __init__(self, limit=200, pairs=None):
        self.service = RunService(pairs or one_pair(specviz.toy_pair), limit=limit)
        if pairs is None:
            self.service.pairs.load_here(REF)
        self.permits, self.served = threading.Semaphore(0), []

    def work(self, turn, name, parts):
        for part in range(parts):
            assert self.permits.acquire(timeout=WAIT)
            self.served.append(name)
            yield part

    async def visit(self, visitor, parts=1, ref=REF, work=None, items=None, **options):
        """All that a visitor gets, notes included; `items` shows it as it comes."""
        items = [] if items is None else items
        name = f"{visitor.address} {visitor.session}"
        job = (work or self.work, name, parts)
        stream = self.service.stream(visitor, ref, *job, prompts=(), **options)
        async with aclosing(stream):
            async for item in stream:
                items.append(item)
        return items

    def visits(self, visitors, parts=1, permits=10**6):
        """What all visitors get, who come in this order and before anybody gets a permit."""

        async def together():
            tasks = []
            for address, session in visitors:
                visit = self.visit(Visitor(address, session), parts)
                tasks.append(asyncio.create_task(visit))
                await asyncio.sleep(0.001)
            self.permits.release(permits)
            return await asyncio.gather(*tasks, return_exceptions=True)

        return in_a_loop(together())


def items_of(found):
    return [item for item in found if not isinstance(item, Note)]


@pytest.mark.parametrize(
    "visitors",
    [
        [("10.0.0.1", str(number)) for number in range(30)],
        [(f"10.0.0.{number}", "1") for number in range(30)],
    ],
    ids=["behind one address", "behind thirty"],
)
def test_a_class_of_thirty_is_served_and_learns_its_place(visitors):
    gate = Gate()
    found = gate.visits(visitors)
    assert all(items_of(items) == [0] for items in found)
    assert gate.served == [" ".join(visitor) for visitor in visitors]
    notes = [next(item.text for item in items if isinstance(item, Note)) for items in found[2:]]
    assert notes[0] == "Waiting: 2 runs are before yours." and "29 runs" in notes[-1]


def test_a_flood_of_200_delays_another_address_by_one_run():
    gate = Gate()
    flood = [("10.0.0.1", "flood")] * 200
    found = gate.visits([*flood[:150], ("10.0.7.2", "1"), ("10.0.0.1", "class"), *flood[150:]])
    assert items_of(found[150]) == items_of(found[151]) == [0]
    assert gate.served.index("10.0.7.2 1") <= 2 and gate.served.index("10.0.0.1 class") <= 4
    assert sum(isinstance(items, Full) for items in found) == 1


def test_a_full_queue_makes_room_at_the_cost_of_the_flood():
    gate = Gate(limit=4)
    flood = [("10.0.0.1", f"{number}") for number in range(6)]
    found = gate.visits([*flood, ("10.0.9.2", "1")])
    assert items_of(found[-1]) == [0]
    rejected = [items for items in found if isinstance(items, Full)]
    assert len(rejected) == 2 and "queue is full" in str(rejected[0])


def test_a_long_run_makes_way_for_others_and_goes_on(monkeypatch):
    monkeypatch.setattr(module, "SLICE", 0.0)
    gate = Gate()
    found = gate.visits([("10.0.0.1", "long"), ("10.0.9.2", "1")], parts=3)
    assert [items_of(items) for items in found] == [[0, 1, 2], [0, 1, 2]]
    assert gate.served == ["10.0.0.1 long", "10.0.9.2 1"] * 3


def test_a_network_holds_only_so_many_runs_open(monkeypatch):
    """Each has its caches in memory, and another network need not wait for them."""
    monkeypatch.setattr(module, "SLICE", 0.0)
    gate = Gate()
    visitors = [("10.0.0.1", str(number)) for number in range(20)]
    found = gate.visits([*visitors, ("10.0.9.2", "1")], parts=4)
    assert all(items_of(items) == [0, 1, 2, 3] for items in found)
    opened = set()
    for number, name in enumerate(gate.served):
        done = {one for one in opened if gate.served[:number].count(one) == 4}
        opened = {*opened, name} - done
        assert len({one for one in opened if one.startswith("10.0.0.1")}) <= 3
    assert gate.served.index("10.0.9.2 1") < 4


@pytest.mark.parametrize("error", [RuntimeError("it broke"), Panic("the tokenizer panicked")])
@pytest.mark.parametrize("late", [False, True])
def test_no_failure_of_whatever_kind_costs_the_next_visitor_a_turn(error, late):
    gate = Gate()

    def failing(turn, *_):
        if late:
            yield 0
        raise error

    async def both():
        for _ in range(3):
            with pytest.raises((RuntimeError, ValueError)):
                await gate.visit(Visitor("a"), work=failing)
        gate.permits.release(1)
        return await gate.visit(Visitor("b"))

    assert items_of(in_a_loop(both())) == [0]
    until(lambda: not is_busy(gate.service))


def test_a_thread_that_was_lost_is_replaced():
    gate = Gate()
    gate.service._worker.thread = threading.Thread(target=int)
    assert gate.visits([("a", "1")]) == [[0]]


@pytest.mark.parametrize("begun", [True, False])
def test_a_page_that_leaves_loses_its_place_and_its_run_within_a_step(begun):
    gate, begun_parts, closed = Gate(), [], []

    def work(turn, *_):
        try:
            for part in range(50):
                begun_parts.append(part)
                assert gate.permits.acquire(timeout=WAIT)
                yield part
        finally:
            closed.append(part)

    async def leave():
        other = asyncio.create_task(gate.visit(Visitor("other"), work=work))
        mine = asyncio.create_task(gate.visit(Visitor("me"), work=work))
        gate.permits.release(3)
        await until_later(lambda: 3 in begun_parts)
        leaves, stays = (other, mine) if begun else (mine, other)
        leaves.cancel()
        await asyncio.wait([leaves])
        gate.permits.release(1)
        await until_later(lambda: closed or not begun)
        gate.permits.release(100)
        return items_of(await stays)

    assert in_a_loop(leave()) == list(range(50))
    assert closed == ([3, 49] if begun else [49])
    until(lambda: not is_busy(gate.service))


def test_a_run_whose_page_reads_no_messages_ends():
    class NobodyReads:
        def have_left(self, session):
            return session == "gone"

    gate = Gate()
    gate.service.readers = NobodyReads()
    found = gate.visits([("10.0.0.1", "gone"), ("10.0.0.1", "reads")])
    assert "was closed" in str(found[0]) and items_of(found[1]) == [0]


def test_a_short_call_computes_between_two_steps_in_the_thread_that_computes(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", WAIT)
    gate, order = Gate(), []

    def work(turn, *_):
        for part in range(3):
            order.append(f"step {part}")
            assert gate.permits.acquire(timeout=WAIT)
            order.append(f"end {part}")
            yield part

    async def both():
        run = asyncio.create_task(gate.visit(Visitor("a"), work=work))
        await until_later(lambda: order)
        call = asyncio.create_task(
            gate.service.between_steps(lambda: order.append(threading.current_thread().name))
        )
        await until_later(lambda: len(gate.service._calls))
        gate.permits.release(3)
        await asyncio.gather(run, call)

    in_a_loop(both())
    assert order[:4] == ["step 0", "end 0", "decoding", "step 1"]


def test_a_step_that_never_ends_does_not_hold_up_short_calls(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    gate = Gate()

    async def both():
        run = asyncio.create_task(gate.visit(Visitor("a")))
        await until_later(lambda: gate.service._running)
        answer = await gate.service.between_steps(lambda: 3)
        gate.permits.release(1)
        await run
        return answer

    assert in_a_loop(both()) == 3


class Trials:
    """In place of the other process: what it was asked to look at."""

    def __init__(self):
        self.prompts = []

    async def ask(self, visitor, work, target, draft, prompts):
        self.prompts.append(prompts)


def test_every_prompt_for_a_pair_of_a_visitor_is_tried_elsewhere_first():
    pairs = one_pair(specviz.toy_pair)
    pairs.offers = {name: offer._replace(trusted=False) for name, offer in pairs.offers.items()}
    trials = Trials()
    service = RunService(pairs, trials)

    async def visit(prompts):
        work = lambda turn, *args: iter(())  # noqa: E731
        stream = service.stream(Visitor("a"), REF, work, prompts=prompts)
        async with aclosing(stream) as items:
            return [item async for item in items]

    in_a_loop(visit(["one"]))
    in_a_loop(visit(["one", "two"]))
    assert trials.prompts == [["one"], ["one", "two"]]


@pytest.mark.parametrize("permits", [0, 2])
def test_a_run_takes_the_place_of_the_same_visitor_s_before(permits):
    gate = Gate()
    me, other = Visitor("a", "1"), Visitor("a", "2")

    def short(turn, *_):
        yield "short"

    async def pressed_again():
        items = [[], []]
        runs = [asyncio.create_task(gate.visit(me, 9, items=items[0], replaces=True))]
        for _ in range(permits):
            gate.permits.release()
        await until_later(lambda: len(items[0]) == permits and gate.service._running)
        rest = [
            gate.visit(me, 3, items=items[1], replaces=True),
            gate.visit(other, 2, replaces=True),
            gate.visit(me, work=short, replaces=True),
        ]
        runs += [asyncio.create_task(run) for run in rest]
        await runs[0]  # ends by itself, before any further part
        gate.permits.release(10**6)
        return await asyncio.gather(*runs)

    found = in_a_loop(pressed_again())
    parts = [[item for item in items if not isinstance(item, Note)] for items in found]
    assert parts == [list(range(permits)), [0, 1, 2], [0, 1], ["short"]]
    assert not is_busy(gate.service)


# ---- pairs ----


class Loads:
    """Pairs whose loading waits for permission."""

    def __init__(self, names="abc"):
        self.calls, self.go = [], threading.Semaphore(0)
        self.pairs = Pairs(dict.fromkeys(names, one_pair(None, self.load).offers["This pair"]))

    def load(self, ref=None):
        self.calls.append(ref)
        assert self.go.acquire(timeout=WAIT)
        return specviz.toy_pair()


def test_others_compute_while_a_pair_is_loaded():
    loads = Loads()
    gate = Gate(pairs=loads.pairs)

    async def both():
        loads.go.release()
        gate.permits.release(1)
        await gate.visit(Visitor("a"), ref=PairRef("a"))
        arrived = []
        waits = asyncio.create_task(gate.visit(Visitor("b"), ref=PairRef("b"), items=arrived))
        await until_later(lambda: arrived)
        gate.permits.release(2)
        found = await gate.visit(Visitor("a"), ref=PairRef("a"))
        assert not waits.done() and items_of(found) == [0]
        loads.go.release()
        return await waits

    found = in_a_loop(both())
    assert found[0].text.startswith("Loading the models") and items_of(found) == [0]


def test_who_waited_for_a_pair_is_before_those_who_came_meanwhile():
    loads = Loads()
    gate = Gate(pairs=loads.pairs)

    async def all_three():
        loads.go.release()
        gate.permits.release(1)
        await gate.visit(Visitor("10.0.1.1"), ref=PairRef("a"))
        notes, late_notes = [], []
        waits = asyncio.create_task(gate.visit(Visitor("10.0.2.1"), ref=PairRef("b"), items=notes))
        await until_later(lambda: notes)  # its pair is being loaded
        runs = asyncio.create_task(gate.visit(Visitor("10.0.1.1"), 2, ref=PairRef("a")))
        await until_later(lambda: gate.service._running)
        late = gate.visit(Visitor("10.0.3.1"), ref=PairRef("a"), items=late_notes)
        comes = asyncio.create_task(late)
        await until_later(lambda: late_notes)
        loads.go.release()
        await until_later(lambda: all(run.loading is None for run in gate.service._queue.order()))
        gate.permits.release(9)
        await asyncio.gather(waits, runs, comes)
        return late_notes[0].text

    # The one that loads its pair may be overtaken, so it counts before nobody.
    assert in_a_loop(all_three()) == "Waiting: 1 run is before yours."
    assert [name.split()[0] for name in gate.served] == [
        "10.0.1.1",
        "10.0.1.1",
        "10.0.1.1",
        "10.0.2.1",
        "10.0.3.1",
    ]
    until(lambda: not is_busy(gate.service))


def test_loading_can_be_left_at_once_and_the_next_run_has_what_it_loaded():
    loads = Loads()
    gate = Gate(pairs=loads.pairs)
    gate.permits.release(9)

    async def leave():
        left = asyncio.create_task(gate.visit(Visitor("a"), ref=PairRef("a")))
        await until_later(lambda: loads.calls)
        left.cancel()
        await asyncio.wait([left])
        loads.go.release(5)
        return await gate.visit(Visitor("b"), ref=PairRef("a"))

    assert items_of(in_a_loop(leave())) == [0] and len(loads.calls) <= 2
    until(lambda: not is_busy(gate.service))


def test_nobody_waits_for_ever_for_a_pair():
    loads = Loads()
    gate = Gate(pairs=loads.pairs)
    gate.permits.release(9)

    async def waits():
        waiting = asyncio.create_task(gate.visit(Visitor("a"), ref=PairRef("a")))
        await until_later(lambda: loads.calls)
        loads.pairs.load(PairRef("a")).until = 0.0
        with pytest.raises(ValueError, match="took longer than this server allows"):
            await waiting
        loads.go.release(2)
        return await gate.visit(Visitor("b"), ref=PairRef("b"))

    assert items_of(in_a_loop(waits()))[-1] == 0


def test_a_pair_that_cannot_be_loaded_is_said_to_everyone_who_asks():
    tries = []

    def load():
        tries.append(1)
        raise ValueError("target 'x' is not there.")

    gate = Gate(pairs=one_pair(load))
    for number in (1, 2):
        found = gate.visits([("a", "1")])
        assert "target 'x' is not there" in str(found[0]) and len(tries) == number
    assert not is_busy(gate.service)


def test_two_pairs_are_in_memory_and_one_that_went_is_freed():
    freed = []

    class Big:
        def __init__(self):
            self.me = self  # as a cache of its own methods holds it

        def __del__(self):
            freed.append(1)

    pairs = Pairs(dict.fromkeys("abcde", one_pair(Big).offers["This pair"]))
    for name in "abcde":
        pairs.load_here(PairRef(name))
    assert len(freed) == 3 and pairs.get(PairRef("e")) and not pairs.get(PairRef("a"))


def test_a_pair_whose_layers_were_changed_on_disk_is_loaded_again():
    is_intact = True
    loaded = []

    def load():
        layers = SimpleNamespace(is_intact=lambda: is_intact or pair is not loaded[0])
        pair = SimpleNamespace(target=SimpleNamespace(direct=SimpleNamespace(layers=layers)))
        loaded.append(pair)
        return pair

    pairs = one_pair(load)
    first = pairs.load_here(pairs.first)
    assert pairs.load_here(pairs.first) is first
    is_intact = False
    assert not pairs.get(pairs.first)
    assert pairs.load_here(pairs.first) is loaded[1] and pairs.get(pairs.first)


def test_one_folder_under_many_spellings_is_one_pair(tmp_path, monkeypatch):
    calls = []
    pairs = one_pair(None, lambda ref: calls.append(ref) or object())
    offer = pairs.offers["This pair"]
    pairs.other = lambda ref: offer
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    for name in ("model", "./model", "model/", f"{tmp_path}/model", f"{tmp_path}/x/../model"):
        pairs.load_here(PairRef(name))
    assert len(calls) == (1 if (tmp_path / "x").exists() else 2) or len(calls) == 1


def test_as_many_pairs_are_in_use_as_are_kept(monkeypatch):
    monkeypatch.setattr(module, "SLICE", 0.0)
    loaded = []
    pairs = Pairs(
        {
            name: one_pair(None, lambda ref: loaded.append(ref.target) or 1).offers["This pair"]
            for name in "abcd"
        }
    )
    gate = Gate(pairs=pairs)

    async def together():
        visits = [
            gate.visit(Visitor(f"10.0.{number}.1"), 3, PairRef(name))
            for number, name in enumerate("abcdabcd")
        ]
        gate.permits.release(1000)
        return await asyncio.gather(*visits)

    assert all(items_of(items) == [0, 1, 2] for items in in_a_loop(together()))
    assert sorted(set(loaded)) == list("abcd")
    gc.collect()


# ---- the end ----


def test_on_the_way_down_waiting_runs_are_rejected_and_running_ones_end():
    gate = Gate()

    async def together():
        runs = [
            asyncio.create_task(gate.visit(Visitor(name), 2)) for name in ("10.0.1.1", "10.0.2.1")
        ]
        await until_later(lambda: gate.service._running)
        down = asyncio.create_task(asyncio.to_thread(gate.service.shut_down, WAIT))
        await until_later(runs[1].done)
        gate.permits.release(2)
        await down
        late = gate.visit(Visitor("late"))
        return await asyncio.gather(*runs, late, return_exceptions=True)

    first, second, late = in_a_loop(together())
    assert items_of(first) == [0, 1]
    assert "shutting down" in str(second) and "shutting down" in str(late)


def test_a_run_that_does_not_end_in_time_is_cut_with_a_sentence():
    gate = Gate()

    async def together():
        run = asyncio.create_task(gate.visit(Visitor("a"), 50))
        gate.permits.release(3)
        await until_later(lambda: len(gate.served) == 3)
        await asyncio.to_thread(gate.service.shut_down, 0.1)
        gate.permits.release(100)
        return (await asyncio.gather(run, return_exceptions=True))[0]

    assert "was shut down" in str(in_a_loop(together()))
