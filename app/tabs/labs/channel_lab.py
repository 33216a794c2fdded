"""The page "Sender and receiver": a text that is sent as accepted indices, each step with its codeword."""

from __future__ import annotations

import json
import math
from functools import cache
from statistics import fmean
from typing import Any

from specviz.codec import dumps
from specviz.files import asset
from specviz.theory.channel import TunstallCode

from ...parts.web import starts
from .channel_recording import recorded

TITLE = "Sender and receiver"
DRAFTED = (4, 20, 84)  # with four symbols: codewords of 4, 6 and 8 bits, all of which are used


def build(engine: Any) -> None:
    """Lay out the page."""
    import gradio as gr

    gr.HTML(
        json.dumps(""),
        html_template=asset("labs/channel.html"),
        js_on_load=starts("channel"),
        server_functions=[transcript],
        elem_id="sv-channel",
        apply_default_css=False,
    )


def transcript(asked: Any = None) -> str:
    """All that was sent and what both sides made of it, as JSON; nothing can be asked."""
    return _transcript()


@cache
def _transcript() -> str:
    data = recorded()
    kl, entropy = data["kl"], data["entropy"]
    return dumps({
        "prompt": data["prompt"], "pair": data["pair"], "temperature": data["temperature"],
        "tuned": {name: data["code"][name] for name in ("prompt", "tokens")},
        "indices": data["indices"], "sender": data["sender"], "receivers": data["receivers"],
        "codes": [_coded(TunstallCode(tuple(data["code"]["shares"]), drafted), data["indices"]) for drafted in DRAFTED],
        "bits": {
            "kl": fmean(kl), "entropy": fmean(entropy), "upper": fmean(d + math.log2(d + 1) + 4 for d in kl),
            "plain": math.log2(data["vocabulary"]),
        },
    })  # fmt: skip


def _coded(code: TunstallCode, indices: list[int]) -> dict[str, Any]:
    """What is sent under a code, a word for every step, each with the tokens and the bits up to its end."""
    words, tokens, bits = [], 0, 0
    for word in code.encode(indices):
        tokens, bits = tokens + len(word.indices), bits + len(word.bits)
        words.append({"leaf": word.bits[: code.width], "excess": word.bits[code.width :], "end": tokens, "sent": bits})
    return {"drafted": code.drafted, "width": code.width, "leaves": len(code.leaves), "words": words}
