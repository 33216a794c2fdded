"""Nothing computes beside a step, and a step that outlives its visitor keeps the machine."""

import threading

import specviz
from app.machine.engine import Engine, prefetch
from app.machine.turns import Turns

WAIT = 30


def begun(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_other_work_waits_for_the_step_and_comes_before_the_next():
    line, done, in_step, go_on = Turns(), [], threading.Event(), threading.Event()

    def steps():
        for number in range(2):
            with line.step():
                done.append(f"step {number}")
                if number == 0:
                    in_step.set()
                    assert go_on.wait(WAIT)

    def other():
        with line.other(WAIT):
            done.append("other")

    first = begun(steps)
    assert in_step.wait(WAIT)
    second = begun(other)
    while not line._others:
        pass
    assert done == ["step 0"]
    go_on.set()
    first.join(WAIT), second.join(WAIT)
    assert done == ["step 0", "other", "step 1"]


def test_a_flood_of_other_work_does_not_stop_the_steps():
    line, over, steps = Turns(), threading.Event(), 0

    def flood():
        while not over.is_set():
            with line.other(WAIT):
                pass

    threads = [begun(flood) for _ in range(4)]
    for _ in range(20):
        with line.step():
            steps += 1
    over.set()
    for thread in threads:
        thread.join(WAIT)
    assert steps == 20


def test_other_work_that_waits_no_longer_leaves_the_machine_to_the_step():
    line, done = Turns(), []

    def next_step():
        with line.step():
            done.append("next step")

    with line.step():
        with line.other(patience=0.01):
            done.append("other")
        waiting = begun(next_step)
        waiting.join(0.2)
        done.append("the end of the step")
    waiting.join(WAIT)
    assert done == ["other", "the end of the step", "next step"]


def work(pair, gate, inside):
    yield 0
    inside.set()
    assert gate.wait(WAIT)
    yield 1


def test_a_slow_step_of_a_stopped_run_keeps_the_machine(monkeypatch):
    monkeypatch.setattr("app.machine.engine.TURNS", Turns())
    engine, gate, inside, came = Engine(lambda: specviz.toy_pair()), threading.Event(), threading.Event(), []
    engine.take()
    with engine.exclusive():
        steps = prefetch(engine.compute(work, gate, inside), lambda items: ([item] for item in items))
        next(steps)
        assert inside.wait(WAIT)
        steps.close()  # the visitor pressed Stop; the step goes on in its thread

    def following():
        with engine.exclusive():
            came.extend(engine.compute(quick))

    follower = begun(following)
    follower.join(0.3)
    assert follower.is_alive() and not came, "the next run waits for the step of the one before"
    gate.set()
    follower.join(WAIT)
    assert came == ["quick"]


def quick(pair):
    yield "quick"
