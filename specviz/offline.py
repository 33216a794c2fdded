"""A run as one HTML file that plays with no server and no network: the demo's own stage around a recorded run."""

from __future__ import annotations

import html

from .acceptance import ASSETS
from .payload import recorded_message
from .record import Trace

SCRIPTS = ("tree.js", "detail.js", "inspector.js", "growth.js", "picture.js", "keep.js", "place.js", "player.js")
# Nothing may be fetched, not even by a hostile text that found a way in; pictures may be saved from the page.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"
STARTS = """
const page = document.body;
page.classList.toggle('dark', matchMedia('(prefers-color-scheme: dark)').matches);
specvizPlayer(page).receive(document.getElementById('run').textContent);
"""


def offline_page(trace: Trace) -> str:
    """The whole page as text.

    Args:
        trace: the run; all of its text travels as JSON and reaches the page as text nodes only.
    """
    style = _asset("style.css") + _asset("offline.css")
    script = "".join(map(_asset, SCRIPTS)) + STARTS
    title = html.escape(trace.prompt_text[:60])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>specviz: {title}</title>\n<style>\n{style}</style></head>\n"
        f'<body class="gradio-container sv-offline">\n{_asset("stage.html")}\n'
        f'<script type="application/json" id="run">{recorded_message(trace)}</script>\n'
        f"<script>\n{script}</script>\n</body></html>\n"
    )


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
