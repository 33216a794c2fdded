"""The acceptance vectors that the tab Speedup can use: those of the tab Acceptance, and the stored ones."""

from __future__ import annotations

from typing import Any

from specviz import BUILDERS, DRAFTERS, VERIFIERS, RunConfig, compatible
from specviz.acceptance.on_text import Acceptance
from specviz.acceptance.vectors import measured

from .cards import by


def choices(known: tuple[Acceptance, ...]) -> dict[str, Acceptance]:
    """Vectors by name: those of the tab Acceptance, then the stored ones; all can be used to choose a tree."""
    stored = [_stored(row, name) for name in DRAFTERS for row in measured(name)]
    usable = [
        (vector, where)
        for vectors, where in ((known, ""), (stored, ", stored"))
        for vector in vectors
        if compatible(_run_of(vector)).possible
    ]
    return {f"{VERIFIERS[v.verifier].title}{by(v)}, T {v.temperature:g}{where}": v for v, where in usable}


def by_drafter(known: tuple[Acceptance, ...], drafter: Any) -> list[str]:
    """The names of the vectors that were measured with a drafter."""
    return [name for name, vector in choices(known).items() if vector.drafter == drafter]


def picked(name: Any, known: tuple[Acceptance, ...]) -> Acceptance:
    """The vector of that name.

    Raises:
        ValueError: if there is none.
    """
    named = choices(known)
    if name not in named:
        raise ValueError("Choose an acceptance vector.")
    return named[name]


def _run_of(vector: Acceptance) -> RunConfig:
    """A tree under the rule, temperature and drafter of a vector."""
    return RunConfig(
        builder=BUILDERS["sequoia"](), verifier=VERIFIERS[vector.verifier](), temperature=vector.temperature,
        draft_temperature=vector.draft_temperature, drafter=DRAFTERS[vector.drafter](),
    )  # fmt: skip


def _stored(row: dict[str, Any], drafter: str) -> Acceptance:
    return Acceptance(
        tuple(row["acceptance"]), low=(), high=(), positions=0, method="", verifier=row["verifier"], scheme="",
        temperature=row["temperature"], draft_temperature=None, drafter=drafter,
        levels=tuple(map(tuple, row.get("levels", ()))),
    )  # fmt: skip
