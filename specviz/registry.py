"""From names to objects: the registries of builders, rules and drafters, and `build`, which checks what it is given."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from .builders import BUILDERS
from .config import Choice
from .desk import Drafter
from .drafters import DRAFTERS
from .protocols import TreeBuilder, Verifier
from .verifiers import VERIFIERS

REGISTRIES: dict[str, dict[str, type[Any]]] = {"builder": BUILDERS, "verifier": VERIFIERS, "drafter": DRAFTERS}
BASES: dict[str, type[Any]] = {"builder": TreeBuilder, "verifier": Verifier, "drafter": Drafter}


def build(kind: str, choice: Any) -> Any:
    """The builder, rule or drafter that `choice` stands for.

    Args:
        kind: "builder", "verifier" or "drafter".
        choice: the object itself, or a `Choice` with its menu name and parameters.

    Raises:
        ValueError: if the name or a parameter is unknown; the message lists what there is.
    """
    registry = REGISTRIES[kind]
    if isinstance(choice, BASES[kind]):
        return choice
    if not isinstance(choice, Choice):
        raise ValueError(f"{kind} must be made from specviz.{kind.upper()}S; got {choice!r}.")
    if choice.name not in registry:
        raise ValueError(f"{kind} must be one of {', '.join(registry)}; got {choice.name!r}.")
    cls = registry[choice.name]
    known = {f.name: f for f in fields(cls)}
    for name, value in choice.parameters.items():
        if name not in known:
            names = ", ".join(known) or "none"
            raise ValueError(f"{choice.name} has no parameter {name!r}. Its parameters: {names}.")
        if value is None and known[name].default is not None and known[name].default is not MISSING:
            raise ValueError(f"{choice.name}.{name} must have a value; leave it out for {known[name].default!r}.")
    return cls(**{name: _frozen(value) for name, value in choice.parameters.items()})


def _frozen(value: Any) -> Any:
    """JSON lists as the tuples that frozen dataclasses hold."""
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
