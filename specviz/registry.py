"""From names to objects: the registries of builders, rules and drafters, and `build`, which checks what it is given."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from .builders import BUILDERS
from .builders.base import TreeBuilder
from .config import Choice
from .drafters import DRAFTERS
from .drafters.base import Drafter
from .errors import Menu, ParameterError
from .parameters import read_value, tuples
from .verifiers import VERIFIERS
from .verifiers.base import Verifier

REGISTRIES: dict[str, Menu] = {"builder": BUILDERS, "verifier": VERIFIERS, "drafter": DRAFTERS}
BASES: dict[str, type[Any]] = {"builder": TreeBuilder, "verifier": Verifier, "drafter": Drafter}


def build(kind: str, choice: Any) -> Any:
    """The builder, rule or drafter that `choice` stands for.

    Args:
        kind: "builder", "verifier" or "drafter".
        choice: the object itself, a `Choice` with its menu name and parameters, or a text as `parse_strategy` reads it.

    Raises:
        ValueError: if the name or a parameter is unknown; the message lists what there is.

    >>> build("builder", specviz.Choice("k-ary", {"depth": 2}))
    KAry(width=2, depth=2)
    """
    if isinstance(choice, BASES[kind]):
        return choice
    if isinstance(choice, str):
        return parse_strategy(kind, choice)
    if not isinstance(choice, Choice):
        raise ParameterError(kind, f"be a name, or made from specviz.{kind.upper()}S", choice)
    cls = REGISTRIES[kind][choice.name]
    return cls(**{name: tuples(value) for name, value in choice.parameters.items()})


def parse_strategy(kind: str, text: str) -> Any:
    """The builder, rule or drafter that a text names, with its parameters: "sequoia", "sequoia:size=16,depth=6".

    A part without "=" goes on with the value before it, as in "branching:widths=4,2,1". No file is read.

    Args:
        kind: "builder", "verifier" or "drafter".
        text: the name, and after a colon parameters, each of them once.

    Raises:
        ValueError: if the name, a parameter or a value is wrong; the message says what it must be.

    >>> parse_strategy("builder", "k-ary:width=3")
    KAry(width=3, depth=3)
    """
    name, _, rest = (part.strip() for part in text.partition(":"))
    cls = REGISTRIES[kind][name]
    given: dict[str, str] = {}
    for part in rest.split(",") if rest else ():
        key, equals, value = part.partition("=")
        key = key.strip() if equals else next(reversed(given), "")
        if not key or (equals and key in given):
            raise ParameterError(kind, "be written like sequoia:size=16,depth=6, each parameter once", text)
        given[key] = value if equals else f"{given[key]},{part}"
    known = {f.name: f.metadata for f in fields(cls)}
    return cls(**{
        key: read_value(f"{name}.{key}", value, known[key]) if key in known else value for key, value in given.items()
    })  # fmt: skip
