"""The frame that tabs stand in: what a tab is, and what it is handed to reach the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import gradio as gr


class Page(NamedTuple):
    """The page with all of its tabs, for those that reach beyond themselves; tabs go by title."""

    demo: gr.Blocks
    header: gr.HTML  # the title line, which is there before any tab was opened
    tabs: gr.Tabs
    opened: dict[str, gr.Tab]  # the frame of each, which has the event of its opening
    built: dict[str, Any]  # what the `build` of each returned


class Tab(NamedTuple):
    """A tab, as its module in app/tabs declares it.

    Args:
        title: its name on the page and in links.
        build: takes the service and lays it out; what it returns is for other tabs.
        styles: its style sheets under assets/web, without ".css".
        connect: joins it to other tabs when all of them are laid out.
        query: a parameter of an address that opens it, as ?lesson=3 does; "lab=tree" opens at
            beginnings of "tree".
    """

    title: str
    build: Callable[[Any], Any]
    styles: tuple[str, ...] = ()
    connect: Callable[[Page], None] = lambda page: None
    query: str | None = None
