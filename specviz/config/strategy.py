"""Strategies: builders, rules and drafters as frozen pydantic models with a menu name.

Their fields are the parameters: errors, the page's controls, texts (`strategy_text`), links and
JSON follow from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..base.codec import JsonObject, Schema, parameter_error, plain_value
from ..base.errors import ParameterError, UnknownName
from .strategy_text import ReadFile, format_value, parse_value, split_parameters

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
SCHEMES = {  # how the children of a node are chosen
    "iid": "drawn independently from the draft, duplicates kept",
    "distinct": "drawn from the draft without replacement",
    "top-draw": "the draft's most probable tokens but the last, drawn from the rest",
    "top": "the draft's most probable tokens, not draws",
    "race": "the first arrivals of a race shared with the target",
}
AnyStrategy = TypeVar("AnyStrategy", bound=type)
Number = TypeVar("Number", int, float)
# A builder, a rule or a drafter: their contracts stand above this file, which cannot name them.
Choice: TypeAlias = Any


def number(default: Number, low: float, high: float, title: str, description: str) -> Number:
    """The field of a parameter that is a number from `low` to `high`."""
    return Field(default, ge=low, le=high, title=title, description=description)


class Strategy(BaseModel):
    """Base of builders, rules and drafters. A subclass has a `name`, a `title`, and a field for
    each parameter.

    >>> chain = specviz.BUILDERS["chain"](depth=6)
    >>> chain, str(chain), chain.replace(depth=4).depth
    (Chain(depth=6), 'chain:depth=6', 4)
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")
    kind: ClassVar[str]  # "builder", "verifier" or "drafter"
    name: ClassVar[str]
    title: ClassVar[str]
    needs: ClassVar[str] = "__call__"  # the method that a subclass must define

    def __init__(self, /, *values: object, **parameters: object) -> None:
        # Checked here and not left to pydantic: its sentences are about models, not about
        # parameters.
        fields = type(self).model_fields
        if len(values) > len(fields):
            raise ParameterError(self.name, f"have up to {len(fields)} parameters", len(values))
        # Parameters by position, in the order of the fields.
        for name, value in zip(fields, values, strict=False):
            if name in parameters:
                raise ParameterError(f"{self.name}.{name}", "be given once")
            parameters[name] = value
        for name in parameters.keys() - fields.keys():
            raise UnknownName(f"{self.name} parameter", name, fields or ["none"])
        try:
            super().__init__(**{name: plain_value(value) for name, value in parameters.items()})
        except ValidationError as error:
            raise parameter_error(error, self.parameter_schema(), f"{self.name}.") from None

    def __hash__(self) -> int:
        try:
            return hash((type(self), *self.parameters.values()))
        except TypeError:  # a plugin's parameter that is a list or a dictionary
            return hash(type(self))

    @classmethod
    @cache
    def parameter_schema(cls) -> dict[str, Schema]:
        """The JSON schema of each parameter, in order: "title", "description", "default", "type",
        "minimum" ..."""
        return cls.model_json_schema().get("properties", {})

    @property
    def parameters(self) -> JsonObject:
        """The value of each parameter, by name."""
        return {name: getattr(self, name) for name in type(self).model_fields}

    def replace(self, /, **parameters: object) -> Self:
        """The same strategy with other values of some parameters."""
        return type(self)(**self.parameters | parameters)

    def to_dict(self) -> JsonObject:
        """The strategy as plain JSON data, its "name" and its "parameters"."""
        return {"name": self.name, "parameters": self.parameters}

    @classmethod
    def is_built_in(cls) -> bool:
        """Whether it is part of this package."""
        return cls.__module__.startswith("specviz.")

    def to_text(self, defaults: bool = False) -> str:
        """A text that `strategy_of` reads: "sequoia:size=24"; with `defaults`, all parameters
        but those whose default is "auto"."""
        parameters = []
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if value != field.default or (defaults and value != "auto"):
                parameters.append(f"{name}={format_value(value)}")
        return f"{self.name}:{','.join(parameters)}" if parameters else self.name

    __str__ = to_text


