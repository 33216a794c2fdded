"""The page: its frame, its tabs and how it is served."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from functools import wraps
from importlib.util import find_spec
from inspect import iscoroutinefunction
from io import StringIO
from itertools import product
from threading import Event
from time import sleep
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from specviz.base.files import WEB
from specviz.models.base import Pair

from . import api
from .service import limits
from .service.fetching import others
from .service.http import server
from .service.http.gradio_private import spare_the_server
from .service.http.guard import Guard
from .service.http.readers import Readers
from .service.http.server import Hosts
from .service.loading import Offer
from .service.offers import offered
from .service.pairs import Pairs
from .service.process import Process, Requests
from .service.queue import Full
from .service.service import RunService
from .service.zero_gpu import place
from .tabs import compare, explore, labs, lessons, measure
from .tabs.parts import opening, own_pair, pairs, saving, web
from .tabs.parts.frame import Tab

TABS = (explore.TAB, compare.TAB, lessons.TAB, *labs.TABS, measure.TAB)
STYLES = (
    "style",
    "base/picker",
    "page/style",
    "page/present",
    "stage/stage",
    "tree/tree",
    "figures/figures",
    *(style for tab in TABS for style in tab.styles),
)
HEADER = (
    '<header class="sv-title"><h1 class="sv-not-presented">specviz</h1><div class="sv-view sv-ui">'
    '<button type="button" class="sv-skip sv-not-presented">Skip to the content</button>'
    '<button type="button" class="sv-present-button" '
    'title="large type. Keys: space plays, arrows move on, Escape ends it">Present</button>'
    '<button type="button" class="sv-theme-button sv-not-presented" '
    'aria-label="Light or dark">◐</button>'
    "</div></header>"
)
# Sent as they are: a stream of messages, and files that are compressed already. Starlette has a
# long list of its own, which it reads again for every request.
PACKED = ("text/event-stream", "font/woff2", "image/png", "image/webp")
FONT = ("ui-sans-serif", "system-ui", "sans-serif")
MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace")


def build_demo(load: Callable[[], Pair] | None = None, tabs: Sequence[Tab] = TABS) -> gr.Blocks:
    """The page; its attribute `service` runs what it asks for.

    Args:
        load: returns the only pair, at the first run; by default a visitor may choose among
            those that are offered here.
        tabs: Explore and others; a page of few tabs opens sooner.
    """
    service = build_service(load)
    with gr.Blocks(title="specviz", fill_width=True, delete_cache=(3600, 3600)) as demo:
        web.component("header", HEADER)
        with gr.Tabs() as frame:
            for tab in tabs:
                with gr.Tab(tab.title, id=tab.title):
                    tab.build(service)
        demo.load(None, None, frame, js=opening.opens(tabs), api_visibility="private")
        own_pair.connect(demo, service)
        pairs.connect(demo, service)
        api.build(service)
    # Every handler that gradio would compute in a thread of its own, beside a step that is being
    # timed: here, where none is forgotten, it is replaced by one that waits for the end of a step.
    for event in demo.fns.values():
        if event.fn and event.queue is False and not iscoroutinefunction(event.fn):
            event.fn = between_steps(service, event.fn)
    demo.service = service
    return demo


def build_service(load: Callable[[], Pair] | None = None) -> RunService:
    """What runs everything, with one pair or with all that are offered here."""
    # Looking at models that strangers name is apart from what visitors wait for, and may take its
    # time.
    trials = Requests(Process(limits.SECONDS), limits.QUEUE)
    if load is not None:
        only = Offer("This pair", lambda ref, loading: load(), has_disk=False)
        return RunService(Pairs({"This pair": only}), trials)
    place(offered())
    return RunService(Pairs(offered(), others(trials)), trials)


def between_steps(service: RunService, work: Callable[..., object]) -> Callable[..., object]:
    """A handler of the page that is not queued, computed in turn, between two steps of a run."""

    @wraps(work)
    async def answer(*args: object) -> object:
        try:
            return await service.between_steps(work, *args)
        except Full as error:
            raise gr.Error(str(error), print_exception=False) from None

    return answer


def serve(port: int | None = None, hosts: str = "") -> None:
    """Serve the page until this process gets a signal to end; then let runs end.

    Args:
        port: to listen on; the first free one from 7860 where it is None.
        hosts: further names under which it may be asked for, separated by commas.
    """
    # The handler only sets an event: whatever runs just now, a lock included, goes on. The main
    # thread waits for it below, and then ends runs in order.
    over = Event()
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: over.set())
    demo = build_demo()
    with redirect_stdout(StringIO()):  # gradio prints addresses of its own
        _, address, _ = launch(demo, hosts, server_port=port)
    print(f"specviz: {address}", flush=True)
    # The page and its libraries stay until the end: no later search for garbage goes through them.
    gc.collect()
    gc.freeze()
    demo.service.pairs.prepare()
    over.wait()
    demo.service.shut_down()
    sleep(1)  # in which pages get their last messages
    with suppress(OSError):
        demo.close(verbose=False)
    gc.freeze()  # or Python would look for garbage for seconds as it ends


def launch(demo: gr.Blocks, hosts: str = "", **more: object) -> Any:
    """Start to serve the page to this machine only, unless GRADIO_SERVER_NAME names another
    address; returns what `gradio.Blocks.launch` does."""
    server.raise_descriptor_limit()
    service = demo.service
    service.readers = Readers()
    demo.queue(api_open=False, max_size=None)  # no way around the queue of the service
    guard = Middleware(
        Guard,
        demo=demo,
        readers=service.readers,
        hosts=Hosts(hosts),
        last_hop=server.behind_any_proxy(),
    )
    compression = Middleware(
        GZipMiddleware, minimum_size=10_000, compresslevel=6, exclude_content_types=PACKED
    )
    options = {
        "prevent_thread_lock": True,
        "quiet": True,
        "share": False,
        "show_error": False,  # it would show visitors the text of any exception
        "ssr_mode": False,
        "allowed_paths": [],
        "run_history": False,
        "mcp_server": find_spec("mcp") is not None,  # the endpoint is then a tool for agents too
        "enable_monitoring": False,
        "max_threads": 2 * limits.QUEUE,  # what waits holds a place of gradio's, but no thread
        # The page keeps nothing in gradio's sessions, so nobody misses one that is dropped.
        "state_session_capacity": limits.SESSIONS,
        "footer_links": ["api"],
        "theme": theme(),
        # The page itself is the largest thing that travels, and the only one that gradio would send
        # as it is.
        "app_kwargs": {
            "middleware": [compression, guard],
            "routes": [web.route(), saving.open_route(service)],
        },
        "css_paths": [WEB / f"{name}.css" for name in STYLES],
    }
    try:
        launched = demo.launch(**(options | more))
    except OSError:
        raise ValueError(
            "The page must have a free port at an address of this machine. Choose another port, or "
            "another GRADIO_SERVER_NAME."
        ) from None
    spare_the_server(demo)
    return launched


def theme() -> gr.themes.Base:
    """Gradio's own, with the contrast that WCAG AA asks for: it writes white on light green, and
    grey on white."""
    base = gr.themes.Default(primary_hue="emerald", neutral_hue="slate", font=FONT, font_mono=MONO)
    colours = {"body_text_color_subdued": "*neutral_500"}
    for part, dark in product(("background_fill", "border_color"), ("", "_dark")):
        colours[f"button_primary_{part}{dark}"] = "*primary_700"
        colours[f"button_primary_{part}_hover{dark}"] = "*primary_800"
    return base.set(**colours)
