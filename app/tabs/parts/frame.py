"""What a tab of the page is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ...service.service import RunService


class Tab(NamedTuple):
    """A tab, as its module in app/tabs declares it.

    Args:
        title: its name on the page and in links.
        build: takes the service and lays it out.
        styles: its style sheets under assets/web, without ".css".
        query: a parameter of an address that opens it, as ?lesson=3 does; "lab=tree" opens at
            beginnings of "tree".
    """

    title: str
    build: Callable[[RunService], None]
    styles: tuple[str, ...] = ()
    query: str | None = None
