"""Passes on a CPU take the number of threads that is fastest now, and find out cheaply which one that is."""

import pytest
import torch

from specviz.passes.threads import SHARE, Threads, using
from tests.passes.test_huggingface import make

IDLE = {1: 0.030, 2: 0.022, 4: 0.016}  # seconds of a pass by number of threads
BUSY = {1: 0.032, 2: 0.150, 4: 0.400}


class Machine:
    """A clock that passes move on, by what they would take here with torch's present number of threads."""

    def __init__(self):
        self.now, self.takes, self.counts = 0.0, IDLE, []

    def __call__(self):
        return self.now

    def read(self, threads, tokens=8):
        with threads(tokens):
            self.counts.append(torch.get_num_threads())
            self.now += self.takes[torch.get_num_threads()] * (1 + tokens / 16)


@pytest.fixture
def machine():
    with using(4):
        yield Machine()


def spent(machine, threads, passes):
    began = machine.now
    for step in range(passes):
        machine.read(threads, 1 + 7 * (step % 3))  # passes of three sizes, in turn
    return machine.now - began


def ideal(takes, passes):
    return sum(min(takes.values()) * (1 + (1 + 7 * (step % 3)) / 16) for step in range(passes))


def test_all_threads_are_taken_on_an_idle_machine_and_trying_others_costs_little(machine):
    threads = Threads(torch.device("cpu"), machine)
    assert threads.counts == [1, 2, 4]
    assert spent(machine, threads, 3000) <= ideal(IDLE, 3000) * (1 + 3 * SHARE)
    assert threads.count == 4 and set(machine.counts) == {1, 2, 4}


def test_one_thread_is_taken_while_the_machine_is_busy_and_all_again_after_that(machine):
    threads = Threads(torch.device("cpu"), machine)
    spent(machine, threads, 300)
    machine.takes = BUSY
    machine.read(threads)
    machine.takes = IDLE
    spent(machine, threads, 30)
    assert threads.count == 4  # one slow pass changes nothing
    machine.takes = BUSY
    spent(machine, threads, 60)
    assert threads.count == 1
    assert spent(machine, threads, 3000) <= ideal(BUSY, 3000) * (1 + 3 * SHARE)
    machine.takes = IDLE
    spent(machine, threads, 1500)
    assert threads.count == 4


def test_another_thread_may_forget_the_times_during_a_trial(machine):
    threads = Threads(torch.device("cpu"), machine)
    for _ in range(12):
        with threads(8):
            machine.now += machine.takes[torch.get_num_threads()]
            if torch.get_num_threads() != 4:
                threads._seconds[(8).bit_length(), 4].clear()
    assert {number for _, number in threads._seconds} > {4}  # there was a trial


def test_the_number_outside_a_pass_is_left_as_it_was_even_if_one_fails(machine):
    threads = Threads(torch.device("cpu"), machine)
    threads.counts = [1]
    with pytest.raises(RuntimeError, match="broken"), threads(3):
        assert torch.get_num_threads() == 1
        raise RuntimeError("broken")
    assert torch.get_num_threads() == 4
    assert Threads(torch.device("cuda"), machine).counts == [4]  # nothing to choose


def test_a_model_reads_with_the_number_that_was_chosen(machine):
    model, seen = make(), []
    model.direct.compiled, model.threads.counts = None, [2]
    model.direct.head.register_forward_hook(lambda *inputs: seen.append(torch.get_num_threads()))
    model.read([1, 2], [0, 1], None, model.new_cache(), [1])
    model.logits_of(torch.zeros(1, 32))
    assert seen == [2, 2]
