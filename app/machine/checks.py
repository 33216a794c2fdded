"""Check the bodies of requests before gradio stores them; every error is one sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from inspect import signature
from math import inf
from pathlib import Path
from time import time
from typing import Any

import gradio as gr
from gradio.components.api_component import Api

from . import limits
from .guard import API, Rejected

NESTED = 4_000  # characters of a list or an object in JSON: a control keeps it for its visitor, at 20 times its size
OPENS = ("open_trace",)  # the server functions that may be sent much
DIGITS = 300  # of a whole number; more do not fit into a float
LISTS = (gr.CheckboxGroup, gr.JSON, gr.UploadButton, gr.State, Api)  # what may be sent a list or an object


class Checks:
    """Whether a request is one that this page sends.

    Args:
        demo: the page.
    """

    def __init__(self, demo: gr.Blocks) -> None:
        self.demo = demo

    def __call__(self, path: str, body: bytes) -> None:
        """Look at a body.

        Raises:
            Rejected: with a sentence, if it does not belong to this page.
        """
        match path.removeprefix(API):
            case "/queue/join" | "/run/predict":
                self._event(fields(body))
            case "/call/generate":
                values(self._endpoint(), fields(body).get("data"), self._parameters())
            case "/call/v2/generate":
                self._named(fields(body))
            case "/component_server":
                self._server(fields(body), len(body))
            case "/upload":
                self._upload(body)
            case "/mcp" if body:
                fields(body)  # `Agents` looks at the rest

    def _event(self, asked: dict[str, Any]) -> None:
        session(asked)
        event = self.demo.fns.get(asked["fn_index"]) if type(asked.get("fn_index")) is int else None
        if event is None or event.fn is None:
            raise Rejected(404, "fn_index must be the number of an event that this page has on its server.")
        values(event, asked.get("data"))
        if event.collects_event_data and not isinstance(asked.get("event_data"), dict):
            raise Rejected(400, "event_data must be an object for this event.")
        plain("event_data", asked.get("event_data"), limits.BODY)
        for block, value in zip(event.inputs, asked["data"], strict=True):
            if isinstance(block, gr.UploadButton) and value is not None:
                self._uploaded(value)
            elif event.preprocess and not block.stateful:
                self._chosen(asked.get("session_hash"), block, value)

    def _chosen(self, name: str | None, block: Any, value: Any) -> None:
        """Whether a control can have this value, as gradio itself would find out, with a traceback in the log."""
        known = self.demo.state_holder.session_data.get(name)
        block = known[block._id] if known and block._id in known else block
        try:
            block.preprocess(value)
        except Exception:
            raise Rejected(
                400, f"{block.label} cannot be {str(value)[:40]!r}. Choose one of the offered values."
            ) from None

    def _uploaded(self, value: Any) -> None:
        if not (isinstance(value, dict) and value.get("path") in self.demo.upload_file_set):
            raise Rejected(400, "The file must be one that was just uploaded. Choose it again.")

    def _endpoint(self) -> Any:
        return next(event for event in self.demo.fns.values() if event.api_name == "generate")

    def _parameters(self) -> list[str]:
        return list(signature(self._endpoint().fn).parameters)

    def call(self, asked: dict[str, Any]) -> None:
        """Look at a call of the tool; raises `Rejected` where its arguments are not those of the endpoint."""
        given = params.get("arguments") if isinstance(params := asked.get("params"), dict) else None
        if not isinstance(given, dict):
            raise Rejected(400, 'A call must have arguments such as {"prompt": "Once upon a time"}.')
        self._named(given)

    def _named(self, asked: dict[str, Any]) -> None:
        names = self._parameters()
        if unknown := [name for name in asked if name not in names]:
            raise Rejected(400, f"{unknown[0][:40]!r} is not a parameter. The parameters are {', '.join(names)}.")
        if "prompt" not in asked:
            raise Rejected(400, "prompt must be given.")
        for name, value in asked.items():
            plain(name, value)

    def _server(self, asked: dict[str, Any], size: int) -> None:
        session(asked)
        name, number = asked.get("fn_name"), asked.get("component_id")
        block = self.demo.blocks.get(number) if type(number) is int else None
        known = isinstance(name, str) and getattr(getattr(block, name, None), "_is_server_fn", False)
        if not known or "session_hash" not in asked or "data" not in asked:
            raise Rejected(404, "component_id, fn_name, session_hash and data must be those of a part of this page.")
        if name not in OPENS:
            plain("data", asked["data"], limits.BODY)
            if size > limits.BODY:
                raise Rejected(413, f"A request may have at most {limits.BODY:,} bytes.")

    def _upload(self, body: bytes) -> None:
        """Reserve one file: files that were read are removed, and the total is limited."""
        if body.count(b"filename=") > 1:
            raise Rejected(413, "Upload one file at a time.")
        kept = self.demo.upload_file_set
        for path in [Path(path) for path in kept]:
            with suppress(OSError):
                if path.stat().st_mtime + limits.UPLOAD_SECONDS > time():
                    continue
                path.unlink()
                path.parent.rmdir()
            kept.discard(str(path))
        if len(kept) >= limits.UPLOADS:
            raise Rejected(503, "Too many files are being opened at once. Try again in a minute.")


def fields(body: bytes) -> dict[str, Any]:
    """The fields of a body; raises `Rejected` where it is no object in JSON."""
    try:
        asked = json.loads(body, parse_int=lambda text: int(text) if len(text) <= DIGITS else inf)
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise Rejected(400, "The request must be an object in JSON.")
    return asked


def session(asked: dict[str, Any]) -> None:
    """Raises `Rejected` where the name of a session is none; it is kept long after the request."""
    name = asked.get("session_hash")
    if name is not None and not (isinstance(name, str) and 0 < len(name) <= 64):
        raise Rejected(400, "session_hash must be text of at most 64 characters.")


def values(event: Any, data: Any, names: Sequence[str] = ()) -> None:
    """Raises `Rejected` where data are not one fitting value for each input of an event, whose labels are its names."""
    if not isinstance(data, list) or len(data) != len(event.inputs):
        raise Rejected(400, f"data must be a list of {len(event.inputs)} values for this event.")
    for block, name, value in zip(event.inputs, names or [block.label for block in event.inputs], data, strict=True):
        if isinstance(value, list | dict) and not (isinstance(block, LISTS) or getattr(block, "multiselect", False)):
            raise Rejected(400, f"{name} must be text or a number, not a list or an object.")
        if not isinstance(block, gr.UploadButton):
            plain(name, value)


def plain(name: Any, value: Any, most: int = NESTED) -> None:
    """Raises `Rejected` where a value has a number that is none, is a long list or object, or names a file."""
    if isinstance(value, str):
        return
    try:
        text = json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        raise Rejected(
            400, f"{name} must contain only finite numbers of at most {DIGITS} digits, and little nesting."
        ) from None
    if len(text) > most or '"path":' in text:  # which gradio would take for a file of this machine
        raise Rejected(400, f"{name} must have at most {most:,} characters as JSON and must not name a file.")
