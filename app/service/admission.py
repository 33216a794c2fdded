"""Which runs may compute: those that are admitted keep their caches in memory, so they are few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from .queued_run import QueuedRun

ADMITTED_OF_SUBNET = 3  # runs of one subnet of the internet
ADMITTED = 24  # of all subnets
PAIRS_IN_USE = 2  # that they have


def first_admitted(
    waiting: Iterable[QueuedRun], admitted: Collection[QueuedRun]
) -> QueuedRun | None:
    """The first run that may compute, of those that wait in the order of their turns; None if there
    is none.

    One that is admitted may go on, once its pair is loaded. A new one may not where there are too
    many of its subnet, or in all, or where it needs another pair than those in use; then no new one
    may go before it.

    Args:
        waiting: in the order of their turns.
        admitted: the runs that have started, or load their pair.
    """
    subnets = Counter(run.visitor.subnet for run in admitted)
    # By folder: two names of one pair do not need memory twice.
    pairs = {run.ref.resolved for run in admitted}
    is_open = len(admitted) < ADMITTED  # to new ones
    for run in waiting:
        if run in admitted:
            if run.loading is None:
                return run
        elif is_open and subnets[run.visitor.subnet] < ADMITTED_OF_SUBNET:
            if len(pairs) < PAIRS_IN_USE or run.ref.resolved in pairs:
                return run
            # It cannot go before a pair falls out of use. If others of the pairs in use could
            # overtake it, they might do so for ever; so the line stops here until then.
            is_open = False
    return None
