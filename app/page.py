"""The page: its frame, its tabs and how it is served."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from inspect import iscoroutinefunction
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from specviz.base.files import WEB

from . import api
from .machine import limits, queue, server, zero_gpu
from .machine.checks import Checks
from .machine.engine import Engine
from .machine.fetching import Hub, may_fetch
from .machine.guard import Guard
from .machine.models import offered, others, place
from .machine.pool import check
from .parts import opening, own_pair, run_store, web
from .parts.frame import Page, Tab
from .tabs import compare, explore, labs, lessons, measure, papers

TABS = (
    explore.TAB,
    compare.TAB,
    Tab("Learn", pages=(lessons.TAB, papers.TAB)),
    Tab("Lab", pages=labs.PAGES, query="lab"),
    measure.TAB,
)
STYLES = (
    "style",
    "base/picker",
    "page/style",
    "page/present",
    "stage/stage",
    "tree/tree",
    "figures/figures",
    *(style for tab in TABS for part in tab.parts for style in part.styles),
)
SENTENCE = "A small model drafts a tree of tokens; a large model verifies all of it in one pass."
HEADER = (
    f'<header class="sv-title"><h1>specviz</h1><p>{SENTENCE}</p>'
    '<details class="sv-menu sv-view sv-ui"><summary class="sv-button">View</summary><div>'
    '<button type="button" class="sv-present-button">Present '
    "<small>large type for a projector, without settings; Escape exits</small></button>"
    '<button type="button" class="sv-theme-button" aria-pressed="false">Dark theme</button>'
    "</div></details></header>"
)
FONT = ("ui-sans-serif", "system-ui", "sans-serif")
MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace")


def build_demo(load: Callable[[], Any] | None = None, tabs: Sequence[Tab] = TABS) -> gr.Blocks:
    """The page.

    Args:
        load: returns the only pair, at the first run; by default a visitor may choose among
            `models.offered`.
        tabs: Explore and others; a page of few tabs opens sooner.
    """
    if (
        zero_gpu.ON and load is None
    ):  # before anybody borrows a GPU, and on it as soon as somebody does
        place(offered())
    hub = Hub() if may_fetch() else None
    engine = Engine({"This pair": load}) if load else Engine(offered(), others(), hub)
    with gr.Blocks(title="specviz", fill_width=True, delete_cache=(3600, 3600)) as demo:
        header = web.component("header", HEADER)
        with gr.Tabs() as frame:
            page = Page(demo, header, frame, {}, {}, {})
            for tab in tabs:
                lay_out(tab, page, engine)
        demo.load(
            None,
            None,
            [frame, *page.inner.values()],
            js=opening.opens(tabs),
            api_visibility="private",
        )
        for tab in tabs:
            for part in tab.parts:
                part.connect(page)
        own_pair.connect(demo, engine)
        api.build(engine)
    for event in demo.fns.values():
        if event.fn and event.queue is False and not iscoroutinefunction(event.fn):
            event.fn = check(event.fn)
    return demo


def lay_out(tab: Tab, page: Page, engine: Engine) -> None:
    """Lay out a tab within the frame of tabs, its pages in a frame of their own."""
    with gr.Tab(tab.title, id=tab.title) as page.opened[tab.title]:
        if tab.build:
            page.built[tab.title] = tab.build(engine)
        if tab.pages:
            with gr.Tabs(elem_classes="sv-pages") as page.inner[tab.title]:
                for part in tab.pages:
                    lay_out(part, page, engine)


def launch(demo: gr.Blocks, **more: Any) -> Any:
    """Serve the page to this machine only, unless GRADIO_SERVER_NAME names another address."""
    server.raise_descriptor_limit()
    # Threads of torch that spin while they wait take five times as long beside another busy
    # program.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    demo.queue(api_open=False)  # no way around the queue
    demo._queue = queue.FairQueue(demo)
    options = {
        "share": False,
        "show_error": False,  # it would show visitors the text of any exception
        "ssr_mode": False,
        "allowed_paths": [],
        "run_history": False,
        "mcp_server": find_spec("mcp") is not None,  # the endpoint is then a tool for agents too
        "enable_monitoring": False,
        "state_session_capacity": limits.SESSIONS,
        "footer_links": ["api", "settings"],
        "theme": theme(),
        # The page itself is the largest thing that travels, and the only one that gradio would send
        # as it is.
        "app_kwargs": {
            "middleware": [
                Middleware(GZipMiddleware, minimum_size=10_000, compresslevel=6),
                Middleware(
                    Guard,
                    checks=Checks(demo),
                    queue=demo._queue,
                    last_hop=server.behind_any_proxy(),
                ),
            ],
            "routes": [web.route(), run_store.ROUTE],
        },
        "css_paths": [WEB / f"{name}.css" for name in STYLES],
    }
    try:
        served = demo.launch(**(options | more))
    except OSError as error:  # the ports that gradio tries are taken
        raise ValueError(str(error)) from None
    demo.app.state_holder = queue.FairStates(demo)
    return served


def theme() -> gr.themes.Base:
    """Gradio's own, with the contrast that WCAG AA asks for: it writes white on light green, and
    grey on white."""
    base = gr.themes.Default(primary_hue="emerald", neutral_hue="slate", font=FONT, font_mono=MONO)
    green = {
        f"button_primary_{part}{state}{dark}": "*primary_800" if state else "*primary_700"
        for part in ("background_fill", "border_color")
        for state in ("", "_hover")
        for dark in ("", "_dark")
    }
    return base.set(body_text_color_subdued="*neutral_500", **green)
