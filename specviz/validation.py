"""Values checked by pydantic, and its errors as sentences that name the parameter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache, wraps
from typing import Any, TypeVar, dataclass_transform

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from .errors import ParameterError

Schema = Mapping[str, Any]
Class = TypeVar("Class", bound=type)


@dataclass_transform(frozen_default=True, field_specifiers=(Field,))
def checked(cls: Class) -> Class:
    """Make `cls` a frozen dataclass of which every field is checked; a wrong value is a `ParameterError`.

    >>> @checked
    ... class Point:
    ...     x: int = Field(0, ge=0)
    >>> Point(-1)
    Traceback (most recent call last):
    specviz.errors.ParameterError: x must be a whole number from 0; got -1.
    """
    config = ConfigDict(strict=True, arbitrary_types_allowed=True)
    made: Any = dataclass(frozen=True, config=config)(cls)
    init, names = made.__init__, [field.name for field in fields(made)]

    @wraps(init)
    def checked_init(self: Any, *args: Any, **values: Any) -> None:
        try:
            named = dict(zip(names, args, strict=False)) | values
            init(self, *args[len(names) :], **{name: plain_value(value) for name, value in named.items()})
        except ValidationError as error:
            raise parameter_error(error, _field_schemas(made)) from None

    made.__init__ = checked_init
    return made


@lru_cache(maxsize=64)
def _field_schemas(cls: type) -> dict[str, Schema]:
    return TypeAdapter(cls).json_schema()["properties"]


def plain_value(value: Any) -> Any:
    """A value without numpy's types and lists: numbers as Python's, lists and arrays as tuples."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return tuple(map(plain_value, value)) if isinstance(value, list) else value


def parameter_error(error: ValidationError, schema: Mapping[str, Any], prefix: str = "") -> ParameterError:
    """The first error that pydantic found, as a sentence.

    Args:
        error: of a model or dataclass.
        schema: the JSON schema of each of its fields, from which the sentence says what a value must be.
        prefix: before the name of the field, "sequoia." say.
    """
    errors = error.errors(include_url=False)
    causes = [(one["loc"], one["ctx"]["error"]) for one in errors if "error" in one.get("ctx", {})]
    for place, cause in causes:  # raised by a validator of our own
        if isinstance(cause, ParameterError):
            return cause if cause.name else cause.named(f"{prefix}{place[0]}")
    name = str(errors[0]["loc"][0])
    return ParameterError(prefix + name, must_be(schema.get(name, {})), errors[0]["input"])


def alternatives(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schemas of which a value may follow any."""
    return schema.get("anyOf", [schema])


def must_be(schema: Mapping[str, Any]) -> str:
    """What a value must be by its JSON `schema`, for a sentence.

    >>> must_be({"type": "integer", "minimum": 1, "maximum": 64})
    'be a whole number from 1 to 64'
    """
    if "anyOf" in schema:
        first, *others = map(must_be, schema["anyOf"])
        return " or ".join([first, *(other.removeprefix("be ") for other in others)])
    if "const" in schema or "enum" in schema:
        words = schema.get("enum", [schema.get("const")])
        return f"be {'one of ' * (len(words) > 1)}{', '.join(map(str, words))}"
    if schema.get("type") == "array":
        each = ", each once" if schema.get("uniqueItems") else ""
        return f"list {_plural(schema.get('items', {}))}{each}"
    kinds = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text",
             "null": "None", "object": "an object"}  # fmt: skip
    return f"be {kinds.get(schema.get('type', ''), 'another value')}{_range(schema)}"


def _plural(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f"some of {', '.join(map(str, schema['enum']))}"
    if schema.get("type") == "array":
        return f"lists of {_plural(schema.get('items', {}))}"
    kinds = {"integer": "whole numbers", "number": "numbers", "string": "texts"}
    return f"{kinds.get(schema.get('type', ''), 'values')}{_range(schema)}"


def _range(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    above = "above" if "exclusiveMinimum" in schema else "from"
    return (f" {above} {low}" if low is not None else "") + (f" to {high}" if high is not None else "")
