"""What an entry is made of: what a source says, how the same question is put here, and what follows from the answer.

Every number of ours in a sentence, a table or a figure is computed from the data that `measure` returned; the source's
own numbers are quoted with the place they stand in, and the two never share a column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlencode

from ..config import RunConfig
from ..parameters import text_of
from ..registry import REGISTRIES, spelled

REPRODUCED, DIFFERS, IMPOSSIBLE = "reproduced", "differs", "not reproducible"


class Verdict(NamedTuple):
    """Whether source and measurement agree ("reproduced", "differs" or "not reproducible"), and why, in a sentence."""

    status: str
    sentence: str


class Series(NamedTuple):
    """Points (x, y) of a figure; `look` is "line", "dashes" (a bound or a prediction) or "dots"."""

    name: str
    points: Sequence[Sequence[float]]
    look: str = "line"


class Lines(NamedTuple):
    """A figure of series over common axes."""

    x: str
    y: str
    series: Sequence[Series]
    log_x: bool = False
    log_y: bool = False


class Table(NamedTuple):
    """A table; cells are text or numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


class Open(NamedTuple):
    """A link to another tab with the settings of the entry: its label and the parameters of the address."""

    label: str
    query: str


@dataclass(frozen=True)
class Entry:
    """One algorithm, theorem, figure or table of a source.

    Args:
        name: of its stored file, after the source's; place, title: as a reader looks for it.
        says: what the source says, its numbers with table or figure.
        verdict: whether source and measurement agree, from the data.
        quoted: numbers of the source, where they are many.
        measure: answers the question here, given a `Bench`; plain JSON data. None where this machine cannot.
        shown: figures and tables of the data.
        opens: where to see it at work.
        how: "exact" (arithmetic, no chance), "counted" (runs or readings) or "timed".
        lacks: what this machine lacks for `measure`, in a sentence; nothing where it lacks nothing.
    """

    name: str
    place: str
    title: str
    says: str
    verdict: Callable[[Any], Verdict]
    quoted: Table | None = None
    measure: Callable[[Any], dict[str, Any]] | None = None
    shown: Callable[[Any], Sequence[Lines | Table]] = field(default=lambda data: ())
    opens: Sequence[Open] = ()
    how: str = "counted"
    lacks: Callable[[], str] = field(default=lambda: "")

    @property
    def measurable(self) -> bool:
        """Whether this machine can measure it."""
        return self.measure is not None and not self.lacks()

    def data(self, bench: Any) -> dict[str, Any]:
        """What it measures with a `Bench`.

        Raises:
            ValueError: if this machine cannot measure it.
        """
        if self.measure is None:
            raise ValueError(self.verdict(None).sentence)
        if lacking := self.lacks():
            raise ValueError(lacking)
        return self.measure(bench)


def judge(agrees: bool, sentence: str, otherwise: str | None = None) -> Verdict:
    """Reproduced with the first sentence, or differing with the second (the same where there is one only)."""
    return Verdict(REPRODUCED, sentence) if agrees else Verdict(DIFFERS, otherwise or sentence)


def impossible(reason: str) -> Callable[[Any], Verdict]:
    """The `verdict` of an entry that this machine cannot measure."""
    return lambda data: Verdict(IMPOSSIBLE, reason)


def live(
    builder: Any, verifier: Any, temperature: float = 0.8, drafter: Any = None, what: str | None = None, **more: Any
) -> Open:
    """A link to the tab Explore with a configuration; `what` is shown there, where an entry has several such links."""
    config = RunConfig(builder=builder, verifier=verifier, temperature=temperature, drafter=drafter)
    label = "Open in Explore" if what is None else f"Explore: {what}"
    return Open(label, _query("explore", {"temperature": config.temperature, **more} | _choices("", config)))


def compare(*ways: tuple[Any, ...], temperature: float = 0.8, **more: Any) -> Open:
    """A link to the tab Compare with a column for each (builder, rule) or (builder, rule, drafter)."""
    named: dict[str, Any] = {"temperature": temperature, **more}
    for letter, (builder, verifier, *drafter) in zip("abc", ways, strict=False):
        config = RunConfig(builder=builder, verifier=verifier, drafter=next(iter(drafter), None))
        named |= {f"{letter}.decodes": "speculation"} | _choices(f"{letter}.", config)
    return Open("Open in Compare", _query("compare", named))


def lab(half: str, **more: Any) -> Open:
    """A link to one half of the tab Labs, "tree" or "verification"."""
    return Open(f"Open in the {half.capitalize()} lab", _query("labs", {"lab": half, **more}))


def tab(name: str, **more: Any) -> Open:
    """A link to another tab."""
    return Open(f"Open {name.capitalize()}", _query(name, more))


def _choices(prefix: str, config: RunConfig) -> dict[str, Any]:
    named = {kind: spelled(one, defaults=True) for kind, one in zip(REGISTRIES, config.resolved, strict=False)}
    return {f"{prefix}{kind}": text for kind, text in named.items() if text != "model"}  # the default


def _query(name: str, named: dict[str, Any]) -> str:
    return urlencode({"tab": name} | {key: _text(value) for key, value in named.items()}, safe=":,=")


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else text_of(value)


def percent(share: float) -> str:
    """A share as it stands in a sentence."""
    return f"{100 * share:.0f} %"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
