"""Sources, entries and claims as they stand in `assets/papers/*.toml`.

An entry is a place in a source: an algorithm, a theorem, a table or a figure. A claim is a sentence
of it as a number, a relation and a bound.
"""

from __future__ import annotations

from math import inf, nextafter
from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

from ..base.files import ASSETS, read_table
from .number import calls_in, parse_call

PAPERS = ASSETS / "papers"
EXACT = 1e-12  # what an enumeration may be off by
NAMES = ("sequoia", "dyspec", "svip", "races", "survey", "illusion", "multi-path")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Claim(_Part):
    """A sentence of a source, and how it is decided.

    Attributes:
        text: the sentence.
        number: what is compared with the bound, as `number.evaluate` reads it; "" where it cannot
            be measured.
        relation, bound: what the number must be: ">", "<" or "within", and the number or numbers of
            the source.
        place: where it stands, if not where its entry does.
        why: why it differs here, where that is known.
        missing: why it cannot be measured here.
    """

    text: str
    number: str = ""
    relation: Literal[">", "<", "within"] = "<"
    bound: float | tuple[float, float] = EXACT
    place: str = ""
    why: str = ""
    missing: str = ""

    @model_validator(mode="after")
    def _check_fields(self) -> Claim:
        if bool(self.number) == bool(self.missing):
            raise ValueError("number must be given, or missing must say why not; not both")
        if isinstance(self.bound, tuple) != (self.relation == "within"):
            raise ValueError('bound must be two numbers where relation is "within", else one')
        return self

    @property
    def data(self) -> tuple[str, ...]:
        """The measurements that the number needs, as they are written there."""
        if self.number:
            return calls_in(self.number)
        return ()

    @property
    def is_proof(self) -> bool:
        """Whether it is proven, not measured on texts."""
        return bool(self.number) and all(parse_call(call)[0].kind == "proof" for call in self.data)

    @property
    def interval(self) -> tuple[float, float]:
        """The least and the greatest number that fulfil it."""
        if isinstance(self.bound, tuple):
            return self.bound
        # "greater" and "less" leave the bound itself out
        if self.relation == ">":
            return nextafter(self.bound, inf), inf
        return -inf, nextafter(self.bound, -inf)


class Entry(_Part):
    """One place in a source.

    Attributes:
        name: for links and the command; place, title: as a reader looks for it.
        quote: what the source says there, its numbers included.
        claim: its sentences.
    """

    name: str
    place: str
    title: str
    quote: str
    claim: tuple[Claim, ...]


class Source(_Part):
    """A source: how it is cited, what it is about, and its entries in its order."""

    short: str
    title: str
    cite: str
    url: str
    about: str
    entry: tuple[Entry, ...]


def load_sources() -> dict[str, Source]:
    """The sources by name, from their files."""
    return {name: Source(**read_table(f"papers/{name}.toml")) for name in NAMES}
