"""Values checked by pydantic: plain classes from arguments, records from JSON, and errors as
sentences.

What is read may come from a stranger: type and range are checked before a record is built from it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from itertools import takewhile
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from .errors import ParameterError, short_repr

MAX_ITEMS = 4096  # of a column over nodes, among others
LARGEST = 2**53  # beyond it, JSON readers of other languages lose digits

Whole = Annotated[int, Field(ge=0, le=LARGEST)]
Positive = Annotated[int, Field(ge=1, le=LARGEST)]
NonNegative = Annotated[float, Field(ge=0)]
Probability = Annotated[float, Field(ge=0, le=1)]
Text = Annotated[str, Field(max_length=200_000)]
Vector = Annotated[tuple[Probability, ...], Field(max_length=MAX_ITEMS)]
Levels = (
    Vector | Annotated[tuple[Vector, ...], Field(max_length=MAX_ITEMS)]
)  # a vector, or one for each level
Schema = Mapping[str, Any]
JsonObject = dict[str, Any]  # plain data with names
KINDS = {  # type in a JSON schema -> one value, and several
    "integer": ("a whole number", "whole numbers"),
    "number": ("a number", "numbers"),
    "boolean": ("true or false", "values"),
    "string": ("text", "texts"),
    "null": ("None", "values"),
    "object": ("an object", "values"),
}
TRIED = ("literal[", "tuple[", "function-", "constrained-")  # kinds, in places of errors
Class = TypeVar("Class", bound=type[Any])
Kind = TypeVar("Kind")


def one_of(*options: str) -> object:
    """What marks a text in an annotation as one of a few: `Annotated[str, one_of("s", "pass")]`."""
    return Field(pattern=f"^({'|'.join(map(re.escape, options))})$")


class Record:
    """Base of records: frozen dataclasses of plain data. Unknown fields in JSON are ignored."""

    __pydantic_config__ = ConfigDict(strict=True, allow_inf_nan=False)
    omit_empty: ClassVar[bool] = False  # whether JSON leaves out what is None or {}


# Made once for a kind: it takes longer than reading a small record.
_adapters: dict[object, TypeAdapter[Any]] = {}


def read(kind: type[Kind], data: object, what: str) -> Kind:
    """A record from JSON text or plain data, by its class or annotation `kind`.

    Raises:
        ValueError: if it is anything else; the message names the place, "trace.steps[3].coin".
    """
    # Always through JSON: strict types there are those of the file, and tuples may be lists.
    text = data if isinstance(data, str | bytes) else json.dumps(data)
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    try:
        return _adapters[kind].validate_json(text)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    # Of several errors the first one counts: the others often follow from it.
    first = errors[0]
    if first["type"] == "json_invalid":
        raise ValueError(f"{what} is not valid JSON. The file may be truncated or damaged.")
    place = _place(first["loc"])
    raised = first.get("ctx", {}).get("error")
    if isinstance(raised, ParameterError):
        # Its name is the last part of the place, or that of a parameter further in.
        is_place = raised.name in ("", *first["loc"][-1:])
        inner = raised
        if is_place:
            inner = raised.named(f"{what}{place}")
        before = "" if is_place or not place else f"{what}{place}: "
        raise ValueError(f"{what} is damaged: {before}{inner}")
    message = first["msg"].removeprefix("Value error, ").rstrip(".")
    # Each kind of value that a place may have rejects the input for a reason of its own.
    for other in errors[1:]:
        if _place(other["loc"]) == place and other["msg"].startswith("Input should be "):
            message += f" or {other['msg'].removeprefix('Input should be ')}"
    # Pydantic's "Input should be ..." and "Field required", as the other errors are written.
    trouble = re.sub(r"^\w+ should", "must", message).replace("Field", "is")
    if first["type"] not in ("missing", "value_error"):
        trouble += f"; got {short_repr(first['input'])}"
    raise ValueError(f"{what} is damaged: {what}{place} {trouble}.")


def _place(loc: tuple[str | int, ...]) -> str:
    """Where an error is, as in ".steps[3].coin", without the kinds of value that were tried."""
    parts = takewhile(lambda part: not str(part).startswith(TRIED), loc)
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part:.40}" for part in parts)


def json_data(value: Any, all_digits: bool = False) -> Any:
    """Records, mappings, lists, arrays and numbers as plain JSON data; nan and infinity become
    None.

    Numbers keep six significant digits, or all of them with `all_digits`.
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        if all_digits:
            return value
        return float(f"{value:.6g}")
    if value is None or isinstance(value, str | int):
        return value
    if names := _names(value.__class__):
        omit = getattr(value, "omit_empty", False)
        data = {}
        for name in names:
            item = getattr(value, name)
            if not (omit and item in (None, {})):
                data[name] = json_data(item, all_digits)
        return data
    if isinstance(value, Mapping):
        return {str(key): json_data(item, all_digits) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [json_data(item, all_digits) for item in value]
    # What is left is an array, or nothing that JSON knows, which `json.dumps` then refuses.
    if hasattr(value, "tolist"):
        return json_data(value.tolist(), all_digits)
    return value


@cache
def _names(cls: type) -> tuple[str, ...]:
    if is_dataclass(cls):
        return tuple(field.name for field in fields(cls))
    return getattr(cls, "_fields", ())  # of a named tuple


def dumps(value: object, all_digits: bool = False) -> str:
    """`json_data` as JSON text."""
    return compact_json(json_data(value, all_digits))


def compact_json(data: object) -> str:
    """Plain JSON data as text without spaces; a `ValueError` for nan and infinity."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def pretty_json(value: object, all_digits: bool = False) -> str:
    """`json_data` as JSON text for people: a line for each entry, but only one for a list of
    numbers."""
    text = json.dumps(json_data(value, all_digits), indent=1)
    return re.sub(r"\[[^][{}\"]*\]", lambda numbers: re.sub(r"\n *", " ", numbers[0]), text)


def readable_errors(cls: Class) -> Class:
    """Make the errors of a pydantic dataclass `ParameterError`s, and let it accept numpy's types
    and lists."""
    init = cls.__init__
    names = [field.name for field in fields(cls)]

    @wraps(init)
    def init_readably(self: object, /, *args: object, **values: object) -> None:
        try:
            # By name, so that each is converted; arguments beyond the fields are left for `init`
            # to refuse.
            named = dict(zip(names, args, strict=False)) | values
            plain = {name: plain_value(value) for name, value in named.items()}
            init(self, *args[len(names) :], **plain)
        except ValidationError as error:
            raise parameter_error(error, TypeAdapter(cls).json_schema()["properties"]) from None

    cls.__init__ = init_readably
    return cls


def plain_value(value: object) -> Any:
    """A value without numpy's types and lists: numbers as Python's, lists and arrays as tuples."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return tuple(map(plain_value, value))
    return value


def parameter_error(
    error: ValidationError, schema: Mapping[str, Schema], prefix: str = ""
) -> ParameterError:
    """The first error of a model as a sentence, by the JSON `schema` of its fields; `prefix` as in
    "sequoia."."""
    errors = error.errors(include_url=False)
    raised = [one for one in errors if "error" in one.get("ctx", {})]  # by a validator
    for one in raised:
        cause = one["ctx"]["error"]
        if isinstance(cause, ParameterError):
            if cause.name:
                return cause
            return cause.named(f"{prefix}{one['loc'][0]}")
    first = (raised or errors)[0]
    name = str(first["loc"][0]) if first["loc"] else ""  # none: of a validator of the whole
    where = prefix + name if name else prefix.rstrip(".")
    if raised:
        reason = str(first["ctx"]["error"]).strip().rstrip(".")
        must = f"be valid: {reason}"
        if reason.startswith("must "):  # a sentence of a record of ours
            must = reason.removeprefix("must ")
        return ParameterError(where, must, first["input"] if name else ...)
    # "list numbers from 0 to 1" is a verb already, "a whole number from 1" needs one.
    values = _values(schema.get(name, {}), many=False)
    must = values
    if not values.startswith("list "):
        must = f"be {values}"
    return ParameterError(where, must, first["input"])


def _values(schema: Schema, many: bool) -> str:
    """What a value must be by its JSON `schema`, for a sentence: "a whole number from 1 to 64"."""
    if "anyOf" in schema:
        return " or ".join(_values(one, many) for one in schema["anyOf"])
    if "const" in schema:
        return f"{'some of ' * many}{schema['const']}"
    if options := ", ".join(map(str, schema.get("enum", ()))):
        return f"{'some' if many else 'one'} of {options}"
    if schema.get("type") == "array":
        each = ""
        if schema.get("uniqueItems"):
            each = ", each once"
        items = _values(schema.get("items", {}), many=True)
        return f"{'lists of' if many else 'list'} {items}{each}"
    words = KINDS.get(schema.get("type", ""), ("another value", "values"))[many]
    if "minimum" in schema:
        words += f" from {schema['minimum']}"
    if "exclusiveMinimum" in schema:
        words += f" above {schema['exclusiveMinimum']}"
    if "maximum" in schema:
        words += f" to {schema['maximum']}"
    return words
