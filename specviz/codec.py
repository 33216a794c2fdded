"""Records as JSON and back: frozen dataclasses of plain data, checked by the annotations of their fields.

What is read may come from a stranger: every value is checked for type and range before a record is built from it, and a
failure is one sentence that says where in the file it is. Numbers are rounded here and nowhere else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import takewhile
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from .errors import shown

MAX_CHARACTERS = 64_000_000
MAX_ITEMS = 4096  # of a column over nodes, among others

Whole = Annotated[int, Field(ge=0, le=2**53)]
Positive = Annotated[int, Field(ge=1, le=2**53)]
NonNegative = Annotated[float, Field(ge=0)]
Probability = Annotated[float, Field(ge=0, le=1)]
InfiniteAsNull = Annotated[float, BeforeValidator(lambda value: math.inf if value is None else value)]
Text = Annotated[str, Field(max_length=200_000)]
Vector = Annotated[tuple[Probability, ...], Field(max_length=MAX_ITEMS)]
Levels = Vector | Annotated[tuple[Vector, ...], Field(max_length=MAX_ITEMS)]  # a vector, or one for each level


def one_of(*options: str) -> AfterValidator:
    """What marks a text in an annotation as one of a few: `Annotated[str, one_of("s", "pass")]`."""

    def check(text: str) -> str:
        if text not in options:
            raise ValueError(f"must be one of {', '.join(options)}")
        return text

    return AfterValidator(check)


class Record:
    """Base of records: frozen dataclasses of plain data. Unknown fields in JSON are ignored.

    Class attributes:
        omit_empty: whether JSON leaves out what is None or {}.
    """

    __pydantic_config__ = ConfigDict(strict=True, allow_inf_nan=False)
    omit_empty: ClassVar[bool] = False


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def read(kind: Any, data: Any, what: str) -> Any:
    """A record from JSON.

    Args:
        kind: the record class, or another annotation.
        data: JSON text, or plain data that was read from it.
        what: it is to be, for messages.

    Raises:
        ValueError: if it is anything else; the message names the place, "trace.steps[3].coin".
    """
    text = data if isinstance(data, str | bytes) else json.dumps(data)
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"{what} must have at most {MAX_CHARACTERS:,} characters; got {len(text):,}.")
    try:
        return _adapter(kind).validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        raise ValueError(f"{what} is not valid JSON. The file may be truncated or damaged.")
    parts = takewhile(lambda part: not str(part).startswith(("literal[", "tuple[", "function-")), first["loc"])
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part:.40}" for part in parts)
    trouble = first["msg"].removeprefix("Value error, ").replace("Input should", "must").replace("Field", "is")
    got = "" if first["type"] in ("missing", "value_error") else f"; got {shown(first['input'])}"
    raise ValueError(f"{what} is damaged: {what}{place} {trouble}{got}.")


def plain(value: Any, exact: bool = False) -> Any:
    """A value as plain JSON data; numbers keep six significant digits, nan and infinity become None.

    Args:
        value: records, mappings, lists, arrays and numbers.
        exact: keep all digits.
    """
    if isinstance(value, float):
        return None if not math.isfinite(value) else value if exact else float(f"{value:.6g}")
    if value is None or isinstance(value, str | int):
        return value
    if names := _names(value.__class__):
        omit, items = getattr(value, "omit_empty", False), ((name, getattr(value, name)) for name in names)
        return {name: plain(item, exact) for name, item in items if not (omit and item in (None, {}))}
    if isinstance(value, Mapping):
        return {str(key): plain(item, exact) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [plain(item, exact) for item in value]
    return plain(value.tolist(), exact) if hasattr(value, "tolist") else value


@cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls)) if is_dataclass(cls) else getattr(cls, "_fields", ())


def dumps(value: Any, exact: bool = False) -> str:
    """`plain` as JSON text."""
    return json.dumps(plain(value, exact), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def lines(value: Any, exact: bool = False) -> str:
    """`plain` as JSON text for people: a line for each entry, but only one for a list or a table of numbers."""
    return _lines(plain(value, exact), "\n")


def _lines(value: Any, end: str) -> str:
    inside = end + " "
    if isinstance(value, dict) and value:
        rows = [f"{json.dumps(name)}: {_lines(item, inside)}" for name, item in value.items()]
        return f"{{{inside}{f',{inside}'.join(rows)}{end}}}"
    if isinstance(value, list) and _depth(value) > 2:
        return f"[{inside}{f',{inside}'.join(_lines(item, inside) for item in value)}{end}]"
    return json.dumps(value)


def _depth(value: Any) -> int:
    """How deep lists are nested; an object counts as three."""
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 3 * isinstance(value, dict)
