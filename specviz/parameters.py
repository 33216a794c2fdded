"""Parameters of builders and verifiers: dataclass fields that know their range.

Errors and the sliders of the demo come from here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, fields
from numbers import Real
from typing import Any, Self

from .errors import ParameterError, nearest, shown


def whole(default: int, low: int, high: int, label: str, help: str) -> Any:
    """A whole-number field.

    Args:
        default: its value where none is given.
        low, high: its range.
        label, help: its name for people, and a sentence on what it does.

    >>> whole(4, 1, 64, "Depth", "Levels below the root.").default
    4
    """
    return field(default=default, metadata={"kind": "whole", "low": low, "high": high, "label": label, "help": help})


def real(default: float, low: float, high: float, label: str, help: str) -> Any:
    """A real-number field from `low` to `high`."""
    return field(default=default, metadata={"kind": "real", "low": low, "high": high, "label": label, "help": help})


def flag(default: bool, label: str, help: str) -> Any:
    """A yes-or-no field."""
    return field(default=default, metadata={"kind": "flag", "label": label, "help": help})


def widths(default: tuple[int, ...], low: int, high: int, label: str, help: str) -> Any:
    """A field of several whole numbers, such as one per level of the tree, or the numbers of layers."""
    return field(default=default, metadata={"kind": "widths", "low": low, "high": high, "label": label, "help": help})


def choice(default: str, options: tuple[str, ...], label: str, help: str) -> Any:
    """A field that holds one of `options`."""
    return field(default=default, metadata={"kind": "choice", "options": options, "label": label, "help": help})


def names(default: tuple[str, ...], options: tuple[str, ...], label: str, help: str) -> Any:
    """A field that holds some of `options`, at least one, in an order that matters."""
    return field(default=default, metadata={"kind": "names", "options": options, "label": label, "help": help})


def free(default: Any, label: str, help: str, **more: Any) -> Any:
    """A field that its own class checks; `words` are its texts, where any other may name a file on the command line."""
    return field(default=default, metadata={"kind": "free", "label": label, "help": help, **more})


class Strategy:
    """Base of builders, rules and drafters: their parameters are known by name."""

    def __new__(cls, *args: Any, **given: Any) -> Self:
        known = {f.name: f for f in fields(cls)}  # type: ignore[arg-type]  # each is a dataclass
        for name, value in given.items():
            if name not in known:
                names = f"Its parameters: {', '.join(known) or 'none'}. {nearest(name, known)}".rstrip()
                raise ValueError(f"{cls.name} has no parameter {shown(name)}. {names}")  # type: ignore[attr-defined]
            if value is None and known[name].default is not None:
                hint = f"Omit it for {known[name].default!r}."
                raise ParameterError(f"{cls.name}.{name}", "have a value", value, hint)  # type: ignore[attr-defined]
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Check every field against its metadata.

        Raises:
            ParameterError: naming the parameter, what it must be, what it was.
        """
        for f in fields(self):  # type: ignore[arg-type]  # each is a dataclass
            value, meta = getattr(self, f.name), f.metadata
            kind = meta.get("kind")
            if kind in MUST and not RIGHT[kind](value, meta):
                raise ParameterError(f"{self.name}.{f.name}", must(meta), value)  # type: ignore[attr-defined]


def reject_given(args: Any, names: Sequence[str], where: str) -> None:
    """Raise for an option that has no effect.

    Args:
        args: what argparse made of the command line.
        names: of options with a value or several, as they stand in `args`.
        where: it has none, "with --machine" say.
    """
    seen = vars(args).get("_seen", ())
    if named := [name for name in names if name in seen or isinstance(getattr(args, name), list)]:
        raise ValueError(f"--{named[0].replace('_', '-')} is not used {where}. Omit it.")


def is_number(value: Any) -> bool:
    """Whether a value is a real number; a truth value is none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def must(meta: Mapping[str, Any]) -> str:
    """What a field's value must be, for a sentence."""
    return MUST[meta["kind"]].format(**meta, listed=", ".join(meta.get("options", ())))


MUST = {
    "whole": "be a whole number from {low} to {high}",
    "real": "be a number from {low} to {high}",
    "flag": "be true or false",
    "widths": "list whole numbers from {low} to {high}",
    "choice": "be one of {listed}",
    "names": "list some of {listed}, each once",
}
KINDS = (*MUST, "free")
RIGHT: dict[str, Callable[[Any, Any], bool]] = {
    "whole": lambda value, meta: type(value) is int and meta["low"] <= value <= meta["high"],
    "real": lambda value, meta: is_number(value) and meta["low"] <= value <= meta["high"],
    "flag": lambda value, meta: isinstance(value, bool),
    "widths": lambda value, meta: (
        isinstance(value, tuple) and value != () and all(RIGHT["whole"](width, meta) for width in value)
    ),
    "choice": lambda value, meta: value in meta["options"],
    "names": lambda value, meta: (
        isinstance(value, tuple)
        and value != ()
        and all(name in meta["options"] for name in value)
        and len(set(value)) == len(value)
    ),
}


def read_value(where: str, text: str, meta: Mapping[str, Any]) -> Any:
    """The value of one parameter from its text, as in "sequoia:size=16,depth=6".

    Args:
        where: the name of the parameter in messages, "sequoia.size" say.
        text: the text.
        meta: the metadata of its field.

    Raises:
        ParameterError: if the text is not of the field's kind; its range is checked by the strategy itself.
    """
    kind = meta["kind"]
    try:
        if kind == "flag":
            return {"true": True, "false": False}[text.strip().lower()]
        if kind == "widths":
            return tuple(int(part) for part in text.replace(",", " ").split())
        if kind == "names":
            return tuple(text.replace(",", " ").split())
        if kind == "free":
            return _free(text.strip())
        return int(text) if kind == "whole" else float(text) if kind == "real" else text.strip()
    except (KeyError, ValueError):
        hint = 'Write them like "4,2,1".' if kind == "widths" else ""
        raise ParameterError(where, must(meta), text, hint) from None


def _free(text: str) -> Any:
    """A number, a list of numbers with or without brackets, or else the text itself."""
    readings: tuple[Callable[[], Any], ...] = (
        lambda: json.loads(text),
        lambda: json.loads(f"[{text}]"),
        lambda: [float(part) for part in text.split(",")],
    )
    for reading in readings:
        with suppress(ValueError, RecursionError):
            return tuples(reading())
    return text


def text_of(value: Any) -> str:
    """The text of one parameter that `read_value` reads back."""
    if isinstance(value, tuple):
        nested = any(isinstance(part, tuple) for part in value)
        return json.dumps(value, separators=(",", ":")) if nested else ",".join(map(text_of, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def tuples(value: Any) -> Any:
    """JSON lists as the tuples that frozen dataclasses hold."""
    return tuple(map(tuples, value)) if isinstance(value, list) else value
