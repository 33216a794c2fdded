"""A strategy in a link: one parameter, "builder=sequoia:size=16,depth=6", for the several controls that hold it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from specviz.strategy import REGISTRIES, split_strategy


def folded(named: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Parameters of an address, with those of a strategy in one: "builder" and "builder.size" -> "sequoia:size=16"."""
    found: dict[str, str] = {}
    for name, text in named:
        owner, _, parameter = name.rpartition(".")
        if owner in found and owner.rpartition(".")[2] in REGISTRIES:
            found[owner] += f"{',' if ':' in found[owner] else ':'}{parameter}={text}"
        else:
            found[name] = text
    return list(found.items())


def unfolded(named: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The reverse; a parameter of its own, as older links have it, stays one."""
    for name, text in named:
        kind = name.rpartition(".")[2]
        if kind in REGISTRIES and ":" in text:
            with suppress(ValueError):  # then it is not among the choices either
                text, given = split_strategy(kind, text)
                yield from ((f"{name}.{parameter}", value) for parameter, value in given.items())
        yield name, text


def hint(name: str) -> str:
    """What to do where a menu lacks what a link names; "" for menus that hold no strategies."""
    return "; if it is a plugin, start the page with it" if name.rpartition(".")[2] in REGISTRIES else ""
