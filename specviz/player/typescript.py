"""The records that the browser gets as TypeScript: `python -m specviz.player.typescript` writes base/wire.d.ts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from ..paths import WEB
from ..record import Detail
from ..tree import Chart
from .wire import Cut, Figures, Growth, Head, Right, Sent

PLACE = WEB / "base" / "wire.d.ts"
SIMPLE = {int: "number", float: "number", str: "string", bool: "boolean", NoneType: "null"}


def script() -> str:
    """The records as the browser's types."""
    head = "// What the server sends of a run. Made from specviz/player/wire.py: python -m specviz.player.typescript\n"
    return head + "".join(map(interface, (Chart, Detail, Cut, Growth, Sent, Right, Figures, Head)))


def interface(cls: Any) -> str:
    """A record as a TypeScript interface; what may be left out has a question mark."""
    sparse = hasattr(cls, "SPARSE") or not getattr(cls, "__total__", True)
    lines = []
    for name, kind in get_type_hints(cls, include_extras=True).items():
        if name not in ("SPARSE", "LATER"):
            optional = sparse or get_origin(kind) is NotRequired
            found = typescript(get_args(kind)[0] if get_origin(kind) is NotRequired else kind)
            lines.append(f"  {name}{'?' if optional else ''}: {found.removesuffix(' | null') if sparse else found};\n")
    about = (cls.__doc__ or "").partition("Args:")[0].strip().replace("\n    ", "\n * ").replace(" * \n", " *\n")
    return f"\n/** {about} */\nexport interface {cls.__name__} {{\n{''.join(lines)}}}\n"


def typescript(kind: Any) -> str:
    """An annotation as a TypeScript type."""
    origin, of = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return typescript(of[0])
    if origin in (Union, UnionType):
        return " | ".join(map(typescript, of))
    if origin is Literal:
        return " | ".join(f"'{value}'" for value in of)
    if origin in (dict, Mapping):
        return f"Record<string, {typescript(of[1])}>"
    if origin is tuple and of[-1] is not ...:
        return f"[{', '.join(map(typescript, of))}]"
    if origin in (list, tuple, Sequence):
        one = typescript(of[0])
        return f"({one})[]" if "|" in one else f"{one}[]"
    return SIMPLE.get(kind) or kind.__name__


if __name__ == "__main__":
    PLACE.write_text(script(), encoding="utf-8")
