"""The labels of menu choices: which of them are incompatible, lossy or without effect with the other choices.

Everything comes from `compatible`. A dropdown cannot disable a single choice, so a choice that is not plainly fine
carries its mark and its sentence in its label; a style sheet greys out what is impossible, and Run is off while such a
choice is taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specviz import RunConfig, compatible
from specviz.compatibility import Compatibility

if TYPE_CHECKING:
    import gradio as gr

MODELS = "sv-models"  # the class of every menu of pairs
FOLDERS = "To offer folders of this machine, set SPECVIZ_PAIRS."
WORDS = {"builder": "tree builder", "verifier": "rule", "drafter": "drafter"}
MARKS = {"impossible": "✕ incompatible", "lossy": "≠ lossy", "useless": "! no effect"}


def kind(match: Compatibility) -> str:
    """One word for a verdict on a builder and a rule: "impossible", "lossy", "useless" or "lossless"."""
    if not match.possible:
        return "impossible"
    if not match.lossless:
        return "lossy"
    return "lossless" if match.useful else "useless"


def choices(
    family: str,
    candidates: dict[str, Any],
    config: RunConfig,
    blamed: bool = True,
) -> list[tuple[str, str]]:
    """The choices of one menu, (label, name).

    Args:
        family: "builder", "verifier" or "drafter".
        candidates: name -> one of the family, with its parameters.
        config: what is taken now in every menu; the sentence on that stands in the notice already.
        blamed: whether this menu also marks what is taken now, where that is incompatible with the other menus.
    """
    listed = []
    for name, candidate in candidates.items():
        match = compatible(replace(config, **{family: candidate}))
        taken = name == getattr(config, family).name
        mark = MARKS.get(kind(match)) if blamed or not taken or match.possible else None
        label = candidate.title if mark is None else f"{candidate.title} {mark}"
        if mark is not None and not taken:
            label += f"\n{match.reason}"
        listed.append((label, name))
    return listed


def nearest(offered: dict[str, dict[str, Any]], config: RunConfig, kept: str) -> dict[str, str] | None:
    """One other choice that makes an impossible configuration possible, as a sentence and a link; None if none does.

    Args:
        offered: kind -> name -> one of the family, with its parameters.
        config: the configuration.
        kept: the kind of what was chosen last, which is replaced only where nothing else helps.
    """
    for family in sorted(offered, key=lambda one: one == kept):
        for candidate in offered[family].values():
            if compatible(replace(config, **{family: candidate})).possible:
                text = f"For instance, the {WORDS[family]} {candidate.title} works."
                return {"text": text, "label": f"Use {candidate.title}", "search": f"?{family}={candidate.name}"}
    return None


def models_menu(engine: Any) -> gr.Dropdown:
    """The menu of pairs; a hub adds its own when it answers."""
    import gradio as gr
    from gradio.context import Context

    menu = gr.Dropdown(
        engine.titles, value=engine.titles[0], label="Model pair", filterable=False, elem_classes=MODELS,
        visible=len(engine.titles) > 1 or engine.other is not None,
    )  # fmt: skip
    menu.also = tuple(engine.hub.pairs) if engine.hub else ()  # which a link may name before the hub has answered
    if engine.hub is not None or engine.other is not None:

        def more() -> Any:
            choices, info = offered(engine)
            return gr.Dropdown(choices=choices, info=info, visible=len(choices) > 1 or engine.other is not None)

        Context.root_block.load(more, None, menu, queue=False, show_progress="hidden", api_visibility="private")
    return menu


def offered(engine: Any) -> tuple[list[tuple[str, str]], str]:
    """All pairs that may be chosen now, (label, title), and a sentence on them."""
    listed, info = engine.hub.menu() if engine.hub is not None else ([], "")
    choices = [*((title, title) for title in engine.titles), *listed]
    return choices, f"{info} {FOLDERS}" if info and not listed and engine.other is None else info
