"""The Tree lab: from an acceptance vector and sizes to every builder's tree, and the attention mask of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specviz.acceptance.calibration import from_text
from specviz.acceptance.on_text import Acceptance
from specviz.files import asset

from ...parts.card import intro, said, status
from ...parts.failures import explained
from ...parts.web import starts
from .asked import LIMITS, OWN, check_cells, choices, in_text, preset_from, sizes_from, vector_from
from .forest import Sizes
from .paper_trees import PRESETS
from .pictures import Look, drawn, picture

if TYPE_CHECKING:
    import gradio as gr

TITLE = "Tree lab"
INTRO = (
    "Which shape should a drafted tree have? Type the acceptance probability of the first, second, third child of a "
    "node to see the tree of every builder, its expected tokens per target pass, and the attention blocks it "
    "needs."
)
HELP = {
    "nodes": "At most, including the root.",
    "levels": "At most, below the root.",
    "width": "Number of k sequences, children in k-ary and SVIP trees, nodes that EAGLE-2 expands per level.",
    "children": "Per node of Sequoia's and the optimal tree.",
    "spread": "How much the synthetic distributions differ; at 0 all equal the vector.",
    "seed": "Seed of the synthetic distributions.",
}


def build(engine: Any) -> None:
    """Lay out this half of the tab."""
    import gradio as gr

    from ...parts.file_button import file_button

    name, first = next(iter(choices().items()))
    sizes, look = Sizes(), Look()
    with gr.Row(elem_classes="sv-page sv-lab-page"):
        with gr.Column(scale=0, min_width=330, elem_classes="sv-rail sv-sticky sv-lab-rail"):
            stored = gr.Dropdown(
                [*choices(), OWN], value=name, label="Acceptance vector", filterable=False, elem_id="sv-lab-stored"
            )
            box = gr.Textbox(
                in_text(first.vector), label="P of child 1, 2, 3, ...", lines=3, max_lines=6, elem_id="sv-lab-box",
                info="From 0 to 1, with a sum of at most 1.",
            )  # fmt: skip
            line = status("sv-lab-status")
            line.value = said(about(name, first.vector, first.source))
            load = file_button("Load vectors", elem_id="sv-lab-load")
            titles = [(preset.title, name) for name, preset in PRESETS.items()]
            preset = gr.Dropdown(titles, value="builders", label="Trees", filterable=False, elem_id="sv-lab-preset")
            sliders = {n: slider(n, getattr(sizes, n)) for n in LIMITS if n not in ("spread", "seed")}
            branching = gr.Textbox(
                ", ".join(map(str, sizes.branching)), label="Children per level", info="Of branching, from the root.",
                max_lines=1, elem_id="sv-lab-branching",
            )  # fmt: skip
            sliders |= {n: slider(n, getattr(sizes, n)) for n in ("spread", "seed")}
        with gr.Column(scale=1, min_width=320, elem_classes="sv-main"):
            intro(INTRO)
            lab = gr.HTML(
                picture("builders", first.vector, sizes, look), html_template=asset("labs/trees.html"),
                js_on_load=starts("trees"), apply_default_css=False,
                elem_id="sv-lab",
            )  # fmt: skip
    states = gr.State(look), gr.State(()), gr.State(None)
    connect(stored, box, load, preset, branching, sliders, line, lab, *states)


def slider(name: str, value: float) -> gr.Slider:
    import gradio as gr

    label, low, high, whole = LIMITS[name]
    return gr.Slider(low, high, value=value, step=1 if whole else 0.05, label=label, info=HELP[name])


def about(name: str, vector: tuple[float, ...], source: str) -> str:
    """A vector in words."""
    ranks = "1 rank" if len(vector) == 1 else f"{len(vector)} ranks"
    return f"{name}: {source}; {ranks}, sum {sum(vector):.4g}."


def connect(stored, box, load, preset, branching, sliders, line, lab, looked, loaded, own) -> None:
    """Every event of this half; the states are the look, the vectors of a file, and what was typed last."""
    import gradio as gr

    from ...machine.pool import run_in_worker

    quiet = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    raw = {"preprocess": False, **quiet}  # errors of a control become a message here, not a toast
    names = list(sliders)
    inputs = [box, preset, looked, branching, *sliders.values()]
    outputs = [line, lab, looked]

    async def show(text: Any, chosen: Any, look: Look, widths: Any, *numbers: Any) -> dict:
        """Everything that follows from the controls; a `ValueError` says what is wrong with one of them."""
        vector = vector_from(text)
        sizes = sizes_from(widths, **dict(zip(names, numbers, strict=True)))
        which = preset_from(chosen)
        if which == "builders":
            check_cells(vector, sizes)
        look, trees = await run_in_worker(drawn, which, vector, sizes, look)
        return {lab: trees, looked: look}

    safely = explained(
        "Drawing the trees failed.",
        lambda text: {line: said(text, "error")},
        lambda error: f"{error} The pictures are unchanged.",
    )

    @safely
    async def owned(*values: Any) -> dict:
        return {line: said(about(OWN, vector_from(values[0]), "typed here")), **await show(*values)}

    async def typed(name: Any, known: tuple[Acceptance, ...], *values: Any) -> dict:
        choice = choices(known).get(name)
        if choice and values[0] == in_text(choice.vector):  # the menu wrote it, not the visitor
            return {line: gr.skip()}
        return {stored: OWN, own: values[0], **await owned(*values)}  # kept, right or wrong

    @safely
    async def picked(name: Any, known: tuple[Acceptance, ...], mine: str | None, *values: Any) -> dict:
        named = choices(known)
        if name not in named:
            text = values[0] if mine is None else mine
            return {box: text, **await owned(text, *values[1:])}
        choice = named[name]
        text = in_text(choice.vector)
        return {box: text, line: said(about(name, choice.vector, choice.source)), **await show(text, *values[1:])}

    @safely
    async def moved(name: Any, known: tuple[Acceptance, ...], *values: Any) -> dict:
        choice, vector = choices(known).get(name), vector_from(values[0])
        return {line: said(about(name, vector, choice.source if choice else "typed here")), **await show(*values)}

    @safely
    async def brought(data: Any, *values: Any) -> dict:
        news = from_text(str(data or ""))
        listed = choices(news)
        name = next(iter(listed))
        text = in_text(listed[name].vector)
        return {
            loaded: news, stored: gr.Dropdown(choices=[*listed, OWN], value=name), box: text,
            line: said(about(name, listed[name].vector, listed[name].source)), **await show(text, *values[1:]),
        }  # fmt: skip

    async def looking(event: gr.EventData, *values: Any) -> dict:
        asked = event._data if isinstance(event._data, dict) else {}
        before = values[2]
        look = Look(asked.get("tree", before.tree), asked.get("block", before.block))
        named = asked.get("preset")
        chosen = named if isinstance(named, str) and named in PRESETS else None  # a link may name trees to show
        news = await safely(show)(values[0], chosen or values[1], look, *values[3:])
        return {preset: chosen, **news} if chosen else news

    looking.__annotations__["event"] = gr.EventData  # gradio looks for its name in this module, which has none of it
    # A text box tells of an input only when a key is pressed, not when something is pasted: so its changes count.
    box.change(typed, [stored, loaded, *inputs], [*outputs, stored, own], trigger_mode="always_last", **raw)
    stored.input(picked, [stored, loaded, own, *inputs], [*outputs, box], trigger_mode="always_last", **raw)
    load.upload(brought, [load, *inputs], [*outputs, loaded, stored, box], **quiet)
    lab.select(looking, inputs, [preset, *outputs], **raw)
    gr.on(
        [preset.input, branching.change, *(control.change for control in sliders.values())],
        moved, [stored, loaded, *inputs], outputs, trigger_mode="always_last", **raw,
    )  # fmt: skip
