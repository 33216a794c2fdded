"""What is not a run: one thing at a time, clients in turn, in a bounded line; and the process beside the page."""

import os
import threading
from queue import SimpleQueue

import pytest

from app.machine import run_queue
from app.machine.request_queue import BESIDE, Full, Pool, aside, between
from app.machine.turns import TURNS
from app.machine.worker import Worker
from tests.loops import in_a_loop

WAIT = 120


@pytest.fixture
def gated():
    """A pool that computes one thing for every permit."""
    gate = threading.Semaphore(0)

    def compute(work, *args):
        assert gate.acquire(timeout=WAIT)
        return work(*args)

    return Pool(compute, most=6, share=3), gate


def test_clients_have_their_turn_one_after_the_other(gated):
    (pool, gate), done = gated, []
    jobs = [pool.put("first", done.append, ("first",))]
    while pool._lines:
        pass  # it is taken up, and waits for its permit
    jobs += [pool.put(who, done.append, (who,)) for who in ("a", "a", "a", "b", "c")]
    gate.release(6)
    for job in jobs:
        job.result(WAIT)
    assert done == ["first", "a", "b", "c", "a", "a"]


def test_the_line_has_an_end_and_every_client_a_share_of_it(gated):
    pool, gate = gated
    pool.put("first", int, ())
    while pool._lines:
        pass
    jobs = [pool.put("a", int, ()) for _ in range(3)]
    with pytest.raises(Full, match="3 of your requests are already waiting"):
        pool.put("a", int, ())
    jobs += [pool.put("b", int, ()) for _ in range(3)]
    with pytest.raises(Full, match=r"The queue is full \(6 requests\)"):
        pool.put("c", int, ())
    jobs.pop().cancel()  # whoever leaves costs nothing
    gate.release(7)
    assert [job.result(WAIT) for job in jobs] == [0] * 5 and pool.put("c", int, ()).result(WAIT) == 0


def test_work_aside_keeps_its_answer_its_name_and_its_error():
    @aside
    def divided(a, b):
        return a / b

    assert in_a_loop(divided(1, b=2)) == 0.5 and divided.__name__ == "divided"
    with pytest.raises(ZeroDivisionError):
        in_a_loop(divided(1, 0))


def test_checks_rest_while_a_run_is_under_way(monkeypatch):
    slept = []
    monkeypatch.setattr("app.machine.request_queue.sleep", slept.append)
    monkeypatch.setattr(TURNS, "_stepped", -10.0)
    assert between(int, "3") == 3 and not slept
    with TURNS.step():
        pass
    assert between(int, "3") == 3 and len(slept) == 1


def priority():
    return os.nice(0)


def broken():
    raise RuntimeError("secret")


def rejected():
    raise ValueError("a sentence")


def endless():
    while True:
        pass


def lost():
    os._exit(1)


def test_the_process_is_another_of_low_priority():
    assert BESIDE.put("", os.getpid, ()).result(WAIT) != os.getpid()
    assert BESIDE.put("", priority, ()).result(WAIT) == min(19, os.nice(0) + 10)


def test_what_goes_wrong_in_the_process_comes_back_and_the_next_is_answered(monkeypatch):
    monkeypatch.setenv("SPECVIZ_MAX_SECONDS", "1")
    beside = Worker()
    try:
        for work, kind, words in (
            (rejected, ValueError, "^a sentence$"), (broken, RuntimeError, "Traceback"),
            (endless, ValueError, "at most 1 s of CPU time"), (lost, ValueError, "ended"),
        ):  # fmt: skip
            with pytest.raises(kind, match=words):
                beside(work)
            assert beside(int, "3") == 3
    finally:
        beside.end()


def test_plain_rounds_end_when_somebody_waits(monkeypatch):
    waiting = SimpleQueue()
    monkeypatch.setattr(run_queue, "waiting", waiting.qsize)
    rounds = run_queue.undisturbed(number for number in range(9))
    assert [next(rounds), next(rounds)] == [0, 1]
    waiting.put("a visitor")
    assert not list(rounds)
