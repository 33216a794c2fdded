"""A pair of the visitor's own: a form with its names, which loads it and has the menus show it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import gradio as gr

from ...service.failures import explain
from ...service.pair_ref import PairRef
from ...service.queued_run import Note, Turn
from ...service.service import RunService
from .card import status, status_text
from .job import streamed
from .pairs import choices, menus_of
from .web import QUIET

TARGET = "sv-own-target"
DRAFT = "sv-own-draft"
USE = "sv-own-use"
REPORT = "sv-own-report"
ABOUT = "A folder saved by save_pretrained, or a name on the hub. Weights must be safetensors."
WELL_KNOWN = {
    "SmolLM2 1.7B + 135M": "HuggingFaceTB/SmolLM2-1.7B|HuggingFaceTB/SmolLM2-135M",
    "Qwen3 4B + 0.6B": "Qwen/Qwen3-4B|Qwen/Qwen3-0.6B",
    "Llama 3.2 3B + 1B": "meta-llama/Llama-3.2-3B|meta-llama/Llama-3.2-1B",
    "GPT-2 XL + DistilGPT-2": "openai-community/gpt2-xl|distilbert/distilgpt2",
    "Pythia 1.4B + 70M": "EleutherAI/pythia-1.4b|EleutherAI/pythia-70m",
    "Qwen3 4B + SmolLM2 135M, two vocabularies": "Qwen/Qwen3-4B|HuggingFaceTB/SmolLM2-135M",
}


def lay_out(service: RunService) -> None:
    """The form, on a page for this machine only; `connect` brings it to life."""
    if service.pairs.other is None:
        return
    with gr.Accordion("Own pair", open=False, elem_id="sv-own"):
        known = gr.Dropdown(
            list(WELL_KNOWN.items()),
            value=None,
            label="Well-known pairs",
            info="Fills in two names. Use downloads the models from the hub.",
        )
        target = gr.Textbox(
            "",
            label="Target",
            placeholder="folder or org/model",
            info=ABOUT,
            max_lines=1,
            elem_id=TARGET,
        )
        draft = gr.Textbox(
            "",
            label="Draft",
            placeholder="the same, early-exit:3, or empty",
            max_lines=1,
            elem_id=DRAFT,
        )
        known.change(None, known, [target, draft], js="pair => pair.split('|')", **QUIET)
        gr.Button("Use", variant="primary", min_width=80, elem_id=USE)
        status(REPORT)


def connect(demo: gr.Blocks, service: RunService) -> None:
    """The events of the form, which may set every menu of pairs on the page."""
    named = {}
    for block in demo.blocks.values():
        if getattr(block, "elem_id", None):
            named[block.elem_id] = block
    if REPORT not in named:
        return
    menus = menus_of(demo)
    inputs = [named[TARGET], named[DRAFT]]
    report = named[REPORT]

    async def use(request: gr.Request, target: object, draft: object) -> AsyncIterator[dict]:
        try:
            ref = named_pair(service, target, draft)
            async with streamed(service, request, ref, nothing) as notes:
                async for note in notes:
                    yield {report: status_text(note.text)}
        except Exception as error:
            text = explain(error, "The pair could not be loaded.")
            yield {report: status_text(text, "error")}
            return
        offer = service.pairs.offer(ref)
        service.pairs.add({ref.models: offer})
        menu = gr.Dropdown(choices=choices(service), value=ref.models, visible=True)
        yield {report: status_text(f"In use: {offer.label}.")} | dict.fromkeys(menus, menu)

    shared = QUIET | {"queue": True, "concurrency_limit": None}
    named[USE].click(use, inputs, [report, *menus], **shared)


def nothing(turn: Turn) -> Iterator[Note]:
    """A run that only loads its pair."""
    return iter(())


def named_pair(service: RunService, target: object, draft: object) -> PairRef:
    """The pair that a visitor typed; raises a `ValueError` if it is not allowed here."""
    if not isinstance(target, str) or not target.strip():
        raise ValueError("Target must be a folder or a name on the hub such as org/model.")
    if not isinstance(draft, str | None):
        raise ValueError("Draft must be text.")
    ref = replace(PairRef.read(target), draft=(draft or "").strip())
    service.pairs.offer(ref)
    return ref
