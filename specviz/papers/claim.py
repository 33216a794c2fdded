"""Sources, entries and claims as they stand in `assets/papers/*.toml`.

An entry is a place in a source: an algorithm, a theorem, a table or a figure. A claim is a sentence
of it as a number, a relation and a bound. The number is a named statistic of measurements.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from ..base.files import ASSETS

Sums = Mapping[str, float]
Columns = dict[
    str, dict[str, float]
]  # text -> name -> sum, {} for a text that is too short; a proof has one row, ""
PAPERS = ASSETS / "papers"
EXACT = 1e-12  # what an enumeration may be off by
NAMES = ("sequoia", "dyspec", "svip", "races", "survey")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Claim(_Part):
    """A sentence of a source, and how it is decided.

    Attributes:
        text: the sentence.
        data: keys of the measurements it needs; none where it cannot be measured.
        value: the statistic of the first measurement, see `statistics`.
        over, minus: a statistic of the last measurement that the value is divided by, or less of.
        relation, bound: what the number must be: ">", "<" or "within", and the number or numbers of
            the source.
        check: builder and rule of the row of `check` that decides it, for a claim of losslessness.
        place: where it stands, if not where its entry does.
        why: why it differs here, where that is known.
        missing: why it cannot be measured here.
        broken: arguments with which a proof's implementation is wrong, for the tests.
    """

    text: str
    data: tuple[str, ...] = ()
    value: str = "error"
    over: str = ""
    minus: str = ""
    relation: Literal[">", "<", "within"] = "<"
    bound: float | tuple[float, float] = EXACT
    check: tuple[str, str] | None = None
    place: str = ""
    why: str = ""
    missing: str = ""
    broken: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _measure_by_check(cls, fields: dict[str, Any]) -> dict[str, Any]:
        if check := fields.get("check"):
            builder, rule = check
            return fields | {
                "data": [f"lossless builder={builder} rule={rule}"],
                "broken": {"rule": "typical"},
            }
        return fields

    @model_validator(mode="after")
    def _check_fields(self) -> Claim:
        if bool(self.data) == bool(self.missing):
            raise ValueError("data must be given, or missing must say why there are none; not both")
        if isinstance(self.bound, tuple) != (self.relation == "within"):
            raise ValueError('bound must be two numbers where relation is "within", else one')
        return self

    @property
    def proof(self) -> bool:
        """Whether it is proven, not measured on texts."""
        return self.value == "error" and not self.missing


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
    return {
        name: Source(**tomllib.loads((PAPERS / f"{name}.toml").read_text(encoding="utf-8")))
        for name in NAMES
    }
