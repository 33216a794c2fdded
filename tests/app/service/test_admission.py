"""Which of the runs that wait may compute, in the order of their turns."""

import pytest

from app.service.admission import ADMITTED_OF_SUBNET, first_admitted
from app.service.pair_ref import PairRef
from app.service.queue import Visitor
from app.service.queued_run import QueuedRun


def run(pair, address="10.0.0.1", loading=None):
    return QueuedRun(Visitor(address), PairRef(pair), iter, (), None, loading=loading)


@pytest.mark.parametrize(
    ("admitted", "waiting", "first"),
    [
        ("", "ab", 0),
        ("a", "b", 0),
        # A third pair waits until one falls out of use, and no new run may overtake it.
        ("ab", "ca", None),
        ("ab", "ac", 0),
        ("aa", "c", 0),
    ],
)
def test_no_new_run_overtakes_one_that_waits_for_its_pair_to_be_admitted(admitted, waiting, first):
    started = {run(pair, f"10.0.{at}.1") for at, pair in enumerate(admitted)}
    runs = [run(pair, f"10.1.{at}.1") for at, pair in enumerate(waiting)]
    assert first_admitted(runs, started) is (None if first is None else runs[first])


def test_one_that_has_begun_goes_on_once_its_pair_is_loaded():
    loads, goes_on = run("a", loading=object()), run("b", "10.0.1.1")
    new, third = run("a", "10.0.2.1"), run("c", "10.0.3.1")
    admitted = {loads, goes_on}
    assert first_admitted([loads, new], admitted) is new
    assert first_admitted([third, new, goes_on], admitted) is goes_on


def test_a_network_begins_only_so_many():
    admitted = {run("a") for _ in range(ADMITTED_OF_SUBNET)}
    same, other = run("a"), run("a", "10.0.9.1")
    assert first_admitted([same, other], admitted) is other
