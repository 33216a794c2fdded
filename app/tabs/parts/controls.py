"""The controls of a run: prompt, numbers, and a picker each for builder, rule and drafter; read
into a `RunConfig`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import gradio as gr

from specviz.base.codec import JsonObject
from specviz.base.errors import ParameterError, UnknownName
from specviz.config.run_config import RunConfig
from specviz.doctor.engine_rules import ENGINE_PRESETS
from specviz.view.payload import page_json

from ...service import limits
from ...service.failures import as_sentence
from . import menus
from .web import component

LABELS = {"builder": "Tree builder", "verifier": "Verification rule", "drafter": "Drafter"}


def picker(kind: str, config: RunConfig, label: str = "", compared: bool = False) -> gr.HTML:
    """A menu of strategies with the parameters of the chosen one; `mark` marks choices.

    That of a run which is `compared` with others has its parameters folded away, and plain decoding
    among its builders.

    Its value is the strategy as text, such as "sequoia:size=16,depth=6": what `RunConfig` takes and
    links set.
    """
    label = label or LABELS[kind]
    control = component(
        "picker",
        '<div class="sv-picker"></div>',
        str(getattr(config, kind)),
        label=label,
        options={"kind": kind, "label": label, "compared": compared},
        marks=page_json(menus.marks(config)[kind]),
        elem_classes=f"sv-pick-{kind}",
    )
    control.kind = kind
    return control


def mark(config: RunConfig) -> list[object]:
    """What the pickers of builder, rule and drafter become, so that choices that do not fit the
    others are marked."""
    return [gr.HTML(marks=page_json(marks)) for marks in menus.marks(config).values()]


@dataclass
class Controls:
    """All that determines a run, as controls on the page: numbers by name, pickers by kind, and
    whether plain decoding may be chosen."""

    prompt: gr.Textbox
    scalars: dict[str, gr.components.Component]
    strategies: dict[str, gr.HTML]
    plain: bool = False

    @property
    def named(self) -> dict[str, gr.components.Component]:
        """All controls by the name of what they hold, in the order in which `read` takes their
        values."""
        return {"prompt": self.prompt, **self.scalars, **self.strategies}

    @property
    def inputs(self) -> list[gr.components.Component]:
        """All controls."""
        return list(self.named.values())

    def read(self, values: Sequence[object]) -> RunConfig:
        """The configuration that the values of `inputs`, as they come from the browser, stand for.

        Raises:
            ValueError: a sentence for the visitor, with the labels of the page.
        """
        inputs: JsonObject = dict(zip(self.named, values, strict=True))
        try:
            if not isinstance(inputs["prompt"], str) or not inputs["prompt"].strip():
                # Rejected by `RunConfig`; a list would be taken for token ids or a chat.
                inputs["prompt"] = ""
            for name in self.scalars:
                inputs[name] = limits.number(inputs[name])
            # Only texts: None would choose a default.
            inputs |= {kind: str(inputs[kind]) for kind in self.strategies}
            config = RunConfig(**inputs)
            for kind in ("builder", "verifier"):
                if getattr(config, kind).autoregressive and not self.plain:
                    raise UnknownName(kind, inputs[kind], menus.offered(kind))
            limits.check(config)
            return config
        except ValueError as error:
            raise ValueError(self.with_labels(error)) from None

    def with_labels(self, error: ValueError) -> str:
        """The text of an error, with the page's label in place of the parameter's name."""
        if isinstance(error, ParameterError):
            labels = {name: control.label for name, control in self.named.items()}
            for kind in self.strategies:
                labels |= menus.labels(kind)
            name = labels.get(error.name, error.name)
            got = error.got
            hint = error.hint
            if got is None:
                got = ...  # which leaves out what it was: nothing was typed
                hint = f"The box is empty. {hint}"
            error = ParameterError(name, error.must, got, hint)
        return as_sentence(error)


def engines_menu(pickers: dict[str, gr.HTML], of: str = "") -> None:
    """Buttons that set tree and rule to those of an engine above temperature 0, in the browser;
    docs/engines.md has the table. None stays pressed, since the pickers show what was chosen."""
    menu = gr.Radio(
        [(name.split()[1], name) for name in ENGINE_PRESETS],
        label=f"Set tree and rule{of} as in",
        elem_classes="sv-engines",
    )
    kinds = ("builder", "verifier")
    chosen = {}
    for name, preset in ENGINE_PRESETS.items():
        chosen[name] = [preset[kind] for kind in kinds]
    menu.input(
        None,
        menu,
        [menu, *(pickers[kind] for kind in kinds)],
        js=f"name => [null, ...({page_json(chosen)})[name]]",
        api_visibility="private",
    )


def scalar_controls(defaults: RunConfig) -> dict[str, gr.components.Component]:
    """The numbers every run has, in two places."""
    with gr.Row():
        common = {
            "temperature": gr.Slider(
                0,
                2,
                value=defaults.temperature,
                step=0.05,
                label="Temperature",
                info="0 chooses the most probable token.",
                min_width=230,
            ),
            "max_new_tokens": gr.Number(
                defaults.max_new_tokens,
                label="New tokens",
                precision=0,
                minimum=1,
                maximum=limits.TOKENS,
                min_width=100,
            ),
            "seed": gr.Number(defaults.seed, label="Seed", precision=0, min_width=100),
        }
    with gr.Accordion("More", open=False):
        # Text boxes, because a number box cannot be left empty: the browser fills in 0.
        more = {
            "draft_temperature": gr.Textbox(
                "", label="Draft temperature", placeholder="same as temperature; 0.6 if that is 0"
            ),
            "top_p": gr.Slider(
                0.05, 1, value=defaults.top_p, step=0.05, label="Top-p", info="1 keeps all tokens."
            ),
            "top_k": gr.Textbox("", label="Top-k", placeholder="keep all tokens"),
        }
    return common | more


def controls(prompt: gr.Textbox, defaults: RunConfig) -> Controls:
    """Lay out everything below the prompt; the controls hold `defaults`."""
    with gr.Group():
        pickers = {kind: picker(kind, defaults) for kind in LABELS}
        engines_menu(pickers)
    with gr.Group():
        return Controls(prompt, scalar_controls(defaults), pickers)
