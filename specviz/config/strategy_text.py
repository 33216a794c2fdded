"""Strategies as texts such as "sequoia:size=16,depth=6" and "branching:widths=4,2,1".

What is written here, read there: which names and parameters there are, `strategy.py` knows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from ..base.codec import Schema, plain_value
from ..base.errors import ParameterError

ReadFile: TypeAlias = Callable[[str], object]  # a list of numbers from the file of that name


def split_parameters(kind: str, text: str) -> tuple[str, dict[str, str]]:
    """The name in a text such as "sequoia:size=16,depth=6", and the text of each parameter, neither
    of them checked."""
    name, _, parameters = (part.strip() for part in text.partition(":"))
    values: dict[str, str] = {}
    # A comma ends a value only before another "name=", as values are lists too.
    for part in re.split(r",(?=[^,=]*=)", parameters) if parameters else ():
        key, equals, value = part.partition("=")
        if not equals or not key.strip() or key.strip() in values:
            raise ParameterError(
                kind, "be written like sequoia:size=16,depth=6, each parameter once", text
            )
        values[key.strip()] = value.strip()
    return name, values


def parse_value(text: str, schema: Schema, read_file: ReadFile | None = None) -> object:
    """The value of a parameter from its text: a number, true or false, a word, or a list of
    these."""
    # A parameter may be of several kinds, "auto" or a list of numbers say.
    alternatives = schema.get("anyOf", [schema])
    types = {alternative.get("type") for alternative in alternatives}
    words: list[object] = []
    for alternative in alternatives:
        words += alternative.get("enum", [alternative.get("const")])
    # JSON has true and false with a small letter, people write True too.
    value = _parse_json(text.lower() if "boolean" in types else text)
    if "array" not in types or isinstance(value, tuple) or value in words:
        return value
    if not isinstance(value, str):
        return (value,)  # a list of one number
    if "string" in types:  # no list and none of the words: the name of a file
        return read_file(value) if read_file else value
    return tuple(map(_parse_json, value.replace(",", " ").split()))


def _parse_json(text: str) -> object:
    """A text as JSON, or as a list of JSON without its brackets; else the text."""
    for candidate in (text, f"[{text}]"):
        with suppress(ValueError, RecursionError):
            return plain_value(json.loads(candidate))
    return text


def format_value(value: object) -> str:
    """The text of one parameter that `parse_value` reads back."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, tuple):
        return str(value)
    if any(isinstance(part, tuple) for part in value):  # a list of lists: as JSON
        return json.dumps(value, separators=(",", ":"))
    return ",".join(map(format_value, value))
