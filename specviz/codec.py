"""Records as JSON and back: dataclasses and named tuples of plain data, by the annotations of their fields.

What is read may come from a stranger: every value is checked for kind and range before anything is built from it, and
a failure is one sentence that says where in the file the trouble is. Numbers are rounded here and nowhere else.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from .errors import ParameterError, shown
from .files import parse_json

MAX_CHARACTERS = 64_000_000
MAX_ITEMS = 4096  # of a list that does not say otherwise
MAX_TEXT = 200_000
MAX_DEPTH = 8  # of data without annotations
LARGEST = sys.float_info.max  # JSON has no infinity, but 1e999 reads as one; and a whole number may be larger still

FLAGS = (False, True)

Reader = Callable[[Any], Any]


@dataclass(frozen=True)
class Within:
    """The range of a number; written as `Annotated[int, Within(1)]`."""

    low: float = -LARGEST
    high: float = LARGEST
    null: float | None = None  # the number that null stands for


@dataclass(frozen=True)
class Most:
    items: int  # how many values a list may have


Whole = Annotated[int, Within(0)]
Positive = Annotated[int, Within(1)]
NonNegative = Annotated[float, Within(0)]
Share = Annotated[float, Within(0, 1)]
Plan = tuple[Share, ...] | tuple[tuple[Share, ...], ...]  # an acceptance vector, or one for each level


class Damaged(ValueError):
    """`trouble` with a value `at` a place; each record on the way up adds where the place is."""

    def __init__(self, trouble: str, at: str = "") -> None:
        super().__init__(trouble, at)
        self.trouble, self.at = trouble, at

    def inside(self, place: str) -> Damaged:
        """The same trouble, found below a place."""
        return Damaged(self.trouble, place + self.at)


def parse(text: str, what: str) -> Any:
    """JSON text as plain data; `what` it is to be, for messages.

    Raises:
        ValueError: if it is too long or not JSON.
    """
    if not isinstance(text, str):
        raise ValueError(f"{what} must be JSON text; got {type(text).__name__}.")
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"{what} must have at most {MAX_CHARACTERS:,} characters; got {len(text):,}.")
    try:
        return parse_json(text)
    except ValueError as error:
        raise ValueError(f"{what} is not valid JSON: {error}. The file may be truncated or damaged.") from None


def read(kind: Any, data: Any, what: str) -> Any:
    """Plain data as a value of a kind: a record class, or any annotation that a field of one may have.
    Unknown fields are ignored. A field may be missing if it has a default and the class does not list in `LATER` those
    that may. `check_fields` of a record raises `Damaged` where its fields do not fit together.

    Raises:
        ValueError: if the data is anything else; the message names the place, "trace.steps[3].coin".
    """
    try:
        return reader(kind)(data)
    except Damaged as error:
        raise ValueError(f"{what} is damaged: {what}{error.at} {error.trouble}.") from None


def plain(value: Any, exact: bool = False) -> Any:
    """A value as plain JSON data; numbers keep six significant digits, nan and infinity become None.

    Args:
        value: records, mappings, lists, arrays and numbers. Of a record with `SPARSE` what is empty is left out.
        exact: keep all digits.
    """
    if isinstance(value, float):
        return None if not math.isfinite(value) else value if exact else float(f"{value:.6g}")
    if value is None or isinstance(value, str | int):
        return value
    if names := _names(value.__class__):
        sparse, found = hasattr(value, "SPARSE"), ((name, getattr(value, name)) for name in names)
        return {name: plain(item, exact) for name, item in found if not (sparse and item in (None, {}))}
    if isinstance(value, Mapping):
        return {str(key): plain(item, exact) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [plain(item, exact) for item in value]
    return plain(value.tolist(), exact) if hasattr(value, "tolist") else value


def dumps(value: Any, exact: bool = False) -> str:
    """As JSON text."""
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


@cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls)) if is_dataclass(cls) else getattr(cls, "_fields", ())


@cache
def reader(kind: Any) -> Reader:
    """What turns plain data into a value of a kind, or raises `Damaged`."""
    origin, of = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _marked(*of)
    if origin in (Union, UnionType):
        return partial(_either, [reader(one) for one in of if one is not NoneType], NoneType in of)
    if origin is Literal:
        return partial(_one_of, of)
    if origin is tuple and of[-1] is not ...:
        return partial(_exactly, [reader(one) for one in of])
    if origin in (tuple, list, Sequence):
        return partial(_list, reader(of[0]), MAX_ITEMS)
    if origin in (dict, Mapping):
        return partial(_named, int if of[0] is int else str, reader(of[1]))
    if hasattr(kind, "__pydantic_validator__"):
        return partial(_checked, kind)
    if kind in (int, float):
        return partial(_number, kind, Within())
    if kind is bool:
        return partial(_one_of, FLAGS)
    return _text if kind is str else _anything if kind is Any else _record(kind)


def _marked(kind: Any, mark: Any) -> Reader:
    if isinstance(mark, Within):
        return partial(_number, kind, mark)
    return partial(_list, reader(get_args(kind)[0]), mark.items) if isinstance(mark, Most) else reader(mark)


def _wrong(wanted: str, value: Any) -> Damaged:
    return Damaged(f"must be {wanted}; got {shown(value)}")


def _number(kind: type, within: Within, value: Any) -> float:
    if value is None and within.null is not None:
        return within.null
    low, high = (max(within.low, -(2**53)), min(within.high, 2**53)) if kind is int else (within.low, within.high)
    right = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    if not (right and low <= value <= high):
        numbers = f"a whole number from {low} to {high}" if kind is int else f"a number from {low:g} to {high:g}"
        raise _wrong(numbers, value)
    return kind(value)


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise _wrong(f"text of at most {MAX_TEXT:,} characters", value)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _wrong("text without halves of characters", value) from None
    return value


def _one_of(options: Sequence[Any], value: Any) -> Any:
    if isinstance(value, list | dict) or value not in options or isinstance(value, bool) != (options == FLAGS):
        raise _wrong("true or false" if options == FLAGS else f"one of {', '.join(options)}", value)
    return value


def _either(readers: Sequence[Reader], none: bool, value: Any) -> Any:
    """What the first reader that can makes of a value, or else the error of the one that came furthest."""
    if none and value is None:
        return None
    errors = []
    for one in readers:
        try:
            return one(value)
        except Damaged as error:
            errors.append(error)
    raise max(errors, key=lambda error: error.at.count("[") + error.at.count("."))


def _list(of: Reader, most: int, value: Any) -> tuple:
    if not isinstance(value, list) or len(value) > most:
        raise _wrong(f"a list of at most {most} values", value)
    found: list[Any] = []
    try:
        for item in value:
            found.append(of(item))
    except Damaged as error:
        raise error.inside(f"[{len(found)}]") from None
    return tuple(found)


def _exactly(readers: Sequence[Reader], value: Any) -> tuple:
    if not isinstance(value, list) or len(value) != len(readers):
        raise _wrong(f"a list of {len(readers)} values", value)
    return tuple(_inside(f"[{i}]", one, item) for i, (one, item) in enumerate(zip(readers, value, strict=True)))


def _named(kind: type, of: Reader, value: Any) -> dict:
    if not isinstance(value, dict):
        raise _wrong("an object", value)
    for key in value:
        if kind is str:
            _text(key)
        elif not (key.isascii() and key.isdecimal() and len(key) < 10):
            raise Damaged(f"must have whole numbers as names; got {shown(key)}")
    return {kind(key): _inside(f".{key:.40}", of, item) for key, item in value.items()}


def _anything(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Plain JSON data of bounded depth, with numbers that are finite and text that can be written."""
    if depth == 0:
        raise Damaged("is nested too deeply")
    if isinstance(value, dict):
        return _named(str, partial(_anything, depth=depth - 1), value)
    if isinstance(value, list):
        return [_inside(f"[{i}]", partial(_anything, depth=depth - 1), item) for i, item in enumerate(value)]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float) and not abs(value) <= LARGEST:
        raise _wrong("a finite number", value)
    return value


