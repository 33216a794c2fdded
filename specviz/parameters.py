"""Parameters of builders and verifiers: dataclass fields that know their range.

Errors and the sliders of the demo come from here.
"""

from __future__ import annotations

from dataclasses import field, fields
from numbers import Real
from typing import Any


def whole(default: int, low: int, high: int, label: str, help: str) -> Any:
    """A whole-number field from `low` to `high`."""
    return field(default=default, metadata={"kind": "whole", "low": low, "high": high, "label": label, "help": help})


def real(default: float, low: float, high: float, label: str, help: str) -> Any:
    """A real-number field from `low` to `high`."""
    return field(default=default, metadata={"kind": "real", "low": low, "high": high, "label": label, "help": help})


def flag(default: bool, label: str, help: str) -> Any:
    """A yes-or-no field."""
    return field(default=default, metadata={"kind": "flag", "label": label, "help": help})


def widths(default: tuple[int, ...], low: int, high: int, label: str, help: str) -> Any:
    """A field of whole numbers, one per level of the tree."""
    return field(default=default, metadata={"kind": "widths", "low": low, "high": high, "label": label, "help": help})


def choice(default: str, options: tuple[str, ...], label: str, help: str) -> Any:
    """A field that holds one of `options`."""
    return field(default=default, metadata={"kind": "choice", "options": options, "label": label, "help": help})


def names(default: tuple[str, ...], options: tuple[str, ...], label: str, help: str) -> Any:
    """A field that holds some of `options`, at least one, in an order that matters."""
    return field(default=default, metadata={"kind": "names", "options": options, "label": label, "help": help})


def free(default: Any, label: str, help: str) -> Any:
    """A field that its own class checks (an acceptance vector, say)."""
    return field(default=default, metadata={"kind": "free", "label": label, "help": help})


def check(instance: Any) -> None:
    """Check every field of a frozen dataclass against its metadata; call it from `__post_init__`.

    Raises:
        ValueError: naming the parameter, what it must be, what it was.
    """
    for f in fields(instance):
        kind, value = f.metadata.get("kind"), getattr(instance, f.name)
        where = f"{instance.name}.{f.name}"
        if kind == "flag" and not isinstance(value, bool):
            raise ValueError(f"{where} must be true or false; got {value!r}.")
        if kind == "choice" and value not in f.metadata["options"]:
            raise ValueError(f"{where} must be one of {', '.join(f.metadata['options'])}; got {value!r}.")
        if kind == "names":
            _check_names(where, value, f.metadata["options"])
        if kind == "widths":
            _check_widths(where, value, f.metadata)
        if kind in ("whole", "real"):
            _check_number(where, value, f.metadata)


def _check_number(where: str, value: Any, meta: Any) -> None:
    low, high = meta["low"], meta["high"]
    noun = "a whole number" if meta["kind"] == "whole" else "a number"
    right = isinstance(value, int if meta["kind"] == "whole" else Real) and not isinstance(value, bool)
    if not (right and low <= value <= high):
        raise ValueError(f"{where} must be {noun} from {low} to {high}; got {value!r}.")


def _check_names(where: str, value: Any, options: tuple[str, ...]) -> None:
    right = isinstance(value, tuple) and value and all(name in options for name in value)
    if not right or len(set(value)) < len(value):
        raise ValueError(f"{where} must list some of {', '.join(options)}, each once; got {value!r}.")


def _check_widths(where: str, value: Any, meta: Any) -> None:
    low, high = meta["low"], meta["high"]
    if not (isinstance(value, tuple) and value and all(type(w) is int and low <= w <= high for w in value)):
        raise ValueError(f"{where} must list one whole number from {low} to {high} per level; got {value!r}.")
