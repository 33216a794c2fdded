"""A thread that does one job after the other, for as long as this process lives."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, Thread


class Worker:
    """A thread and the lock of what it looks at to find its next job.

    Args:
        name: of the thread.
        next_job: returns what to do now, or None where nothing may be done; called with the lock
            held.
    """

    def __init__(self, name: str, next_job: Callable[[], Callable[[], None] | None]) -> None:
        self.name = name
        self.next_job = next_job
        self.changed = Condition()
        self.thread: Thread | None = None

    def wake(self) -> None:
        """Have the thread look again, also where it was lost; the caller holds the lock."""
        if not (self.thread and self.thread.is_alive()):
            self.thread = Thread(target=self._work, name=self.name, daemon=True)
            self.thread.start()
        self.changed.notify_all()

    def _work(self) -> None:
        while True:
            with self.changed:
                # Looked for and waited for with the lock held, so that no call to `wake` is missed
                # between the two.
                while (job := self.next_job()) is None:
                    self.changed.wait()
            job()  # without the lock, so that others may ask for more meanwhile