def _inside(place: str, of: Reader, value: Any) -> Any:
    try:
        return of(value)
    except Damaged as error:
        raise error.inside(place) from None


def _checked(cls: Any, value: Any) -> Any:
    """A class that checks its own fields."""
    names, later = _names(cls), getattr(cls, "LATER", ())
    if not isinstance(value, dict):
        raise _wrong("an object", value)
    if missing := [name for name in names if name not in value and name not in later]:
        raise Damaged(f"has no {missing[0]!r}")
    try:
        return cls(**{name: value[name] for name in names if name in value})
    except ParameterError as error:
        raise Damaged(str(error).removeprefix(f"{error.name} ").rstrip("."), f".{error.name}") from None


def _record(cls: Any) -> Reader:
    hints = get_type_hints(cls, include_extras=True)
    readers = {name: reader(hints[name]) for name in _names(cls)}
    with_default = {f.name for f in fields(cls) if f.default is not f.default_factory} if is_dataclass(cls) else set()
    later = getattr(cls, "LATER", with_default | getattr(cls, "_field_defaults", {}).keys())

    def read_fields(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _wrong("an object", value)
        if missing := [name for name in readers if name not in value and name not in later]:
            raise Damaged(f"has no {missing[0]!r}")
        if hasattr(cls, "SPARSE"):
            _anything(value)  # what is not known may not be odd either
        made = cls(**{name: _inside(f".{name}", one, value[name]) for name, one in readers.items() if name in value})
        if hasattr(made, "check_fields"):
            made.check_fields()
        return made

    return read_fields
