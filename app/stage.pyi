"""The two components that draw for themselves: the stage (text, measures, tree) and a one-sentence notice.

Both have a fixed template: values never reach a template engine, only scripts that write text nodes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gradio as gr

SCRIPTS = ("tree.js", "inspector.js", "player.js")
ASSETS = Path(__file__).resolve().parent.parent / "assets"

def asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")

from gradio.events import Dependency

class Stage(gr.HTML):
    """A run, step by step. Its value is one message as `payload.message` writes it; the page keeps the history."""

    def __init__(self, value: str | None = None, elem_id: str | None = None) -> None:
        script = "".join(map(asset, SCRIPTS)) + (
            "const player = specvizPlayer(element);\n"
            "watch('value', () => player.receive(props.value));\n"
            "player.receive(props.value);\n"
        )  # fmt: skip
        super().__init__(
            value,
            html_template=asset("stage.html"),
            js_on_load=script,
            apply_default_css=False,
            elem_id=elem_id,
        )
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block

    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component

class Notice(gr.HTML):
    """One sentence with a mark that says what kind it is."""

    def __init__(self, value: str | None = None, elem_id: str | None = None) -> None:
        super().__init__(
            value,
            html_template='<p class="sv-notice" role="status"><span class="mark"></span><span class="text"></span></p>',
            js_on_load=(
                "const show = () => {\n"
                "  const note = JSON.parse(props.value || '{}'), line = element.querySelector('.sv-notice');\n"
                "  line.dataset.kind = note.kind || '';\n"
                "  line.querySelector('.text').textContent = note.text || '';\n"
                "};\n"
                "watch('value', show);\n"
                "show();\n"
            ),
            apply_default_css=False,
            elem_id=elem_id,
        )
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block

    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component

def notice(kind: str, text: str) -> str:
    """The value of a `Notice`.

    Args:
        kind: "lossless", "lossy", "useless", "impossible" or "error".
        text: the sentence.
    """
    return json.dumps({"kind": kind, "text": text}).replace("<", "\\u003c")
