"""The numbers of claims: arithmetic in Python's notation on measurements and statistics of them.

`ratio(runs(builder='chain', verifier='block', temperature=1.0), 'tokens', 'passes') - 1` calls a
measurement, `runs`, whose sums are stored under the text of that call, and a statistic of the sums,
`ratio`. Anything else than calls of registered functions, constants and arithmetic is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ..base.codec import JsonObject

Sums = Mapping[str, float]  # name -> sum; a proof's only name is "error"
Function = Callable[..., Sums]


class Measurement(NamedTuple):
    """A registered function, and its kind.

    Attributes:
        function: from (workbench, text, **arguments) to the sums of one text; the only one of a
            proof, which reads no text, is the largest "error".
        kind: "counted" (on texts, no clock), "timed" or "proof".
    """

    function: Function
    kind: str


MEASUREMENTS: dict[str, Measurement] = {}
STATISTICS: dict[str, Callable[..., float]] = {}
SYNTAX = (
    ast.Expression,
    ast.Call,
    ast.keyword,
    ast.expr_context,
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.BinOp,
    ast.operator,
    ast.UnaryOp,
    ast.unaryop,
)


def measurement(kind: str) -> Callable[[Function], Function]:
    """Register a function as a measurement of this kind."""

    def register(function: Function) -> Function:
        MEASUREMENTS[function.__name__] = Measurement(function, kind)
        return function

    return register


def proof(errors: Callable[..., Iterator[float]]) -> Callable[..., Iterator[float]]:
    """Register a function that yields errors as a proof; it may ask for the `workbench`."""

    def largest(workbench: object, text: object, **arguments: object) -> Sums:
        if "workbench" in errors.__annotations__:
            arguments["workbench"] = workbench
        return {"error": max(errors(**arguments))}

    MEASUREMENTS[errors.__name__] = Measurement(largest, "proof")
    return errors


def statistic(function: Callable[..., float]) -> Callable[..., float]:
    """Register a function of sums as a statistic."""
    STATISTICS[function.__name__] = function
    return function


def evaluate(number: str, sums: Mapping[str, Sums]) -> float:
    """The value of a number.

    Args:
        number: its text.
        sums: what was measured, by the text of the measurement's call.

    Raises:
        ValueError: if it is not written as the module says.
    """

    def look_up(name: str, /, **arguments: object) -> Sums | float:
        words = [f"{key}={value!r}" for key, value in arguments.items()]
        found = sums[f"{name}({', '.join(words)})"]
        return found.get("error", found)

    return _value(number, look_up)


def parse_call(call: str) -> tuple[Measurement, JsonObject]:
    """The measurement that the text of a call names, and its arguments."""
    return _value(call, lambda name, /, **arguments: (MEASUREMENTS[name], arguments))


def _value(number: str, measured: Callable[..., Any]) -> Any:
    """What a number is, if a measurement's call gives `measured(name, **arguments)`."""
    calls_in(number)  # anything but a number is an error before it is evaluated
    names = {name: partial(measured, name) for name in MEASUREMENTS}
    return eval(number, {"__builtins__": {}}, {**STATISTICS, **names})


@lru_cache(maxsize=256)
def calls_in(number: str) -> tuple[str, ...]:
    """The texts of the measurements' calls in a number, each once.

    Raises:
        ValueError: if there is anything in it that a number is not made of.
    """
    known = [*MEASUREMENTS, *STATISTICS]
    calls: dict[str, None] = {}
    for node in ast.walk(ast.parse(number, mode="eval")):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in MEASUREMENTS:
            calls[ast.unparse(node)] = None
        # A name, an attribute, a comparison or a subscript: nothing that a number needs.
        elif not isinstance(node, SYNTAX) and ast.unparse(node) not in known:
            raise ValueError(
                f"number must be made of {', '.join(known)}, constants and arithmetic; got "
                f"{ast.unparse(node)!r}."
            )
    return tuple(calls)


def is_timed(call: str) -> bool:
    """Whether the measurement that a call names reads a clock."""
    return parse_call(call)[0].kind == "timed"
