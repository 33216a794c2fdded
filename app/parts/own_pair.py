"""A pair of the visitor's own: a form with its names, a check before anything is loaded, and then its use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import gradio as gr

from ..machine.engine import Engine
from ..machine.fetching import free_memory, needed, size, too_large
from ..machine.queue import MACHINE
from ..machine.server import local
from .card import said, status
from .failures import explained
from .pairs import MODELS, offered

if TYPE_CHECKING:
    from specviz.models.preview import Preview

TARGET, DRAFT, CHECK, USE, REPORT = (f"sv-own-{part}" for part in ("target", "draft", "check", "use", "report"))
ABOUT = "A folder saved by save_pretrained, or a name on the hub. Weights must be safetensors."


def lay_out(engine: Engine) -> None:
    """The form, where the owner of the page allows it; `connect` brings it to life."""
    if engine.other is None:
        return
    with gr.Accordion("Own pair", open=False, elem_id="sv-own"):
        gr.Textbox("", label="Target", placeholder="folder or org/model", info=ABOUT, max_lines=1, elem_id=TARGET)
        gr.Textbox("", label="Draft", placeholder="the same, early-exit:3, or empty", max_lines=1, elem_id=DRAFT)
        with gr.Row():
            gr.Button("Check", min_width=80, elem_id=CHECK)
            gr.Button("Use", variant="primary", min_width=80, elem_id=USE)
        status(REPORT)


def connect(demo: gr.Blocks, engine: Engine) -> None:
    """The events of the form, which may set every menu of pairs on the page."""
    named = {block.elem_id: block for block in demo.blocks.values() if getattr(block, "elem_id", None)}
    if REPORT not in named:
        return
    menus = [block for block in demo.blocks.values() if MODELS in (getattr(block, "elem_classes", None) or ())]
    inputs, report = [named[TARGET], named[DRAFT]], named[REPORT]
    answer = explained("The pair could not be checked.", lambda text: {report: said(text, "error")})

    def check(target: Any, draft: Any) -> Iterator[dict]:
        yield {report: said("Reading configurations and tokenizers.")}
        _, first, second = names(engine, target, draft)
        found = look(first, second)
        yield {report: said(" ".join(sentences(found)), "error" if too_large(list(found.models)) else "")}

    def use(target: Any, draft: Any) -> Iterator[dict]:
        title, first, second = names(engine, target, draft)
        yield {report: said("Reading configurations and tokenizers.")}
        found = look(first, second)
        if too_large(list(found.models)):
            raise ValueError(" ".join(sentences(found)))
        for text in engine.loading(title):
            yield {report: said(text)}
        name = label(found, second)
        if local():  # whoever uses this machine's page finds the pair again; elsewhere it is for this page alone
            engine.own[title] = name
        choices = {title: name for name, title in offered(engine)[0]} | {title: name}
        menu = gr.Dropdown(choices=[(name, title) for title, name in choices.items()], value=title, info="")
        yield {report: said(f"In use: {name}. {' '.join(sentences(found))}")} | dict.fromkeys(menus, menu)

    shared = dict(show_progress="hidden", preprocess=False, api_visibility="private")
    named[CHECK].click(answer(check), inputs, [report], **shared)  # the hub may take long: no run waits for it
    named[USE].click(answer(use), inputs, [report, *menus], **shared, **MACHINE)


def names(engine: Engine, target: Any, draft: Any) -> tuple[str, str, str | None]:
    """The title of a pair in menus, and its two names.

    Raises:
        ValueError: if they are none, or not allowed here.
    """
    if not isinstance(target, str) or not target.strip():
        raise ValueError("Target must be a folder or a name on the hub such as org/model.")
    if not isinstance(draft, str | None) or engine.other is None:
        raise ValueError("Draft must be text.")
    title = "|".join(part.strip() for part in (target, draft or "") if part.strip())
    load: Any = engine.other(title)
    return title, load.target, load.draft


def look(target: str, draft: str | None) -> Preview:
    """What is known of a pair; torch comes with it, which the page opens without."""
    from specviz.models.preview import preview

    return preview(target, draft)


def label(found: Preview, draft: str | None) -> str:
    """A pair in a menu: the last parts of both names."""
    names = [model.name for model in found.models]
    return " + ".join(name.rsplit("/", 1)[-1] for name in [*names, *([draft] if draft and len(names) == 1 else [])])


def sentences(found: Preview) -> list[str]:
    """What is known of a pair before it is loaded: on its vocabulary, its size, and its memory."""
    models = list(found.models)
    need, free = needed(models), free_memory()
    memory = too_large(models) or (
        f"They need about {size(need)} of memory" + (f"; {size(free)} are free." if free is not None else ".")
        if need else "How much memory they need is not known."
    )  # fmt: skip
    vocabulary = f"The vocabulary has {found.tokens[0]:,} tokens."
    if found.common is not None:
        vocabulary = (
            f"The vocabularies differ: {found.tokens[0]:,} and {found.tokens[1]:,} tokens, {found.common:,} in common; "
            "the draft proposes only common tokens."
        )
    elif len(models) > 1:
        vocabulary = f"Target and draft have the same vocabulary of {found.tokens[0]:,} tokens."
    return [vocabulary, parameters(found), f"Texts may have up to {found.longest:,} tokens.", memory]


def parameters(found: Preview) -> str:
    """A sentence on the sizes, and whether the draft is small enough to help."""
    counts = [model.parameters for model in found.models]
    if not all(counts):
        total = size(sum(model.bytes for model in found.models))
        return f"The files have {total}; the parameters are not known."
    target, *draft = (float(count or 0) for count in counts)
    if not draft:
        return f"The target has {count_words(target)} parameters."
    ratio = target / draft[0]
    small = f"{ratio:.1f} times as many as the draft" if ratio > 1 else "no more than the draft, which cannot save time"
    return f"The target has {count_words(target)} parameters, {small} ({count_words(draft[0])})."


def count_words(number: float) -> str:
    """A number of parameters in words."""
    for unit, name in ((1e9, "billion"), (1e6, "million")):
        if number >= unit:
            return f"{number / unit:.1f} {name}"
    return f"{number:,.0f}"
