"""The frame that tabs stand in: what a tab is, and what it is handed to reach the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import gradio as gr


class Page(NamedTuple):
    """The page with all of its tabs, for those that reach beyond themselves.

    Args:
        demo: the page; its `load` is what happens when a visitor comes.
        header: the title line, which is there before any tab was opened.
        tabs: choose which tab is shown, by title.
        inner: title of a tab that has pages -> choose which of them is shown, by title.
        opened: title -> the tab's frame, which says when it is opened.
        built: title -> what the tab's `build` returned.
    """

    demo: gr.Blocks
    header: gr.HTML
    tabs: gr.Tabs
    inner: dict[str, gr.Tabs]
    opened: dict[str, gr.Tab]
    built: dict[str, Any]


class Tab(NamedTuple):
    """A tab, or a page of one, as its module in app/tabs declares it.

    Args:
        title: what visitors read, and its name in links.
        build: takes the engine and lays it out; what it returns is for other tabs. None where the tab has pages.
        styles: its style sheets under assets/web, without ".css".
        connect: what joins it to other tabs, called when all of them are laid out.
        query: a parameter of an address that opens it, as ?lesson=3 does; with a value such as "lab=tree" it opens at
            any beginning of that value.
        pages: the pages of a tab, in the order in which they are read.
    """

    title: str
    build: Callable[[Any], Any] | None = None
    styles: tuple[str, ...] = ()
    connect: Callable[[Page], None] = lambda page: None
    query: str | None = None
    pages: tuple[Tab, ...] = ()

    @property
    def parts(self) -> tuple[Tab, ...]:
        """What is laid out: its pages, or the tab itself."""
        return self.pages or (self,)
