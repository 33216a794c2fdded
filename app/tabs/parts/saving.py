"""What a visitor may do with a stored run: save it as a file, and open one from a file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from specviz.view.payload import page_json

from ...service.failures import as_sentence
from ...service.http.guard import OPEN
from ...service.queue import VISITOR
from ...service.run_store import new_name
from ...service.service import RunService
from .uploads import KINDS, export_run, read_run

MAX_LINK = 16_000  # characters


def saver(service: RunService) -> Callable[[object], Awaitable[str]]:
    """The function with which the page asks for a stored run as a file."""

    async def save(data: object) -> str:
        """From {"run": its name, "kind": one of `KINDS`, "link": to it}: {"text"} or {"error"}, as
        JSON."""
        try:
            if not isinstance(data, dict):
                data = {}
            kind = data.get("kind")
            if kind not in KINDS:
                raise ValueError(f"A run can be saved as {' or '.join(KINDS)}.")
            text = await service.between_steps(service.runs.text, data.get("run"))
            # A page is made in the other process; JSON is there already.
            if kind == "html":
                link = str(data.get("link") or "")[:MAX_LINK]
                text = await service.requests.ask(VISITOR.get(), export_run, text, link)
            return page_json({"text": text})
        except ValueError as error:
            return page_json({"error": str(error)})

    return save


def server_function(service: RunService, work: Callable[[object], str]) -> Callable[..., Any]:
    """A function that the page's scripts call, computed in the other process; its answer or
    {"error"}, as JSON."""

    async def answer(data: object) -> str:
        try:
            return await service.requests.ask(VISITOR.get(), work, data)
        except ValueError as error:
            return page_json({"error": str(error)})

    answer.__name__ = work.__name__  # by which the page calls it
    return answer


def open_route(service: RunService) -> Route:
    """Where a saved run is sent as it is in its file; the answer is a message to the page, or
    {"error"}, as JSON."""

    async def open_run(request: Request) -> Response:
        # Stored under a new name, so that the visitor can save it again like a run of this page.
        name = new_name("file")
        try:
            body = await request.body()
            message, packed = await service.requests.ask(VISITOR.get(), read_run, body, name)
            service.runs.put(name, packed)
        except ValueError as error:
            sentence = f"This file was not opened. {as_sentence(error)}"
            message = page_json({"error": sentence}).encode()
        return Response(message, media_type="application/json")

    return Route(OPEN, open_run, methods=["POST"])
