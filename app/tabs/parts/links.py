"""Links that fill in the controls of the page; only one to a shared run or to a
comparison of the last runs starts a run.

Numbers are brought into range, other invalid values are ignored, and one sentence says what was
changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

import gradio as gr

from specviz.base.codec import JsonObject
from specviz.base.errors import ParameterError
from specviz.config.strategy import REGISTRIES, strategy_of
from specviz.view.web import asset

from . import menus
from .answers import UNCHANGED, ask_about
from .opening import OLD
from .stage import sentence as notice_value
from .web import QUIET, component

MAX_LENGTH = 8_000  # characters of a link's parameters; servers and proxies reject longer ones
MAX_FIELDS = 200
MAX_CHANGES = 4  # that are named
OTHERS = (
    "tab",
    "lesson",
    "lab",
    "recording",
    "picture",
    "step",
    "node",
    "paper",
    "entry",
    "preset",
    "run",
    "again",
    "b.decodes",  # of older links to Compare, as is all of "a."
    "c.decodes",
)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
REASONS = {  # why controls are set, where it is no link of somebody
    "run": "All settings are those of the opened run.",
    "shared": "This run was shared; it is computed again.",
    "again": "These runs are computed again.",
}
_copies = count(1)


class Linked(NamedTuple):
    """What a link can set: the controls of runs (of `Controls` or of Compare's `Settings`), and
    before them menus that are not a part of their configuration."""

    menus: dict[str, gr.components.Component]
    settings: Any

    @property
    def named(self) -> dict[str, gr.components.Component]:
        return self.menus | self.settings.named

    def read(self, values: Sequence[object]) -> object:
        return self.settings.read(values[len(self.menus) :])


class Opened(NamedTuple):
    """The settings of a link."""

    values: JsonObject  # of every control, by name
    changed: list[str]  # the names of the controls that the link sets
    changes: list[str]  # a sentence for each part of it that was changed or left out


def write(linked: Linked, values: Sequence[object]) -> str:
    """The parameters of a link that opens the page with these values; raises a `ValueError` if it
    is too long."""
    texts = {}
    for (name, control), value in zip(linked.named.items(), values, strict=True):
        if text := text_of(control, value):
            texts[name] = text
    query = urlencode(texts, safe=":,=")
    if len(query) > MAX_LENGTH:
        raise ValueError(
            f"This is too long for a link: {len(query):,} characters of at most "
            f"{MAX_LENGTH:,}. Shorten the prompt."
        )
    return query


def text_of(control: gr.components.Component, value: object) -> str:
    """A control's value in a link; a strategy with all of its parameters, since defaults may
    change."""
    if hasattr(control, "kind") and isinstance(value, str):
        return strategy_of(control.kind, value).to_text(defaults=True)
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)


def read(linked: Linked, search: object) -> Opened:
    """The checked settings of an address, such as "?temperature=0.7&seed=3"; a `ValueError` if it
    cannot be read."""
    named = linked.named
    values = {name: control.value for name, control in named.items()}
    texts = parameters(search, values)
    changes: list[str] = []
    changed: JsonObject = {}
    for name, control in named.items():
        try:
            if name in texts:
                changed[name] = value_of(control, texts[name], changes)
        except ValueError as error:
            changes.append(f"{str(error).removesuffix('.')}; it was ignored.")
    # All at once, for values that are only valid together; where that fails, one after the other,
    # so that one wrong value does not cost the rest of the link.
    valid = list(changed)
    try:
        linked.read(list((values | changed).values()))
    except ValueError:
        valid = []
        for name, value in changed.items():
            try:
                linked.read(list((values | {name: value}).values()))
            except ValueError as error:
                changes.append(f"{str(error).removesuffix('.')}; it was ignored.")
            else:
                values[name] = value
                valid.append(name)
    else:
        values |= changed
    # Where none of them is ours they are somebody else's, such as those of an advertisement.
    if named.keys() & texts.keys():
        for name in texts:
            if name not in named:
                changes.append(f"{quoted(name)} is unknown and was ignored.")
    return Opened(values, valid, changes)


def parameters(search: object, opening: JsonObject) -> dict[str, str]:
    """The parameters of an address by name, the first of each.

    One parameter of a strategy, "builder.size=16" as older links have it, becomes a part of its
    text; `opening` has what the controls hold.
    """
    if not isinstance(search, str) or len(search) > 4 * MAX_LENGTH:
        raise ValueError(
            f"The link was not opened: it must be text of at most {4 * MAX_LENGTH:,} characters."
        )
    try:
        pairs = parse_qsl(
            search.removeprefix("?"), keep_blank_values=True, max_num_fields=MAX_FIELDS
        )
    except ValueError:
        raise ValueError(
            f"The link was not opened: it has more than {MAX_FIELDS} parameters."
        ) from None
    texts: dict[str, str] = {}
    for name, text in pairs:
        # with underscores: gradio's own
        if not name.startswith(("__", "a.")) and name not in OTHERS:
            texts.setdefault(name, text)
    # "builder=sequoia&builder.size=16", as older links have it, becomes "builder=sequoia:size=16".
    for name in list(texts):
        owner, _, key = name.rpartition(".")
        start = texts.get(owner, opening.get(owner))
        if start and owner.rpartition(".")[2] in REGISTRIES:
            comma = "," if ":" in start else ":"
            texts[owner] = f"{start}{comma}{key}={texts.pop(name)}"
    return texts


def value_of(control: gr.components.Component, text: str, changes: list[str]) -> object:
    """A text of a link as the value of a control; `changes` gets a sentence if a number is brought
    into range."""
    match control:
        case gr.HTML():
            try:
                return str(strategy_of(control.kind, text))
            except ParameterError as error:
                raise error.named(
                    menus.labels(control.kind).get(error.name, control.label)
                ) from None
        case gr.Dropdown() | gr.Radio():
            offered = [value for _, value in control.choices]
            if text not in offered and not (hasattr(control, "accepts") and control.accepts(text)):
                raise ValueError(f"{control.label} {quoted(text)} is not one of the choices")
            return text
        case gr.Slider() | gr.Number():
            if not NUMBER.fullmatch(text.strip()):
                raise ValueError(f"{control.label} must be a number; got {quoted(text)}")
            number = float(text)
            if isinstance(control, gr.Slider):  # a box takes any number
                low = control.minimum
                high = control.maximum
                number = float(min(max(number, low), high))
                if number != float(text):
                    changes.append(
                        f"{control.label} must be from {low:g} to {high:g}; {quoted(text)} was "
                        f"set to {number:g}."
                    )
            if number.is_integer():
                return int(number)
            return number
    return text


def quoted(text: str) -> str:
    """Untrusted text inside a sentence."""
    text = "".join(c if c.isprintable() else " " for c in text[:41])
    return f"“{text if len(text) <= 40 else text[:40] + '…'}”"


def sentence(opened: Opened, why: object = None) -> str:
    """The message about a link that was opened, or, for one of `REASONS`, about a run with settings
    of its own."""
    parts = [REASONS.get(str(why), ""), *opened.changes[:MAX_CHANGES]]
    return " ".join(parts).strip()


def bar(tab: str, elem_id: str) -> gr.HTML:
    """A button "Copy link" of a tab with room for a sentence."""
    options = {"tab": tab.lower(), "others": OTHERS, "old": OLD}
    return component("links", asset("page/links.html"), options=options, elem_id=elem_id)


def connect(button: gr.HTML, linked: Linked, begins: Sequence[Callable]) -> Callable[..., object]:
    """Open the address that the page came with, if it has parameters, and write links.

    The events in `begins` begin a run and remove the message about the link. Returns what adds a
    function that is called after a link has set the controls.
    """
    controls = list(linked.named.values())
    opening = write(linked, [control.value for control in controls])

    def open_link(event: gr.EventData, *_: object) -> list[object]:
        unchanged = [gr.skip()] * len(controls)
        try:
            opened = read(linked, getattr(event, "search", None))
        except ValueError as error:
            return [notice_value("error", str(error)), *unchanged]
        if not opened.changed and not opened.changes:
            return [gr.skip(), *unchanged]
        text = sentence(opened, getattr(event, "opened", None))
        # What the link does not set stays as the visitor has it.
        updates = dict.fromkeys(linked.named, gr.skip())
        for name in opened.changed:
            updates[name] = gr.update(value=opened.values[name])
        kind = ""
        if text:
            kind = "link"
        return [notice_value("error" if opened.changes else kind, text), *updates.values()]

    def copy_link(*values: object) -> str:
        try:
            query = write(linked, values)
            # What the page opens with is recorded; all else is computed again.
            if query != opening:
                query += "&again=1"
            return notice_value("link", "", query=query, copy=next(_copies))
        except ValueError as error:
            return notice_value("error", str(error))

    filled = [button, *controls]
    follow = ask_about([button.select], open_link, controls, filled, controls, UNCHANGED)
    button.click(copy_link, controls, button, **QUIET)
    gr.on(begins, None, None, button, js="() => '{}'", **QUIET)
    return follow
