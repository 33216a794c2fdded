"""Strict reading of untrusted JSON: every value is checked for type and range before use.

An error is one sentence with the place in the file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from .errors import shown
from .files import parse_json

MAX_CHARACTERS = 64_000_000
MAX_STEPS = 20_000
MAX_NODES = 4096
MAX_TEXT = 200_000
LARGEST = sys.float_info.max  # JSON has no infinity, but 1e999 reads as one; and a whole number may be larger still

Check = Callable[[Any, str], Any]


def parse(text: str, what: str = "trace") -> Any:
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


def fail(where: str, wanted: str, value: Any) -> ValueError:
    return damaged(where, f"must be {wanted}; got {shown(value)}")


def damaged(where: str, trouble: str) -> ValueError:
    """The error about a value; the first name of `where` is what the file is to hold, "trace" in "trace.stop"."""
    return ValueError(f"{where.partition('.')[0]} is damaged: {where} {trouble}.")


def whole(low: int, high: int = 2**53) -> Check:
    def check(value: Any, where: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise fail(where, f"a whole number from {low} to {high}", value)
        return value

    return check


def number(low: float = -LARGEST, high: float = LARGEST) -> Check:
    def check(value: Any, where: str) -> float:
        right = isinstance(value, int | float) and not isinstance(value, bool)
        if not (right and low <= value <= high):
            raise fail(where, f"a number from {low:g} to {high:g}", value)
        return float(value)

    return check


def text(value: Any, where: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise fail(where, f"text of at most {MAX_TEXT:,} characters", value)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise fail(where, "text without halves of characters", value) from None
    return value


def flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise fail(where, "true or false", value)
    return value


def one_of(options: Sequence[str]) -> Check:
    def check(value: Any, where: str) -> str:
        if value not in options:
            raise fail(where, f"one of {', '.join(options)}", value)
        return value

    return check


def maybe(check: Check) -> Check:
    return lambda value, where: None if value is None else check(value, where)


def many(check: Check, most: int = MAX_NODES, length: int | None = None) -> Check:
    def check_all(value: Any, where: str) -> tuple:
        if not isinstance(value, list) or len(value) > most:
            raise fail(where, f"a list of at most {most} values", value)
        if length is not None and len(value) != length:
            raise damaged(where, f"must have {length} values, one per node; got {len(value)}")
        return tuple(check(item, f"{where}[{i}]") for i, item in enumerate(value))

    return check_all


def plain(value: Any, where: str, depth: int = 8) -> Any:
    """Plain JSON data of bounded depth, with numbers that are finite and text that can be written."""
    if depth == 0:
        raise damaged(where, "is nested too deeply")
    if isinstance(value, dict):
        return {text(key, where): plain(item, f"{where}.{key:.40}", depth - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, f"{where}[{i}]", depth - 1) for i, item in enumerate(value)]
    if isinstance(value, str):
        return text(value, where)
    if isinstance(value, int | float) and not abs(value) <= LARGEST:
        raise fail(where, "a finite number", value)
    return value


def mapping(value: Any, where: str) -> dict:
    if not isinstance(value, dict):
        raise fail(where, "an object", value)
    return plain(value, where)


def together(*checks: Check) -> Check:
    """A list of exactly these values."""

    def check_all(value: Any, where: str) -> tuple:
        if not isinstance(value, list) or len(value) != len(checks):
            raise fail(where, f"a list of {len(checks)} values", value)
        return tuple(check(item, f"{where}[{i}]") for i, (check, item) in enumerate(zip(checks, value, strict=True)))

    return check_all


def either(check: Check, other: Check) -> Check:
    """What passes the first check, or else the second."""

    def check_one(value: Any, where: str) -> Any:
        try:
            return check(value, where)
        except ValueError:
            return other(value, where)

    return check_one


def record(value: Any, where: str, checks: dict[str, Check], given: bool = False) -> dict[str, Any]:
    """The fields of an object, each through its check; unknown ones are ignored.

    A missing one is an error, unless only those that are `given` are asked for.
    """
    if not isinstance(value, dict):
        raise fail(where, "an object", value)
    missing = [name for name in checks if name not in value or (given and value[name] is None)]
    if missing and not given:
        raise damaged(where, f"has no {missing[0]!r}")
    return {name: check(value[name], f"{where}.{name}") for name, check in checks.items() if name not in missing}
