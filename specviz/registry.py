"""From names to objects and back: the registries of builders, rules and drafters, `register`, `parse_strategy` and
`spelled`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import Field, fields
from typing import Any, TypeVar

from .builders import BUILDERS
from .builders.base import TreeBuilder
from .config import Choice
from .drafters import DRAFTERS
from .drafters.base import Drafter
from .errors import Menu, ParameterError
from .parameters import KINDS, read_value, text_of, tuples
from .sampling import SCHEMES
from .verifiers import VERIFIERS
from .verifiers.base import Verifier

REGISTRIES: dict[str, Menu] = {"builder": BUILDERS, "verifier": VERIFIERS, "drafter": DRAFTERS}
BASES: dict[str, type[Any]] = {"builder": TreeBuilder, "verifier": Verifier, "drafter": Drafter}
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
AnyStrategy = TypeVar("AnyStrategy", bound=type)


def register(cls: AnyStrategy) -> AnyStrategy:
    """Add a builder, rule or drafter to the menus, for this process; also a decorator.

    Args:
        cls: a frozen dataclass that extends `TreeBuilder`, `Verifier` or `Drafter`, with a `name` and a `title`. One
            that was registered under its name before is replaced, but not a built-in one.

    Returns:
        The class.

    Raises:
        ValueError: if it is not that; the message says what to do.

    >>> from specviz.verifiers.naive import Naive
    >>> @specviz.register
    ... class Mine(Naive):
    ...     name, title = "mine", "My rule"
    >>> specviz.RunConfig(verifier="mine").verifier.title
    'My rule'
    >>> _ = specviz.VERIFIERS.pop("mine")
    """
    kind = next((kind for kind, base in BASES.items() if isinstance(cls, type) and issubclass(cls, base)), None)
    if kind is None:
        raise ParameterError("register", "be given a class that extends Verifier, TreeBuilder or Drafter", cls)
    strategy: Any = cls
    _check_class(kind, strategy)
    REGISTRIES[kind][strategy.name] = strategy
    return cls


def built_in(cls: type) -> bool:
    """Whether a strategy is part of this package."""
    return cls.__module__.startswith(f"{__package__}.")


def _check_class(kind: str, cls: Any) -> None:
    """Raise a `ParameterError` for what would fail later in a menu, a proof or a run."""
    where = cls.__qualname__
    if any(isinstance(value, Field) for value in vars(cls).values()):
        raise ParameterError(where, "be a frozen dataclass", hint="Write @dataclass(frozen=True) above it.")
    for attribute in ("name", "title"):
        if not isinstance(getattr(cls, attribute, None), str):
            raise ParameterError(f"{where}.{attribute}", "be a text", getattr(cls, attribute, None))
    if not NAME.fullmatch(cls.name):
        raise ParameterError(f"{where}.name", "be small letters and digits with hyphens, such as my-rule", cls.name)
    other = REGISTRIES[kind].get(cls.name)
    if other is not None and built_in(other):
        raise ParameterError(
            f"{where}.name", f"differ from the built-in {kind} {cls.name}", hint="Choose another name."
        )
    for field in fields(cls):
        if field.metadata.get("kind") not in KINDS:
            hint = "Annotate what is no parameter as ClassVar."
            raise ParameterError(f"{where}.{field.name}", "be made by a function of specviz.parameters", hint=hint)
    for method in ("open",) if kind == "drafter" else ("__call__",):
        if getattr(cls, method) is getattr(BASES[kind], method):
            raise ParameterError(where, f"define {method}")
    if unknown := [scheme for scheme in getattr(cls, "schemes", ()) if scheme not in SCHEMES]:
        raise ParameterError(f"{where}.schemes", f"list some of {', '.join(SCHEMES)}", unknown[0])
    if kind == "verifier" and not cls.lossless and not cls.bias:
        raise ParameterError(f"{where}.bias", "be a sentence on how a rule that is not lossless changes the text")
    cls()


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
