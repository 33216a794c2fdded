"""The numbers of claims: arithmetic in Python's notation on measurements and statistics of them.

`ratio(runs(builder='chain', verifier='block', temperature=1.0), 'tokens', 'passes') - 1` calls a
measurement, `runs`, whose sums are stored under the text of that call, and a statistic of the sums,
`ratio`. Anything else than calls of registered functions, constants and + - * / is refused.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

Sums = Mapping[str, float]  # name -> sum; a proof's only name is "error"


class Measurement(NamedTuple):
    """A registered function, and its kind.

    Attributes:
        function: from (workbench, text, **arguments) to the sums of one text; of a proof from
            (workbench, **arguments) to the largest error that it found.
        kind: "counted" (on texts, no clock), "timed" or "proof".
    """

    function: Callable[..., Any]
    kind: str


MEASUREMENTS: dict[str, Measurement] = {}
STATISTICS: dict[str, Callable[..., float]] = {}
OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def measurement(kind: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as a measurement of this kind."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        MEASUREMENTS[function.__name__] = Measurement(function, kind)
        return function

    return register


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

    def value(node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.UnaryOp(op=ast.USub()):
                return -value(node.operand)
            case ast.BinOp() if type(node.op) in OPERATORS:
                return OPERATORS[type(node.op)](value(node.left), value(node.right))
            case ast.Call(func=ast.Name(id=name)) if name in STATISTICS:
                return STATISTICS[name](*map(value, node.args))
            case ast.Call(func=ast.Name(id=name)) if name in MEASUREMENTS:
                found = sums[ast.unparse(node)]
                return found["error"] if MEASUREMENTS[name].kind == "proof" else found
        raise ValueError(
            f"number must be made of {', '.join([*MEASUREMENTS, *STATISTICS])}, constants and "
            f"+ - * /; got {ast.unparse(node)!r}."
        )

    return value(_parse(number))


@lru_cache(maxsize=256)
def _parse(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def calls_in(number: str) -> tuple[str, ...]:
    """The texts of the measurements' calls in a number, each once."""
    calls = {
        ast.unparse(node): None
        for node in ast.walk(_parse(number))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in MEASUREMENTS
    }
    return tuple(calls)


def parse_call(call: str) -> tuple[Measurement, dict[str, Any]]:
    """The measurement that the text of a call names, and its arguments."""
    node = _parse(call)
    assert isinstance(node, ast.Call)
    arguments = {str(item.arg): ast.literal_eval(item.value) for item in node.keywords}
    return MEASUREMENTS[ast.unparse(node.func)], arguments


def kind_of(call: str) -> str:
    """The kind of the measurement that a call names."""
    return parse_call(call)[0].kind
