"""The two components that draw for themselves: the stage (text, measures, tree) and a one-sentence notice.

Both have a fixed template: values never reach a template engine, only scripts that write text nodes.
"""

from __future__ import annotations

import json
from pathlib import Path

import gradio as gr

from specviz.offline import SCRIPTS

from .keeping import OPENED_BYTES, open_trace, save

ASSETS = Path(__file__).resolve().parent.parent / "assets"

STAGE_STARTS = """
const player = specvizPlayer(element, { save: server.save, open: server.open_trace, most: MOST, take: specvizTake });
player.expect(specvizPlaceAsked(location.search, false));
watch('value', () => player.receive(props.value));
player.receive(props.value);
"""

NOTICE = '<p class="sv-notice" role="status"><span class="mark"></span><span class="text"></span></p>'
NOTICE_STARTS = """
const show = () => {
  const notice = JSON.parse(props.value || '{}'), line = element.querySelector('.sv-notice');
  line.dataset.kind = notice.kind || '';
  line.querySelector('.text').textContent = notice.text || '';
};
watch('value', show);
show();
"""


def asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def stage(value: str, elem_id: str) -> gr.HTML:
    """A run, step by step. Its value is one message as `payload.message` writes it; the page keeps the history."""
    starts = STAGE_STARTS.replace("MOST,", f"{OPENED_BYTES},")
    return gr.HTML(
        value,
        html_template=asset("stage.html"),
        js_on_load="".join(map(asset, (*SCRIPTS, "take.js"))) + starts,
        server_functions=[save, open_trace],
        elem_id=elem_id,
        apply_default_css=False,
    )


def notice(value: str, elem_id: str) -> gr.HTML:
    """One sentence with a mark that says what kind it is; its value is what `sentence` writes."""
    return gr.HTML(value, html_template=NOTICE, js_on_load=NOTICE_STARTS, elem_id=elem_id, apply_default_css=False)


def sentence(kind: str, text: str) -> str:
    """The value of a notice.

    Args:
        kind: "lossless", "lossy", "useless", "impossible" or "error".
        text: the sentence.
    """
    return json.dumps({"kind": kind, "text": text}).replace("<", "\\u003c")
