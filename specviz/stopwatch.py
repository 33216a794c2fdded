"""Where the time of a step goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from .record import Timing


class Stopwatch:
    """Seconds since it was made, by part: `with watch("target"): ...` counts for the target, the rest is "other"."""

    def __init__(self) -> None:
        self.began = perf_counter()
        self.parts = {"draft": 0.0, "target": 0.0, "verify": 0.0}

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        began = perf_counter()
        try:
            yield
        finally:
            self.parts[part] += perf_counter() - began

    def read(self) -> Timing:
        """The seconds so far."""
        total = perf_counter() - self.began
        return Timing(**self.parts, other=max(0.0, total - sum(self.parts.values())))
