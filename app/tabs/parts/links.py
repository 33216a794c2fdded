"""Links that fill in the controls of a tab; only one to a shared run or to a comparison starts a
run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import urlencode

import gradio as gr

from specviz.base.codec import LARGEST, JsonObject
from specviz.config.strategy import strategy_of
from specviz.view.payload import page_json

from ...service.service import RunService
from .opening import OLD
from .pairs import OWN
from .stage import NOTICE
from .web import QUIET, component


def write(named: dict[str, gr.components.Component], values: Sequence[object]) -> str:
    """The parameters of a link that sets the controls `named` to these values; raises a
    `ValueError` where a strategy is none."""
    texts = map(text_of, named.values(), values)
    return urlencode(dict(zip(named, texts, strict=True)), safe=":,=")


def text_of(control: gr.components.Component, value: object) -> str:
    """A control's value in a link; a strategy with all of its parameters, since defaults may
    change."""
    if hasattr(control, "kind"):
        return strategy_of(control.kind, str(value)).to_text(defaults=True)
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else str(value)


def field(name: str, control: gr.components.Component) -> JsonObject:
    """What a control may hold, for the browser, which checks links with it."""
    about: JsonObject = {"name": name, "label": control.label, "value": control.value}
    if hasattr(control, "kind"):
        about["kind"] = control.kind
    elif hasattr(control, "choices"):
        about["options"] = [value for _, value in control.choices if value != OWN]
    elif hasattr(control, "minimum"):
        about |= {"min": control.minimum or 0, "max": control.maximum or LARGEST}
    return about


def offered(service: RunService) -> Callable[[object], str]:
    """The function with which the page asks for the pairs that may be chosen by now."""

    def offered(_: object) -> str:
        """Their names, as JSON."""
        return page_json(list(service.pairs.offers))

    return offered


def opened(service: RunService, tab: str, named: dict[str, gr.components.Component]) -> gr.HTML:
    """What sets the controls of a tab to what a link says, in the browser, and says what it could
    not set; its value changes once they hold it."""
    fields = [field(name, control) for name, control in named.items()]
    elem_id = f"sv-{tab.lower()}-link"
    with gr.Row(elem_classes="sv-notices sv-not-presented"):
        link = component(
            "links",
            NOTICE,
            options={"tab": tab.lower(), "old": OLD, "fields": fields},
            server_functions=[offered(service)],
            elem_id=elem_id,
            elem_classes="sv-ui sv-status",
        )
    place = f"document.querySelector('#{elem_id} .sv-notice')"
    values = f"() => JSON.parse({place}.dataset.values)"
    # The link itself last: they are set one after the other.
    setting = link.select(None, None, [*named.values(), link], js=values, **QUIET)
    heard = f"() => {{ {place}.dispatchEvent(new Event('change')); return []; }}"
    setting.then(None, None, None, js=heard, **QUIET)
    return link
