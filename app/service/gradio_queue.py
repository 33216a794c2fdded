"""All that is read of gradio's own queue, which offers no public way to know it.

Gradio answers who asks for messages that are gone with a traceback in the log, and keeps those of
pages that left without reading them. A test fails where a version of gradio has another queue.
"""

from __future__ import annotations

from typing import Any


def has_messages(demo: Any, session: str) -> bool:
    """Whether there is a queue of messages to a page."""
    return session in demo._queue.pending_messages_per_session


def has_event(demo: Any, event: str) -> bool:
    """Whether an event waits, computes, or has messages that were not read."""
    queue = demo._queue
    pending = queue.pending_event_ids_session.values()
    return (
        has_messages(demo, event)
        or event in queue.event_ids_to_events
        or any(event in names for names in pending)
    )


def forget(demo: Any, session: str) -> None:
    """Drop the messages to a page that does not read them."""
    demo._queue.pending_messages_per_session.pop(session, None)
    demo._queue.pending_event_ids_session.pop(session, None)


def is_idle(demo: Any) -> bool:
    """Whether no event waits or computes."""
    return not (len(demo._queue) or any(demo._queue.active_jobs))
