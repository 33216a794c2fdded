"""From names to objects and back: the registries of builders, rules and drafters, `parse_strategy` and `spelled`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from .builders import BUILDERS
from .builders.base import TreeBuilder
from .config import Choice
from .drafters import DRAFTERS
from .drafters.base import Drafter
from .errors import Menu, ParameterError
from .parameters import read_value, text_of, tuples
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


def parse_strategy(kind: str, text: str, read_file: Callable[[str], Any] | None = None) -> Any:
    """The builder, rule or drafter that a text names, with its parameters: "sequoia", "sequoia:size=16,depth=6".

    A part without "=" goes on with the value before it, as in "branching:widths=4,2,1".

    Args:
        kind: "builder", "verifier" or "drafter".
        text: the name, and after a colon parameters, each of them once.
        read_file: reads a value from the file that is named in its place; None where no file may be read.

    Raises:
        ValueError: if the name, a parameter or a value is wrong; the message says what it must be.

    >>> parse_strategy("builder", "k-ary:width=3")
    KAry(width=3, depth=3)
    """
    name, given = split_strategy(kind, text)
    cls = REGISTRIES[kind][name]
    known = {f.name: f.metadata for f in fields(cls)}
    if not given.keys() <= known.keys():
        cls(**given)  # raises a sentence with the nearest name
    values: dict[str, Any] = {}
    for key, value in given.items():
        values[key] = read_value(f"{name}.{key}", value, known[key])
        if read_file and isinstance(values[key], str) and values[key] not in known[key].get("words", (values[key],)):
            values[key] = read_file(values[key])
    return cls(**values)


def split_strategy(kind: str, text: str) -> tuple[str, dict[str, str]]:
    """The name in a text such as "sequoia:size=16,depth=6", and the text of each parameter, neither of them checked.

    Raises:
        ValueError: if it is written in another way.
    """
    name, _, rest = (part.strip() for part in text.partition(":"))
    given: dict[str, str] = {}
    for part in re.split(r",(?=[^,=]*=)", rest) if rest else ():
        key, equals, value = part.partition("=")
        if not equals or not key.strip() or key.strip() in given:
            raise ParameterError(kind, "be written like sequoia:size=16,depth=6, each parameter once", text)
        given[key.strip()] = value
    return name, given


def spelled(strategy: Any, defaults: bool = False) -> str:
    """A builder, rule or drafter as a text that `parse_strategy` reads: "sequoia:size=24".

    Args:
        strategy: the object.
        defaults: whether parameters that have their default are written as well, if that is not "auto".
    """
    values = {f.name: getattr(strategy, f.name) for f in fields(strategy)
              if getattr(strategy, f.name) != ("auto" if defaults else f.default)}  # fmt: skip
    parameters = ",".join(f"{name}={text_of(value)}" for name, value in values.items())
    return f"{strategy.name}:{parameters}" if parameters else strategy.name
