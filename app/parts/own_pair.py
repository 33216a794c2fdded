"""A pair of the visitor's own: a form with its names, a check before anything is loaded, and then
its use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import gradio as gr
import psutil

from specviz.models.hub import RANDOM

from ..machine.engine import Engine
from ..machine.fetching import needed, size, too_large
from ..machine.model_files import ModelFiles, model_files
from ..machine.queue import MACHINE
from ..machine.server import local
from .card import status, status_text
from .failures import explained
from .pairs import MODELS, offered

TARGET, DRAFT, CHECK, USE, REPORT = (
    f"sv-own-{part}" for part in ("target", "draft", "check", "use", "report")
)
ABOUT = "A folder saved by save_pretrained, or a name on the hub. Weights must be safetensors."


def lay_out(engine: Engine) -> None:
    """The form, where the owner of the page allows it; `connect` brings it to life."""
    if engine.other is None:
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
        with gr.Row():
            gr.Button("Check", min_width=80, elem_id=CHECK)
            gr.Button("Use", variant="primary", min_width=80, elem_id=USE)
        status(REPORT)


def connect(demo: gr.Blocks, engine: Engine) -> None:
    """The events of the form, which may set every menu of pairs on the page."""
    named = {
        block.elem_id: block for block in demo.blocks.values() if getattr(block, "elem_id", None)
    }
    if REPORT not in named:
        return
    menus = [
        block
        for block in demo.blocks.values()
        if MODELS in (getattr(block, "elem_classes", None) or ())
    ]
    inputs, report = [named[TARGET], named[DRAFT]], named[REPORT]
    answer = explained(
        "The pair could not be checked.", lambda text: {report: status_text(text, "error")}
    )

    def check(target: Any, draft: Any) -> Iterator[dict]:
        yield {report: status_text("Reading configurations and tokenizers.")}
        _, text, fits = describe(*names(engine, target, draft)[1:])
        yield {report: status_text(text, "" if fits else "error")}

    def use(target: Any, draft: Any) -> Iterator[dict]:
        title, first, second = names(engine, target, draft)
        yield {report: status_text("Reading configurations and tokenizers.")}
        name, text, fits = describe(first, second)
        if not fits:
            raise ValueError(text)
        for message in engine.loading(title):
            yield {report: status_text(message)}
        # whoever uses this machine's page finds the pair again; elsewhere it is for this page alone
        if local():
            engine.own[title] = name
        choices = {title: name for name, title in offered(engine)[0]} | {title: name}
        menu = gr.Dropdown(
            choices=[(name, title) for title, name in choices.items()], value=title, info=""
        )
        yield {report: status_text(f"In use: {name}. {text}")} | dict.fromkeys(menus, menu)

    shared = dict(show_progress="hidden", preprocess=False, api_visibility="private")
    named[CHECK].click(
        answer(check), inputs, [report], **shared
    )  # the hub may take long: no run waits for it
    named[USE].click(answer(use), inputs, [report, *menus], **shared, **MACHINE)


def names(engine: Engine, target: Any, draft: Any) -> tuple[str, str, str | None]:
    """The title of a pair in menus, and its two names; raises a `ValueError` if they are not
    allowed here."""
    if not isinstance(target, str) or not target.strip():
        raise ValueError("Target must be a folder or a name on the hub such as org/model.")
    if not isinstance(draft, str | None) or engine.other is None:
        raise ValueError("Draft must be text.")
    title = "|".join(part.strip() for part in (target, draft or "") if part.strip())
    load: Any = engine.other(title)
    return title, load.target, load.draft


def describe(target: str, draft: str | None) -> tuple[str, str, bool]:
    """The name of a pair in a menu, what is known before it is loaded, and whether it fits; torch
    comes with it.

    Only configurations, tokenizers and headers are read.
    """
    from specviz.models.early_exit import count_layers
    from specviz.models.loading import load_config, longest_text
    from specviz.models.pair import read_tokenizers
    from specviz.models.vocabulary import translation

    exit_layers = draft is not None and count_layers(draft)
    roles = {"target": target} | ({"draft": draft} if draft and not exit_layers else {})
    tokenizer, draft_tokenizer = read_tokenizers(target, draft)
    tokens = tokenizer.vocab_size if target.startswith(RANDOM) else len(tokenizer)
    sentences = [f"The vocabulary has {tokens:,} tokens."]
    if draft_tokenizer is not None:
        common = len(
            translation(tokenizer, draft_tokenizer, tokens, len(draft_tokenizer)).target_ids
        )
        sentences = [
            (
                f"The vocabularies differ: the draft proposes only the {common:,} common tokens "
                f"of {tokens:,}."
            )
        ]
    longest = min(longest_text(role, load_config(role, name)) for role, name in roles.items())
    sentences.append(f"Texts may have up to {longest:,} tokens.")
    models = [_files(name) for name in roles.values()]
    counts = [model.parameters or 0 for model in models]
    if all(counts):
        sentences.append(f"Parameters: {' and '.join(f'{count:,}' for count in counts)}.")
        if len(counts) > 1 and counts[0] <= counts[1]:
            sentences.append("The draft is no smaller than the target, so it cannot save time.")
    need, problem = needed(models), too_large(models)
    if need and not problem:
        free = psutil.virtual_memory().available
        sentences.append(f"About {size(need)} of memory are needed; {size(free)} are free.")
    names = [model.name.rsplit("/", 1)[-1] for model in models] + (
        [str(draft)] if exit_layers else []
    )
    return " + ".join(names), " ".join(filter(None, [*sentences, problem])), not problem


def _files(name: str) -> ModelFiles:
    """The files of a model; without sizes for random weights, and where the hub does not answer."""
    with suppress(OSError):  # its tokenizer lies in the cache
        if not name.startswith(RANDOM):
            return model_files(name)
    return ModelFiles(name, 0, None)
