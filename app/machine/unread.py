"""What was sent to visitors and waits for them; nothing waits long for somebody who does not read."""

from __future__ import annotations

from asyncio import Queue
from time import monotonic
from typing import Any

from . import limits


class Unread(dict):
    """Messages by session, in place of gradio's store, which keeps those of 2 000 sessions whether they are read or not.

    Whoever reads asks at least every ten seconds whether there are any; those of a session that did not ask for
    `limits.UNREAD_SECONDS` go as soon as there is another session.

    Args:
        events: of a session that are not delivered, which go with its messages.
    """

    def __init__(self, events: dict[str, set[str]]) -> None:
        self._events, self._asked = events, dict[str, float]()

    def __contains__(self, session: Any) -> bool:
        known = super().__contains__(session)
        if known:
            self._asked[session] = monotonic()
        return known

    def __setitem__(self, session: str, messages: Any) -> None:
        now = monotonic()
        for other in [name for name, asked in self._asked.items() if asked + limits.UNREAD_SECONDS < now]:
            for kept in (self, self._events, self._asked):
                kept.pop(other, None)
        self._asked[session] = now
        super().__setitem__(session, messages)

    def __missing__(self, session: str) -> Any:
        return Queue()  # for what a run still sends to a session that is gone
