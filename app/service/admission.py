"""Which runs may compute: those that have begun keep their caches in memory, so they are few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from .run import Run

BEGUN_OF_NETWORK = 3  # runs of one network that have begun
BEGUN = 24  # of all networks
PAIRS_IN_USE = 2  # that they have


class Admission:
    """Whether a run may compute, asked in the order of turns.

    One that has begun may. A new one may not where there are too many of its network, or in all, or
    where it wants another pair than those in use; then no new one may go before it.

    Args:
        begun: the runs that have begun.
    """

    def __init__(self, begun: Collection[Run]) -> None:
        self.networks = Counter(run.visitor.network for run in begun)
        self.pairs = {run.ref.resolved for run in begun}
        self.is_held_up = len(begun) >= BEGUN

    def __call__(self, run: Run) -> bool:
        if run.items is not None:  # its caches are there already
            return True
        if self.is_held_up or self.networks[run.visitor.network] >= BEGUN_OF_NETWORK:
            return False
        # It cannot go before a pair falls out of use. If others of the pairs in use could overtake
        # it, they might do so for ever; so the line stops here until one of those is done with.
        if len(self.pairs) >= PAIRS_IN_USE and run.ref.resolved not in self.pairs:
            self.is_held_up = True
        return not self.is_held_up
