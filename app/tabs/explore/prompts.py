"""Below the prompt: what to try with a pair, one sentence on it, and how far it is prepared."""

from __future__ import annotations

import json
from collections.abc import Callable

import gradio as gr

from specviz.base.files import ASSETS
from specviz.view.payload import page_json

from ...service.pair_ref import LABELS, SMOLLM2, TALES, PairRef
from ...service.service import RunService
from ..parts.web import component

# by pair: the prompt that the page opens with and its seed, what the pair is, and six prompts
EXAMPLES = json.loads((ASSETS / "examples.json").read_text("utf-8"))
TEMPLATE = (
    '<div class="sv-row"><div class="sv-chips sv-row sv-ui" role="group" aria-label="prompts">'
    '</div><p class="sv-about-model sv-small sv-line"></p>'
    '<p class="sv-preparing sv-small" role="status" hidden>'
    '<span class="sv-preparing-text sv-line"></span>'
    '<progress class="sv-progress" aria-label="prepared"></progress></p></div>'
)


def lay_out(service: RunService, ref: PairRef, opens: str) -> gr.HTML:
    """The room below the prompt, as it is for a pair; the page's own has the prompts of the one
    whose recordings the page opens with."""
    examples = {ref.models: EXAMPLES[opens], **EXAMPLES}
    return component(
        "prompts",
        TEMPLATE,
        ref.models,
        {"prompt": "#sv-prompt", "examples": examples},
        server_functions=[preparing(service)],
        elem_id="sv-prompts",
    )


def preparing(service: RunService) -> Callable[[object], str]:
    """The function with which the page asks how far SmolLM2 is."""

    def preparing(_: object) -> str:
        """A sentence while it is prepared and the share that is done, as JSON; where it cannot be
        had, why, and the pair to use instead."""
        pairs = service.pairs
        if pairs.problem:
            return page_json({"text": pairs.problem, "instead": TALES})
        # Nothing is said where nothing is prepared, or where it is done.
        loading = pairs.preparing
        if loading is None or loading.result.done():
            return "{}"
        text = f"Preparing {LABELS[SMOLLM2]}, once: {loading.note}"
        return page_json({"text": text, "done": loading.done})

    return preparing
