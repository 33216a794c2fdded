"""All that is used of gradio that it does not document; a test fails where a version of gradio has
it otherwise.

Gradio answers who asks for messages that are gone with a traceback in the log, keeps those of pages
that left without reading them, and describes every part of the page to itself for every visitor.
"""

from __future__ import annotations

from contextlib import nullcontext
from importlib.util import find_spec
from types import SimpleNamespace

import gradio as gr
import gradio.utils
from gradio.components.api_component import Api
from gradio.state_holder import SessionState


def has_messages(demo: gr.Blocks, session: str) -> bool:
    """Whether there is a queue of messages to a page."""
    return session in demo._queue.pending_messages_per_session


def has_event(demo: gr.Blocks, event: str) -> bool:
    """Whether an event waits, computes, or has messages that were not read."""
    queue = demo._queue
    # Waiting, computing, or done with messages that are still to be read.
    pending = queue.pending_event_ids_session.values()
    return (
        has_messages(demo, event)
        or event in queue.event_ids_to_events
        or any(event in names for names in pending)
    )


def forget(demo: gr.Blocks, session: str) -> None:
    """Drop the messages to a page that does not read them."""
    demo._queue.pending_messages_per_session.pop(session, None)
    demo._queue.pending_event_ids_session.pop(session, None)


def spare_the_server(demo: gr.Blocks) -> None:
    """Leave out what gradio does in the thread that answers everybody, and what nobody needs here.

    It describes the whole page to itself when a visitor comes (40 ms), and then each part that an
    event reads or writes, for links of a kind that this page has none of. It looks for matplotlib
    on disk at every event, where each of ten folders may cost a turn of Python's lock. A thousand
    times a second it looks whether an event waits, which takes a thirtieth of a core of an idle
    server. And it hands values to other threads that return them as they are: fifteen for a call of
    the endpoint, three for each of its steps and one for each message to a page, all of which wait
    for that lock. A flood of visitors made others wait for ten seconds.
    """
    demo.state_holder.blocks = SimpleNamespace(default_config=demo.default_config, blocks={})
    demo._queue.sleep_when_free = demo._queue.progress_update_sleep_when_free = 0.02
    SessionState._update_config = SessionState._update_value_in_config = lambda *_: None
    if find_spec("matplotlib") is None:
        gradio.utils.MatplotlibBackendMananger = nullcontext
    for event in demo.fns.values():
        if all(type(block) is Api for block in event.inputs):
            event.preprocess = False
        if all(type(block) in (Api, gr.HTML) for block in event.outputs):
            event.postprocess = False
