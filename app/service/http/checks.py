"""What the body of a request may hold, looked at before gradio stores it; every error is one
sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from inspect import signature

import gradio as gr
from gradio.blocks import BlockFunction
from gradio.components.api_component import Api
from pydantic_core import from_json

from specviz.base.codec import JsonObject

# Characters of a list or an object as JSON, which a control keeps at 20 times its size.
MAX_NESTED = 4_000
MAX_DIGITS = 300  # more do not fit into a float
LISTS = (gr.CheckboxGroup, gr.JSON, gr.State, Api)  # what may be sent a list or an object


class Rejected(Exception):
    """A rejected request: its status, and a sentence that says why."""


class Checks:
    """Whether a request is one that this page sends."""

    def __init__(self, demo: gr.Blocks) -> None:
        self.demo = demo
        self.endpoint = next(event for event in demo.fns.values() if event.api_name == "generate")
        self.parameters = list(signature(self.endpoint.fn).parameters)

    def __call__(self, path: str, data: JsonObject) -> None:
        """Look at the fields of a body; raises `Rejected` if it does not belong to this page."""
        session = data.get("session_hash")
        if session is not None and not (isinstance(session, str) and 0 < len(session) <= 64):
            raise Rejected(400, "session_hash must be text of at most 64 characters.")
        match path:
            case "/queue/join" | "/run/predict":
                self._event(data)
            case "/call/generate":
                check_values(self.endpoint, data.get("data"), self.parameters)
            case "/call/v2/generate":
                self._arguments(data)
            case "/component_server":
                self._server_function(data)

    def call(self, data: JsonObject) -> None:
        """Look at a call of the tool; raises `Rejected` where its arguments are not those of the
        endpoint."""
        params = data.get("params")
        arguments = params.get("arguments") if isinstance(params, dict) else None
        if not isinstance(arguments, dict):
            raise Rejected(
                400, 'A call must have arguments such as {"prompt": "Once upon a time"}.'
            )
        self._arguments(arguments)

    def _event(self, data: JsonObject) -> None:
        event = None
        number = data.get("fn_index")
        # `type`, because True is an int too, and would be event 1.
        if type(number) is int:
            event = self.demo.fns.get(number)
        if event is None or event.fn is None:
            raise Rejected(
                404, "fn_index must be the number of an event that this page has on its server."
            )
        check_values(event, data.get("data"))
        if event.collects_event_data and not isinstance(data.get("event_data"), dict):
            raise Rejected(400, "event_data must be an object for this event.")
        check_plain("event_data", data.get("event_data"), limit=2**20)

    def _arguments(self, data: JsonObject) -> None:
        # A misspelt name would otherwise be left out without a word, and a default stand for it.
        unknown = [name for name in data if name not in self.parameters]
        if unknown:
            raise Rejected(
                400,
                (
                    f"{unknown[0][:40]!r} is not a parameter. The parameters are "
                    f"{', '.join(self.parameters)}."
                ),
            )
        if "prompt" not in data:
            raise Rejected(400, "prompt is required.")
        for name, value in data.items():
            check_plain(name, value)

    def _server_function(self, data: JsonObject) -> None:
        name = data.get("fn_name")
        number = data.get("component_id")
        block = self.demo.blocks.get(number) if type(number) is int else None
        # Only functions that a component of this page was made with.
        exists = isinstance(name, str) and name in getattr(block, "served", ())
        if not exists or "session_hash" not in data or "data" not in data:
            raise Rejected(
                404,
                (
                    "component_id, fn_name, session_hash and data must be those of a part of "
                    "this page."
                ),
            )
        check_plain("data", data["data"], limit=2**20)


def fields(body: bytes) -> JsonObject:
    """The fields of a body; raises `Rejected` where it is no object in JSON, or has what is no
    number or no text."""
    try:
        data = from_json(body, allow_inf_nan=False)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise Rejected(
            400, "The request must be an object in JSON, with finite numbers and valid Unicode."
        )
    return data


def check_values(event: BlockFunction, data: object, names: Sequence[str] = ()) -> None:
    """Raises `Rejected` where data are not one fitting value for each input of an event, whose
    labels are its names."""
    if not isinstance(data, list) or len(data) != len(event.inputs):
        raise Rejected(400, f"data must be a list of {len(event.inputs)} values for this event.")
    names = names or [block.label for block in event.inputs]
    for block, name, value in zip(event.inputs, names, data, strict=True):
        takes_lists = isinstance(block, LISTS) or getattr(block, "multiselect", False)
        # Gradio would keep a list as the value of a text box, and pass it on to whoever reads it.
        if isinstance(value, list | dict) and not takes_lists:
            raise Rejected(400, f"{name} must be text or a number, not a list or an object.")
        check_plain(name, value)


def check_plain(name: object, value: object, limit: int = MAX_NESTED) -> None:
    """Raises `Rejected` where a value has a number that is too long, is a long list or object, or
    names a file."""
    if isinstance(value, str):
        return
    # Python reads and writes numbers of thousands of digits in quadratic time.
    try:
        text = json.dumps(value, allow_nan=False)
        fits = not re.search(rf"\d{{{MAX_DIGITS + 1}}}", text)
    except (ValueError, RecursionError):
        fits = False
    if not fits:
        raise Rejected(
            400,
            f"{name} must have finite numbers of at most {MAX_DIGITS} digits and little nesting.",
        )
    # Gradio takes an object with a path for a file of this machine.
    if len(text) > limit or '"path":' in text:
        raise Rejected(
            400, f"{name} must have at most {limit:,} characters as JSON and must not name a file."
        )
