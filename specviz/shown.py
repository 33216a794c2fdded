"""Details of a node recorded by a rule, and of the growth of a tree recorded by a builder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

from .codec import Damaged, Most, Plan, Whole

Piece = Callable[[int], str]


@dataclass(frozen=True)
class Chart:
    """A few tokens and, under every name, a number for each of them: what is drawn as bars.

    Args:
        tokens: token ids.
        rows: "p", "residual", "draft" or arrival "times", [len(tokens)] each.
        texts: the tokens as a person reads them, so that a record needs no tokenizer.
    """

    tokens: Annotated[tuple[Whole, ...], Most(64)]
    rows: Mapping[str, tuple[float, ...]]
    texts: tuple[str, ...] = ()
    LATER: ClassVar = ()

    def named(self, piece: Piece) -> Chart:
        """The same with texts."""
        return replace(self, texts=tuple(map(piece, self.tokens)))

    def check_fields(self) -> None:
        """See that every column has a value for each token."""
        for name, column in {"texts": self.texts, **{f"rows.{name}": row for name, row in self.rows.items()}}.items():
            if len(column) != len(self.tokens):
                raise Damaged(f"must have {len(self.tokens)} values, one a token; got {len(column)}", f".{name:.40}")


@dataclass(frozen=True)
class Detail:
    """Details of one node, recorded by a rule.

    Args:
        tried: rows as they were before the node was tried.
        after: rows for the token that follows the node.
        race: who raced for the token that follows, name -> arrival times, first arrivals first.
        facts: single numbers by name.
    """

    SPARSE: ClassVar = True  # in JSON, what is empty is left out
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


class Details(Mapping[int, Detail]):
    """Details by node, made when one of them is first read.

    Args:
        noted: node -> fields of `Detail`, each as it is or as a function that makes it.

    >>> Details({3: {"facts": lambda: {"ratio": 0.5}}})[3].facts
    {'ratio': 0.5}
    """

    def __init__(self, noted: Mapping[int, Mapping[str, Any]]) -> None:
        self._noted = noted

    @cached_property
    def _made(self) -> dict[int, Detail]:
        return {
            node: Detail(**{name: value() if callable(value) else value for name, value in fields.items()})
            for node, fields in self._noted.items()
        }

    def __getitem__(self, node: int) -> Detail:
        return self._made[node]

    def __iter__(self) -> Iterator[int]:
        return iter(self._noted)

    def __len__(self) -> int:
        return len(self._noted)


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

    SPARSE: ClassVar = True
    length: Whole | None = None
    threshold: float | None = None
    waiting: Sequence[Sequence[tuple[Whole, float]]] | None = None
    acceptance: Plan | None = None
    smoothed: bool | None = None
    expected: float | None = None
    split: tuple[Whole, ...] | None = None
    candidates: Whole | None = None
    cut: Chart | None = None
    guesses: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    def named(self, piece: Piece) -> Growth:
        """The same with the texts of its tokens."""
        return replace(self, cut=self.cut.named(piece)) if self.cut else self

    def check_fields(self) -> None:
        """See that a cut says what it was ranked by."""
        if self.cut and "keys" not in self.cut.rows:
            raise Damaged("has no 'keys'", ".cut.rows")