class Menu(Mapping[str, type[Choice]]):
    """Strategies of one `kind` by menu name, in the order of the menu.

    `package` fills the menu when it is imported, which happens at the first look into it: this
    file stands below the strategies and cannot import them. An unknown name is an `UnknownName`.
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self._package = package
        self._classes: dict[str, type[Choice]] = {}

    def add(self, *classes: type[Strategy]) -> None:
        """Append strategies to the menu."""
        self._classes.update({cls.name: cls for cls in classes})

    def remove(self, name: str) -> None:
        """Take a strategy out of the menu."""
        del self._classes[name]

    def __getitem__(self, name: str) -> type[Choice]:
        import_module(self._package)  # fills the menu; later calls find the module loaded
        if name in self._classes:
            return self._classes[name]
        error = UnknownName(self.kind, name, self._classes)
        error.hint = error.hint or "If it is a plugin, load it first, with --plugin say."
        raise error

    def __iter__(self) -> Iterator[str]:
        import_module(self._package)
        return iter(self._classes)

    def __len__(self) -> int:
        return sum(1 for _ in self)


BUILDERS = Menu("builder", "specviz.builders")
VERIFIERS = Menu("verifier", "specviz.verifiers")
DRAFTERS = Menu("drafter", "specviz.drafters")
REGISTRIES = {menu.kind: menu for menu in (BUILDERS, VERIFIERS, DRAFTERS)}


def register(cls: AnyStrategy) -> AnyStrategy:
    """Add a builder, rule or drafter to the menus, for this process; also a decorator.

    Args:
        cls: a class that extends `TreeBuilder`, `Verifier` or `Drafter`, with a `name` of its own
            and a `title`.

    Raises:
        ValueError: if it is not that; the message says what to do.

    >>> from specviz.verifiers.match import Naive
    >>> @specviz.register
    ... class Mine(Naive):
    ...     name, title = "mine", "My rule"
    >>> specviz.RunConfig(verifier="mine").verifier.title
    'My rule'
    >>> specviz.VERIFIERS.remove("mine")
    """
    kind = getattr(cls, "kind", None)
    if not (isinstance(cls, type) and issubclass(cls, Strategy) and kind in REGISTRIES):
        raise ParameterError(
            "register", "be given a class that extends Verifier, TreeBuilder or Drafter", cls
        )
    _check_class(cls)
    REGISTRIES[kind].add(cls)
    return cls


def _check_class(cls: Choice) -> None:
    where = cls.__qualname__
    if "__dataclass_fields__" in vars(cls):
        raise ParameterError(where, "be a plain class", hint="Remove @dataclass above it.")
    for attribute in ("name", "title"):
        if not isinstance(getattr(cls, attribute, None), str):
            raise ParameterError(f"{where}.{attribute}", "be a text", getattr(cls, attribute, None))
    if not NAME.fullmatch(cls.name):
        raise ParameterError(
            f"{where}.name", "be small letters and digits with hyphens, such as my-rule", cls.name
        )
    other = REGISTRIES[cls.kind].get(cls.name)
    if other is not None and other.is_built_in():
        must = f"differ from the built-in {cls.kind} {cls.name}"
        raise ParameterError(f"{where}.name", must, hint="Choose another name.")
    for name, field in cls.model_fields.items():
        if field.is_required():
            hint = "Annotate what is no parameter as ClassVar."
            raise ParameterError(f"{where}.{name}", "have a default", hint=hint)
    # The contract that it extends, whose method it has to define.
    base = next(one for one in cls.__mro__ if "kind" in vars(one))
    contract = getattr(base, cls.needs)
    method = getattr(cls, cls.needs)
    names = signature(contract).parameters
    error = ParameterError(where, f"define {cls.needs}({', '.join(names)})")
    if method is contract:
        raise error
    try:
        signature(method).bind(*names)
    except TypeError:
        raise error from None
    if unknown := [scheme for scheme in getattr(cls, "schemes", ()) if scheme not in SCHEMES]:
        raise ParameterError(f"{where}.schemes", f"list some of {', '.join(SCHEMES)}", unknown[0])
    if cls.kind == "verifier" and not cls.lossless and not cls.bias:
        raise ParameterError(
            f"{where}.bias", "be a sentence on how a rule that is not lossless changes the text"
        )
    cls()


def strategy_of(kind: str, value: object, read_file: ReadFile | None = None) -> Choice:
    """The builder, rule or drafter that a value stands for.

    Args:
        kind: "builder", "verifier" or "drafter".
        value: the object itself, a text such as "sequoia:size=16,depth=6" (`strategy_text`), or
            {"name": "sequoia", "parameters": {"size": 16}}.
        read_file: reads a list from the file that a text names in its place.

    Raises:
        ValueError: if it is none; the message says what it must be.
    """
    if isinstance(value, Strategy) and value.kind == kind:
        return value
    must = f"be a name, or made from specviz.{kind.upper()}S"
    if isinstance(value, str):
        name, texts = split_parameters(kind, value)
        cls = REGISTRIES[kind][name]
        schema = cls.parameter_schema()
        parameters = {}
        for key, text in texts.items():
            parameters[key] = parse_value(text, schema.get(key, {}), read_file)
        return cls(**parameters)
    if isinstance(value, dict):
        must += ', or an object with "name" and "parameters" alone'
        parameters = value.get("parameters", {})
        is_named = isinstance(value.get("name"), str) and isinstance(parameters, dict)
        if is_named and value.keys() <= {"name", "parameters"}:
            return REGISTRIES[kind][value["name"]](**parameters)
    raise ParameterError(kind, must, value)
