"""From dataclass fields to sliders, and from sliders to a `RunConfig`.

Builders, rules and drafters say in their field metadata what their parameters are called and how far they go; nothing
here knows any of them by name, so a new rule gets its controls by being registered.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import gradio as gr

from specviz import BUILDERS, DRAFTERS, VERIFIERS, RunConfig
from specviz.distributions import LARGEST
from specviz.errors import ParameterError, UnknownName

from ..machine import limits
from .menus import choices
from .parameter_controls import parameter, parse, shown_value


@dataclass
class Family:
    """The menu of builders or of verifiers, with the parameters of each, which show while it is chosen."""

    registry: dict[str, type[Any]]
    menu: gr.Dropdown
    parameters: dict[str, list[gr.components.Component]]

    @property
    def inputs(self) -> list[gr.components.Component]:
        """The menu, then the parameters of every entry."""
        return [self.menu, *(control for controls in self.parameters.values() for control in controls)]

    def names(self, kind: str, chosen: Any) -> list[str | None]:
        """What a link calls each of `inputs`; None for the parameters of what is not chosen."""
        named: list[str | None] = [kind]
        for name, cls in self.registry.items():
            named += [f"{kind}.{parameter}" if name == chosen else None for parameter in cls.parameter_schema()]
        return named

    def read(self, values: list[Any]) -> Any:
        """The builder or verifier that the values of `inputs` stand for; a `ValueError` says what is wrong."""
        name, *rest = values
        if not isinstance(name, str) or name not in self.registry:
            raise UnknownName(self.menu.label, name, self.registry)
        for other, controls in self.parameters.items():
            mine, rest = rest[: len(controls)], rest[len(controls) :]
            if other == name:
                cls = self.registry[name]
                named = zip(cls.parameter_schema().items(), mine, strict=True)
                return cls(**{key: parse(schema, value) for (key, schema), value in named})
        raise AssertionError("every registered name has its controls")

    def holding(self, strategy: Any) -> list[Any]:
        """What `inputs` become so that they hold a strategy; the parameters of others stay."""
        updates: list[Any] = [strategy.name]
        for name, cls in self.registry.items():
            chosen = name == strategy.name
            updates += [shown_value(getattr(strategy, key)) if chosen else gr.skip() for key in cls.parameter_schema()]
        return updates

    def candidates(self, values: list[Any]) -> dict[str, Any]:
        """Every builder or verifier of the menu with its parameters; its defaults where those are not valid now."""
        made = {}
        for name, cls in self.registry.items():
            try:
                made[name] = self.read([name, *values[1:]])
            except ValueError:
                made[name] = cls()
        return made


def family(label: str, registry: dict[str, type[Any]], chosen: str, fold: gr.Accordion | None = None) -> Family:
    """Lay out a menu and, below it or in `fold`, the parameters of what is chosen."""
    # Plain decoding is no choice among trees; it stands beside every run instead.
    registry = {name: cls for name, cls in registry.items() if not getattr(cls, "alone", False)}
    menu = gr.Dropdown(
        [(cls.title, name) for name, cls in registry.items()], value=chosen, label=label, filterable=False
    )
    parameters = {}
    with fold or nullcontext():
        for name, cls in registry.items():
            parameters[name] = [parameter(schema, visible=name == chosen) for schema in cls.parameter_schema().values()]
    owners = [name for name, controls in parameters.items() for _ in controls]
    shown = gr.Textbox(chosen, visible=False)
    # In the browser, which walks the whole page for every control that it shows or hides: so only for those that do.
    exchange = f"""(name, before) => {json.dumps(owners)}.map(owner => [name, before].includes(owner)
        ? {{__type__: 'update', visible: owner === name}} : undefined).concat(name)"""
    controls = [control for mine in parameters.values() for control in mine]
    menu.change(None, [menu, shown], [*controls, shown], js=exchange, api_visibility="private")
    return Family(registry, menu, parameters)


@dataclass
class Controls:
    """All that determines a run, as controls on the page."""

    prompt: gr.Textbox
    builder: Family
    verifier: Family
    drafter: Family
    scalars: dict[str, gr.components.Component]

    @property
    def families(self) -> dict[str, Family]:
        """Builder, rule and drafter by kind."""
        return {"builder": self.builder, "verifier": self.verifier, "drafter": self.drafter}

    @property
    def strategies(self) -> list[gr.components.Component]:
        """The controls of all families."""
        return [control for one in self.families.values() for control in one.inputs]

    @property
    def menu_boxes(self) -> list[gr.Dropdown]:
        """The menus, in the order of `menus`."""
        return [one.menu for one in self.families.values()]

    @property
    def inputs(self) -> list[gr.components.Component]:
        """All controls, in the order in which `read` takes their values."""
        return [self.prompt, *self.scalars.values(), *self.strategies]

    def names(self, values: Sequence[Any]) -> list[str | None]:
        """What a link calls each of `inputs`; None for what does not matter with what the menus hold in `values`."""
        parts = self._split(values[1 + len(self.scalars) :])
        named = [name for kind, one in self.families.items() for name in one.names(kind, parts[kind][0])]
        return ["prompt", *self.scalars, *named]

    def _split(self, values: Sequence[Any]) -> dict[str, list[Any]]:
        """The values of each family's inputs."""
        found, rest = {}, list(values)
        for kind, one in self.families.items():
            found[kind], rest = rest[: len(one.inputs)], rest[len(one.inputs) :]
        return found

    def read(self, values: Sequence[Any]) -> RunConfig:
        """The configuration that the values of `inputs`, as they come from the browser, stand for.

        Raises:
            ValueError: a sentence for the visitor, with the labels of the page.
        """
        prompt, *rest = values
        scalars = dict(zip(self.scalars, rest, strict=False))
        parts = self._split(rest[len(self.scalars) :])
        try:
            config = RunConfig(
                prompt=prompt if isinstance(prompt, str) and prompt.strip() else "",  # which is rejected with a message
                **{kind: one.read(parts[kind]) for kind, one in self.families.items()},
                **{name: number(name, value) for name, value in scalars.items()},
            )
            limits.check(config)
            return config
        except ValueError as error:
            raise ValueError(self.with_labels(error)) from None

    def candidates(self, values: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """All that the menus offer by kind, with the parameters in the values of `inputs`."""
        parts = self._split(values[1 + len(self.scalars) :])
        return {kind: one.candidates(parts[kind]) for kind, one in self.families.items()}

    def menus(self, values: Sequence[Any], config: RunConfig, blamed: str = "verifier") -> list[list[tuple[str, str]]]:
        """The choices of every menu, marked for the values of `inputs`, of which `read` made `config`.

        Args:
            values, config: see above.
            blamed: the kind of the menu that shows what is wrong with the choices together: the one changed last.
        """
        offered = self.candidates(values)
        return [choices(kind, offered[kind], config, blamed=kind == blamed) for kind in self.families]

    def with_labels(self, error: ValueError) -> str:
        """What an error of the library says, with the page's label in place of the parameter's name."""
        if isinstance(error, ParameterError):
            labels = {name: control.label for name, control in self.scalars.items()}
            for cls in (cls for one in self.families.values() for cls in one.registry.values()):
                labels |= {
                    f"{cls.name}.{key}": f"{cls.title}: {schema['title']}"
                    for key, schema in cls.parameter_schema().items()
                }
            name, got, hint = labels.get(error.name, error.name), error.got, error.hint
            if got is None:  # a box that was left empty
                got, hint = ..., f"The box is empty. {hint}"
            error = ParameterError(name, error.must, got, hint)
        sentence = str(error)
        return sentence[:1].upper() + sentence[1:]


def number(name: str, value: Any) -> Any:
    """A number as it came from the browser: whole where it can be, None where a box was left empty."""
    given = value
    if isinstance(value, str):
        try:
            value = float(value) if value.strip() else None
        except ValueError:
            value = math.nan
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise ParameterError(name, "be a number", given)
    return int(value) if float(value).is_integer() else value


def temperature_slider(value: float = RunConfig().temperature) -> gr.Slider:
    """The temperature, which Explore shows apart from the other numbers."""
    return gr.Slider(
        0,
        2,
        value=value,
        step=0.05,
        label="Temperature",
        info="0 chooses the most probable token.",
        elem_classes="sv-temperature",
    )


def scalar_controls(
    defaults: RunConfig | None = None, temperature: gr.Slider | None = None
) -> dict[str, gr.components.Component]:
    """The numbers every run has, in two places: what everybody turns, and "More".

    Args:
        defaults: what they hold at first.
        temperature: the slider, where it stands elsewhere.
    """
    defaults = defaults or RunConfig(max_new_tokens=96)
    temperature = temperature or temperature_slider(defaults.temperature)
    with gr.Row():
        common = {
            "temperature": temperature,
            "max_new_tokens": gr.Number(defaults.max_new_tokens, label="New tokens", precision=0, min_width=100),
            "seed": gr.Number(defaults.seed, label="Seed", precision=0, min_width=100),
        }
    with gr.Accordion("More", open=False):
        # Text boxes, because a number box cannot be left empty: the browser fills in 0.
        more = {
            "draft_temperature": gr.Textbox(
                "", label="Draft temperature", placeholder="same as temperature; 0.6 if that is 0"
            ),
            "top_p": gr.Slider(0.05, 1, value=defaults.top_p, step=0.05, label="Top-p", info="1 keeps all tokens."),
            "top_k": gr.Textbox("", label="Top-k", placeholder="keep all tokens"),
        }
    return common | more


def controls(prompt: gr.Textbox, defaults: RunConfig | None = None, temperature: gr.Slider | None = None) -> Controls:
    """Lay out everything below the prompt; arguments as `scalar_controls` has them."""
    defaults = defaults or RunConfig(max_new_tokens=96)
    with gr.Group():
        builder = family("Tree builder", BUILDERS, defaults.builder.name)
    with gr.Group():
        verifier = family("Verification rule", VERIFIERS, defaults.verifier.name)
    with gr.Group():
        drafter = family("Drafter", DRAFTERS, defaults.drafter.name)
    with gr.Group():
        return Controls(prompt, builder, verifier, drafter, scalar_controls(defaults, temperature))
