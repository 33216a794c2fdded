"""The browser's code on the page: one script that every component starts with, sent once and kept
by the browser."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from specviz.base.codec import JsonObject
from specviz.view.payload import page_json
from specviz.view.web import exports, joined

from .menus import drawn_menus

ENTRY = "index.js"
# Arguments of an event that is no run: it has no place in the queue of runs and no spinner, and
# each value comes as it was sent.
QUIET = {
    "queue": False,
    "show_progress": "hidden",
    "api_visibility": "private",
    "preprocess": False,
}
# The script is on its way when the component asks for it, so values that come meanwhile are kept
# for it. Its address is relative to the page, which may stand behind a proxy.
START = """
const missed = [props.value];
let hear = value => missed.push(value);
watch('value', () => hear(props.value));
const values = receive => {
  missed.forEach(value => receive(value));
  hear = receive;
};
import(new URL(ADDRESS, document.baseURI)).then(web => {
  web.NAME({ element, props, trigger, server, values, watch, menus: web.menus }, OPTIONS);
});
"""


@cache
def script() -> tuple[str, bytes]:
    """The address of the script, which changes with its content, and the script."""
    # One module: a page that loads forty of them waits for forty answers. The menus travel in it,
    # as they change only with the version, which changes its address too.
    names = ", ".join(exports(ENTRY))
    code = (
        f"{joined(ENTRY)}export const {{ {names} }} = index;\nexport const menus = "
        f"{page_json(drawn_menus())};\n"
    ).encode()
    return f"web/{hashlib.sha256(code).hexdigest()[:16]}.js", code


def component(
    name: str, template: str, value: str = "", options: JsonObject | None = None, **more: Any
) -> Any:
    """A `gradio.HTML` with a fixed template, which an export of assets/web/index.js fills with text
    nodes.

    Args:
        name: of the export, which gets the options.
        template: HTML; values never reach a template engine.
        value: what it is filled with first.
        options: for the export.
        more: for `gradio.HTML`.
    """
    # Only here: another process imports this module too, and has no use for gradio.
    import gradio as gr

    start = START.replace("ADDRESS", page_json(script()[0])).replace("NAME", name)
    start = start.replace("OPTIONS", page_json(options or {}))
    control = gr.HTML(
        value, html_template=template, js_on_load=start, apply_default_css=False, **more
    )
    control.served = {work.__name__ for work in more.get("server_functions", ())}
    return control


def route() -> Route:
    """Where the script is served."""
    address, code = script()
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}

    def serve(request: Request) -> Response:
        return Response(code, media_type="text/javascript", headers=headers)

    return Route(f"/{address}", serve)
