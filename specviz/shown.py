"""Details of a node recorded by a rule, and of the growth of a tree recorded by a builder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from . import validation as reading

MOST = 64  # tokens of a chart
Piece = Callable[[int], str]


@dataclass(frozen=True)
class Chart:
    """A few tokens and, under every name, a number for each of them: what is drawn as bars.

    Args:
        tokens: token ids.
        rows: "p", "residual", "draft" or arrival "times", [len(tokens)] each.
        texts: the tokens as a person reads them, so that a record needs no tokenizer.
    """

    tokens: tuple[int, ...]
    rows: Mapping[str, tuple[float, ...]]
    texts: tuple[str, ...] = ()

    def named(self, piece: Piece) -> Chart:
        """The same with texts."""
        return replace(self, texts=tuple(map(piece, self.tokens)))


@dataclass(frozen=True)
class Detail:
    """Details of one node, recorded by a rule.

    Args:
        tried: rows as they were before the node was tried.
        after: rows for the token that follows the node.
        race: who raced for the token that follows, name -> arrival times, first arrivals first.
        facts: single numbers by name.
    """

    tried: Chart | None = None
    after: Chart | None = None
    race: Mapping[str, Chart] = field(default_factory=dict)
    facts: Mapping[str, float] = field(default_factory=dict)

    def named(self, piece: Piece) -> Detail:
        """The same with the texts of its tokens."""
        return replace(
            self,
            tried=self.tried and self.tried.named(piece),
            after=self.after and self.after.named(piece),
            race={name: chart.named(piece) for name, chart in self.race.items()},
        )


@dataclass(frozen=True)
class Growth:
    """How a tree grew; None if a builder does not record it.

    Args:
        length: how long a chain it chose.
        threshold: below which nothing was drawn.
        waiting: for each node after the root the best slots (parent, key) that were left waiting when it was taken.
        acceptance: the vector the shape was planned from; smoothed: whether it was made to fall; expected: tokens per
            pass that were expected of it; split: the size of each node's subtree, [n].
        candidates: how many nodes were ranked; cut: the best of those that were left out.
        guesses: how a drafter came to a node, node -> plain facts.
    """

    length: int | None = None
    threshold: float | None = None
    waiting: Sequence[Sequence[tuple[int, float]]] | None = None
    acceptance: tuple | None = None
    smoothed: bool | None = None
    expected: float | None = None
    split: tuple[int, ...] | None = None
    candidates: int | None = None
    cut: Chart | None = None
    guesses: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    def named(self, piece: Piece) -> Growth:
        """The same with the texts of its tokens."""
        return replace(self, cut=self.cut.named(piece)) if self.cut else self


def as_plain(value: Any) -> Any:
    """Records as plain JSON data: numbers with six significant digits; what a record above leaves empty is left out."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if is_dataclass(value):
        found = {f.name: getattr(value, f.name) for f in fields(value)}
        sparse = isinstance(value, Detail | Growth)
        return {name: as_plain(item) for name, item in found.items() if not (sparse and item in (None, {}))}
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    return value


def read_detail(value: Any, where: str, nodes: int) -> dict[int, Detail]:
    """The details of a tree of so many nodes, out of JSON.

    Raises:
        ValueError: if it is not what `Step.to_json` writes.
    """
    found = {}
    for key, item in reading.mapping(value, where).items():
        place = f"{where}.{key:.20}"
        node = _node(key, place, nodes - 1)
        found[node] = Detail(**reading.record(item, place, {
            "tried": reading.maybe(_chart), "after": reading.maybe(_chart), "race": _named(_chart),
            "facts": _named(reading.number()),
        }, given=True))  # fmt: skip
    return found


def read_growth(value: Any, where: str, nodes: int) -> Growth:
    """How a tree of so many nodes grew, out of JSON; as above."""
    whole, number = reading.whole(0), reading.number()
    slot = reading.together(reading.whole(0, nodes - 1), number)
    return Growth(**reading.record(reading.mapping(value, where), where, {
        "length": whole, "threshold": number, "waiting": reading.many(reading.many(slot)),
        "acceptance": reading.either(reading.many(number), reading.many(reading.many(number))),
        "smoothed": reading.flag, "expected": number, "split": reading.many(whole, length=nodes), "candidates": whole,
        "cut": _cut, "guesses": _guesses,
    }, given=True))  # fmt: skip


def _chart(value: Any, where: str) -> Chart:
    tokens = reading.record(value, where, {"tokens": reading.many(reading.whole(0), MOST)})["tokens"]
    row = reading.many(reading.number(), length=len(tokens))
    texts = reading.many(reading.text, length=len(tokens))
    return Chart(tokens, **reading.record(value, where, {"rows": _named(row), "texts": texts}))


def _guesses(value: Any, where: str) -> dict[int, dict[str, Any]]:
    return {
        _node(key, where, reading.MAX_NODES): reading.mapping(item, where)
        for key, item in reading.mapping(value, where).items()
    }


def _node(key: str, where: str, last: int) -> int:
    """The node that a key of an object names."""
    short = key.isascii() and key.isdecimal() and len(key) < 10
    return reading.whole(0, last)(int(key) if short else key, where)


def _cut(value: Any, where: str) -> Chart:
    chart = _chart(value, where)
    if "keys" not in chart.rows:
        raise reading.damaged(f"{where}.rows", "has no 'keys'")
    return chart


def _named(check: reading.Check) -> reading.Check:
    def check_all(value: Any, where: str) -> dict[str, Any]:
        return {name: check(item, f"{where}.{name:.40}") for name, item in reading.mapping(value, where).items()}

    return check_all
