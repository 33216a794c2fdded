"""A pair of the visitor's own: a form with its names, a check before anything is loaded, and then
its use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import gradio as gr

from ...service.failures import explain
from ...service.http.server import local
from ...service.pair_ref import PairRef
from ...service.queue import visitor_of
from ...service.queued_run import Note, Turn
from ...service.service import RunService
from ...service.sizes import describe
from .card import status, status_text
from .job import streamed
from .pairs import choices, menus_of
from .web import QUIET

TARGET = "sv-own-target"
DRAFT = "sv-own-draft"
USE = "sv-own-use"
REPORT = "sv-own-report"
ABOUT = "A folder saved by save_pretrained, or a name on the hub. Weights must be safetensors."
READING = "Reading configurations and tokenizers."


def lay_out(service: RunService) -> None:
    """The form, where the owner of the page allows it; `connect` brings it to life."""
    if service.pairs.other is None:
        return
    with gr.Accordion("Own pair", open=False, elem_id="sv-own"):
        gr.Textbox(
            "",
            label="Target",
            placeholder="folder or org/model",
            info=ABOUT,
            max_lines=1,
            elem_id=TARGET,
        )
        gr.Textbox(
            "",
            label="Draft",
            placeholder="the same, early-exit:3, or empty",
            max_lines=1,
            elem_id=DRAFT,
        )
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
        yield {report: status_text(READING)}
        try:
            ref = named_pair(service, target, draft)
            visitor = visitor_of(request)
            found = await service.trials.ask(visitor, describe, ref.target, ref.draft)
            if not found.fits:
                raise ValueError(found.text)
            async with streamed(service, request, ref, nothing) as notes:
                async for note in notes:
                    yield {report: status_text(note.text)}
        except Exception as error:
            text = explain(error, "The pair could not be checked.")
            yield {report: status_text(text, "error")}
            return
        offer = service.pairs.offer(ref)
        # Whoever uses this machine's page finds the pair again; elsewhere it is for this page alone
        if local():
            service.pairs.add({ref.models: offer})
        listed = dict.fromkeys([(offer.label, ref.models), *choices(service)])
        menu = gr.Dropdown(choices=list(listed), value=ref.models, info="")
        yield {report: status_text(f"In use: {offer.label}. {found.text}")} | dict.fromkeys(
            menus, menu
        )

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
