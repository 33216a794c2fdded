"""Links that open the page in a given state: what controls hold, as parameters of an address, and back.

Every value is checked before a control shows it: numbers are brought into range, other invalid values are ignored, and
one sentence says what was changed. A link fills in controls; it starts no run and loads no model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qsl, urlencode

import gradio as gr

from specviz import RunConfig
from specviz.files import asset

from .link_strategies import folded, hint, unfolded
from .link_values import control_value, shown_text
from .opening import OLD
from .web import starts

LONGEST = 8_000  # characters of a link's parameters; servers and proxies reject longer ones
MOST_FIELDS = 200
MOST_TOLD = 4  # changes that are named one by one
MENUS = (gr.Dropdown, gr.Radio)
# Read in the browser: where to look, not what to run.
OTHERS = ("tab", "lesson", "lab", "recording", "picture", "step", "node", "paper", "entry", "preset", "run")
_copies = count(1)


class Linked(Protocol):
    """The controls that a link can set; `app.parts.controls.Controls` is one."""

    @property
    def inputs(self) -> Sequence[gr.components.Component]:
        """The controls."""

    def names(self, values: Sequence[Any]) -> list[str | None]:
        """The parameter of each of `inputs`; None for what does not matter while the menus stand as in `values`."""

    def read(self, values: Sequence[Any]) -> Any:
        """What the values stand for; a `ValueError` says in a sentence what is wrong with them."""


class Together(NamedTuple):
    """Several of them as one, for a tab that has more than a `Controls`.

    Args:
        more: name -> a control of its own, such as the menu of models.
        parts: prefix of the names -> what they belong to, such as "" or "a.".
    """

    more: dict[str, gr.components.Component]
    parts: dict[str, Linked]

    @property
    def inputs(self) -> list[gr.components.Component]:
        return [*self.more.values(), *(control for part in self.parts.values() for control in part.inputs)]

    def split(self, values: Sequence[Any]) -> list[tuple[str, Linked, tuple[Any, ...]]]:
        """Prefix, part and its values, for each part."""
        found, rest = [], tuple(values[len(self.more) :])
        for prefix, part in self.parts.items():
            found.append((prefix, part, rest[: len(part.inputs)]))
            rest = rest[len(part.inputs) :]
        return found

    def names(self, values: Sequence[Any]) -> list[str | None]:
        named = [(prefix, name) for prefix, part, mine in self.split(values) for name in part.names(mine)]
        return [*self.more, *(name and prefix + name for prefix, name in named)]

    def read(self, values: Sequence[Any]) -> list[Any]:
        return [part.read(mine) for _, part, mine in self.split(values)]


class Opened(NamedTuple):
    """What a link asks for.

    Args:
        values: of `inputs`.
        given: the positions among them that the link sets.
        changes: a sentence for each part of it that was changed or left out.
    """

    values: list[Any]
    given: list[int]
    changes: list[str]


def write(linked: Linked, values: Sequence[Any]) -> str:
    """The parameters of a link that opens the page with these values; empty ones are left out.

    Raises:
        ValueError: if that is longer than a link can be.
    """
    named = [(name, _text(value)) for name, value in zip(linked.names(values), values, strict=True) if name]
    query = urlencode(folded((name, text) for name, text in named if text), safe=":,=")
    if len(query) > LONGEST:
        raise ValueError(
            f"This is too long for a link: {len(query):,} characters of at most {LONGEST:,}. Shorten the prompt."
        )
    return query


def read(linked: Linked, search: Any) -> Opened:
    """What the parameters of an address ask for, checked.

    Args:
        linked: the controls, as the page opens with them.
        search: such as "?temperature=0.7&seed=3"; names that start with two underscores are ignored.

    Raises:
        ValueError: if it is no list of parameters, or far too long.
    """
    asked, changes = _fields(search)
    values, given = [control.value for control in linked.inputs], []
    rejected = set()
    for menus in (True, True, False):  # what is chosen in menus decides which parameters and other menus there are
        for i, name in enumerate(linked.names(values)):
            control = linked.inputs[i]
            if name not in asked or name in rejected or i in given or isinstance(control, MENUS) != menus:
                continue
            try:
                values[i] = control_value(control, asked[name], changes, hint(name))
                given.append(i)
            except ValueError as error:
                changes.append(str(error))
                rejected.add(name)
    values, given = _valid(linked, values, given, changes)
    known = {name for name in linked.names(values) if name} | rejected
    if known & asked.keys():  # else the parameters are somebody else's, such as those of an advertisement
        changes += [f"{shown_text(name)} is unknown and was ignored." for name in asked if name not in known]
    return Opened(values, given, changes)


def sentence(opened: Opened, why: Any = None, runs: bool = True) -> str:
    """The message about a link that was opened, or about a run with settings of its own.

    Args:
        opened: the link.
        why: "run" if it is of one on the page, "shared" if it is of a run that starts by itself,
            "fix" if a button of the page opened it, which needs no sentence.
        runs: whether these settings can run.
    """
    more = len(opened.changes) - MOST_TOLD
    rest = [f"{more} more changes."] if more > 0 else []
    start = "Press Run to start." if runs else "These settings are not compatible; change one of them."
    said = {
        "run": "All settings are those of the opened run.",
        "shared": "This run was shared; it is computed again.",
        "fix": "",
    }
    return " ".join([said.get(str(why), f"Opened from a link. {start}"), *opened.changes[:MOST_TOLD], *rest]).strip()


def _fields(search: Any) -> tuple[dict[str, str], list[str]]:
    """The parameters by name, the first of each, and sentences about the others."""
    if not isinstance(search, str) or len(search) > 4 * LONGEST:
        raise ValueError(f"The link was not opened: it must be text of at most {4 * LONGEST:,} characters.")
    try:
        pairs = parse_qsl(search.removeprefix("?"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise ValueError(f"The link was not opened: it has more than {MOST_FIELDS} parameters.") from None
    found: dict[str, str] = {}
    twice: dict[str, str] = {}
    for name, text in unfolded(pairs):
        if name.startswith("__") or name in OTHERS:
            continue
        (twice if name in found else found).setdefault(name, text)
    return found, [f"{shown_text(name)} is given more than once; the first value is used." for name in twice]


def _valid(linked: Linked, values: list[Any], given: list[int], changes: list[str]) -> tuple[list[Any], list[int]]:
    """The values if they are valid together; else those that are, taken in one by one."""
    try:
        linked.read(tuple(values))
        return values, given
    except ValueError:
        pass
    taken, kept = [control.value for control in linked.inputs], []
    for i in given:
        trial = [*taken[:i], values[i], *taken[i + 1 :]]
        try:
            linked.read(tuple(trial))
        except ValueError as error:
            changes.append(f"{str(error).removesuffix('.')}; it was ignored.")
        else:
            taken = trial
            kept.append(i)
    return taken, kept


def _possible(found: Any) -> bool:
    """Whether every configuration in what a `Linked` reads can run."""
    if isinstance(found, list | tuple):
        return all(map(_possible, found))
    return not isinstance(found, RunConfig) or found.resolved.match.possible


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value)


# ---- on the page ----


def bar(tab: str, elem_id: str, stage: str | None = None) -> gr.HTML:
    """A button "Copy link" with room for a sentence; `connect` brings it to life.

    Args:
        tab: the title of the tab that it is for; an address for another tab is ignored.
        elem_id: its own.
        stage: elem_id of the stage whose step a link leads to, where there is one.
    """
    return gr.HTML(
        "",
        html_template=asset("page/links.html"),
        js_on_load=starts("links", tab=tab.lower(), stage=stage, others=OTHERS, old=OLD),
        elem_id=elem_id,
        apply_default_css=False,
    )


def connect(shown: gr.HTML, linked: Linked, begins: Sequence[Callable]) -> gr.events.Dependency:
    """Open the address that the page came with, if it has parameters, and write links; returns the event of opening.

    Args:
        shown: what `bar` made.
        linked: the controls of the tab.
        begins: the events that begin a run; what was said about the link has then been read.
    """
    quiet = {"queue": False, "show_progress": "hidden", "api_visibility": "private", "preprocess": False}

    def open_link(event: gr.EventData):
        unchanged = [gr.skip()] * len(linked.inputs)
        try:
            opened = read(linked, getattr(event, "search", None))
        except ValueError as error:
            return [_line("error", str(error)), *unchanged]
        if not opened.given and not opened.changes:
            return [gr.skip(), *unchanged]
        for i in opened.given:
            unchanged[i] = gr.update(value=opened.values[i])
        text = sentence(opened, getattr(event, "opened", None), _possible(linked.read(tuple(opened.values))))
        return [_line("error" if opened.changes else "link" if text else "", text), *unchanged]

    def copy_link(*values: Any) -> str:
        try:
            return _line("link", "", query=write(linked, values), copy=next(_copies))
        except ValueError as error:
            return _line("error", str(error))

    opened = shown.select(open_link, None, [shown, *linked.inputs], **quiet)
    shown.click(copy_link, linked.inputs, shown, **quiet)
    gr.on(begins, None, None, shown, js="() => '{}'", **quiet)
    return opened


def _line(kind: str, text: str, **more: Any) -> str:
    return json.dumps({"kind": kind, "text": text} | more).replace("<", "\\u003c")
