"""The engine behind the page: one pair, loaded when it is first needed, and one run at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any

import specviz
from specviz import RunConfig, Step
from specviz.payload import decode_rate

PACE = 0.04  # seconds of decoding that travel to the page together: 20 pictures a second are plenty
PLAIN_TOKENS = 24


class Engine:
    """A pair that is loaded once, and a lock because a machine can time one run at a time.

    Args:
        load: returns the pair; called once, at the first run.
    """

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load
        self._pair: Any = None
        self._loading, self._running = Lock(), Lock()
        self._plain_rates: dict[tuple, float | None] = {}

    @property
    def loaded(self) -> bool:
        return self._pair is not None

    @property
    def pair(self) -> Any:
        """The pair; the first call loads it."""
        with self._loading:
            if self._pair is None:
                self._pair = self._load()
            return self._pair

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the machine for one run; a page that is closed or stopped lets go within a step."""
        if not self._running.acquire(timeout=30):
            raise ValueError("The machine is still busy with another run. Try again in a moment.")
        try:
            yield
        finally:
            self._running.release()

    def plain_rate(self, config: RunConfig, measure: bool = False) -> float | None:
        """Tokens per second of plain decoding with the same target, prompt and sampling on this machine.

        Args:
            config: the run it is compared with.
            measure: decode a few tokens to find out where it is not known yet.
        """
        key = (config.prompt, config.temperature, config.top_p, config.top_k)
        if measure and key not in self._plain_rates:
            plain = specviz.autoregress(self.pair, replace(config, max_new_tokens=PLAIN_TOKENS))
            if len(self._plain_rates) >= 100:  # a prompt is part of the key, and visitors may write many
                self._plain_rates.clear()
            self._plain_rates[key] = decode_rate(plain.steps)
        return self._plain_rates.get(key)


def paced(steps: Iterator[Step], pace: float = PACE) -> Iterator[list[Step]]:
    """Group steps so that a slow page gets fewer messages, never a slow engine.

    The first step travels alone, and what was decoded before a failure is handed on before the failure is.

    Args:
        steps: from `speculate`.
        pace: seconds of decoding that make a group.
    """
    group: list[Step] = []
    spent = pace
    try:
        for step in steps:
            group.append(step)
            spent += step.seconds.total
            if spent >= pace:
                yield group
                group, spent = [], 0.0
    except Exception:
        if group:
            yield group
        raise
    if group:
        yield group
