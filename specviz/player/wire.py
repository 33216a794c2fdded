"""The records that the browser gets of a run; its code has them as types in base/wire.d.ts (`web.py`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, TypedDict, Union, get_args, get_origin, get_type_hints

from ..record import Detail
from ..record_parts import PairedSpeedup
from ..tree import Chart

SIMPLE = {int: "number", float: "number", str: "string", bool: "boolean", NoneType: "null"}


class Cut(TypedDict):
    """The best of the candidates that a builder left out."""

    texts: list[str]
    keys: list[float]


class Growth(TypedDict, total=False):
    """How a tree grew, as far as its builder recorded it."""

    keys: list[float | None]
    waiting: list[list[tuple[int, float]]]
    split: list[int]
    cut: Cut
    candidates: int
    expected: float
    length: int


class Sent(TypedDict):
    """One pass of the target: the tree that was drafted, and what the rule made of it, in columns over its nodes.

    `outcome` has one letter a node: r root, a accepted, x rejected, u never reached, p passed over, o a probe. `why`
    says which of the sentences is a node's own, `own` is the target's own token and `last` what it is; `drafter` says
    whose guess a node was, null for the root and where a builder guessed.
    """

    index: int
    parents: list[int]
    tokens: list[int]
    texts: list[str]
    p: list[float | None]
    q: list[float | None]
    plain: list[float | None]
    accept: list[float | None]
    coin: list[float | None]
    outcome: str
    sentences: list[str]
    why: list[int]
    detail: dict[str, Detail]
    growth: Growth
    scheme: str
    pieces: list[str]
    own: int | None
    last: Literal["bonus", "correction"] | None
    draft_passes: int
    drafter: list[str | None]


class Right(TypedDict):
    """How often a drafter was right, over a run."""

    accepted: int
    compared: int
    acceptance: float | None


class Figures(TypedDict):
    """A run in numbers, null where there is nothing to divide by.

    Parts are in the order of PARTS, drafters by name.
    """

    tokens: int
    passes: int
    accepted: int
    compared: int
    per_pass: float | None
    acceptance: float | None
    rate: float | None
    token_ms: float | None
    step_ms: float | None
    token_parts: list[float | None]
    step_parts: list[float | None]
    drafters: dict[str, Right]


class Head(TypedDict):
    """What is said about a run once, at its start."""

    title: str
    pair: str
    prompt: str
    lossy: str | None
    key: str
    rule: str
    leaves_first: bool
    settings: str
    recorded: NotRequired[bool]
    badge: NotRequired[str]
    show: NotRequired[int]


def script() -> str:
    """The records as the browser's types."""
    head = "// What the server sends of a run. Made from specviz/player/wire.py: npm run made\n"
    return head + "".join(map(interface, (Chart, Detail, Cut, Growth, Sent, Right, Figures, Head, PairedSpeedup)))


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
