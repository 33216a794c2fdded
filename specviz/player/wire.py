"""The records that the browser gets of a run; `typescript` writes the same for the browser."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from ..shown import Detail


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
    settings: str
    models: NotRequired[str]
    recorded: NotRequired[bool]
    badge: NotRequired[str]
    show: NotRequired[int]
