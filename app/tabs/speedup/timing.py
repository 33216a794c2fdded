"""What the controls of the pages about speed stand for, the predictions from it, and the timing of some sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from specviz import BUILDERS, DRAFTERS, VERIFIERS, RunConfig, compatible
from specviz.acceptance.on_text import Acceptance
from specviz.acceptance.progress import SoFar
from specviz.acceptance.vectors import measured
from specviz.benchmarks.trials import Trial, trials
from specviz.planning.cost_table import CostTable, flat_up_to, machine
from specviz.planning.forecast import Cell, Forecast, forecast
from specviz.plots.predicted import Point

from ...parts.study_list import both

PROMPTS = both(4)
MACHINES = {"This machine": "here", "A100": "a100", "L40 with offload": "l40-offload", "Constant up to n nodes": "flat"}
SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768)
DEPTHS = (*range(1, 11), 12, 14, 16, 20)
MOST_SIZES, LARGEST = 12, 256  # of a timing
TOKENS, ROUNDS = 64, 6


def cost_of(kind: str, here: CostTable, flat: float, draft_cost: float) -> CostTable:
    """The table of the chosen machine.

    Raises:
        ValueError: if there is no such machine, or a number is out of range; a sentence for the visitor.
    """
    if kind == "here":
        return here
    if kind == "flat":
        for label, value, low, high in (("Constant up to", flat, 1, 1024), ("Draft pass", draft_cost, 0, 1)):
            if type(value) not in (int, float) or not low <= value <= high:
                raise ValueError(f"{label} must be a number from {low} to {high:,}; got {str(value)[:40]}.")
        return flat_up_to(flat, draft_cost)
    if kind not in MACHINES.values():
        raise ValueError(f"Machine must be one of {', '.join(MACHINES)}; got {str(kind)[:40]!r}.")
    return machine(kind)


def choices(known: tuple[Acceptance, ...]) -> dict[str, Acceptance]:
    """Vectors by name: those of the page What is accepted, then the stored ones; all can be used to choose a tree."""
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


def by(vector: Acceptance) -> str:
    """Who drafted, in words; nothing for the draft model."""
    return "" if vector.drafter == "model" else f" with {DRAFTERS[vector.drafter].spoken}"


def predicted(vector: Acceptance, cost: CostTable) -> Forecast:
    """Every size and depth on a machine."""
    return forecast(vector.plan, cost, SIZES, DEPTHS)


def sizes_from(text: Any) -> tuple[int, ...]:
    """The sizes that a visitor wants timed, "2, 4, 8".

    Raises:
        ValueError: a sentence for the visitor.
    """
    parts = str(text or "").replace(",", " ").split()
    sizes = sorted({int(part) for part in parts if part.isascii() and part.isdecimal() and len(part) < 6})
    if not parts or len(parts) > MOST_SIZES or not all(part.isascii() and part.isdecimal() for part in parts):
        raise ValueError(
            f'Sizes to time must be up to {MOST_SIZES} whole numbers such as "2, 4, 8"; got "{str(text)[:60]}".'
        )
    if len(sizes) == 0 or sizes[0] < 2 or sizes[-1] > LARGEST:
        raise ValueError(f'Sizes to time must be from 2 to {LARGEST} nodes; got "{str(text)[:60]}".')
    return tuple(sizes)


def time_sizes(
    pair: Any, vector: Acceptance, cost: CostTable, sizes: Sequence[int], rounds: int = ROUNDS, tokens: int = TOKENS
) -> Iterator[SoFar[tuple[Point, ...]]]:
    """Time the best tree of each size against plain decoding, in alternating rounds; stop iterating to end it.

    Args:
        pair: the models.
        vector: the acceptance that trees and predictions are made from; its rule, drafter and temperature are run.
        cost: measured here, for the predictions.
        sizes: nodes with the root.
        rounds: each has its own prompt and seed, and its own run of plain decoding.
        tokens: written by each run.

    Returns:
        Runs done, of how many, and a point for each size on all prompts so far.
    """
    cells = best_of_each(forecast(vector.plan, cost, sizes, DEPTHS))
    named = {f"{size} nodes, {cell.depth} level{'s' * (cell.depth > 1)}": cell for size, cell in cells.items()}
    trees = {
        name: BUILDERS["sequoia"](size=cell.size, depth=cell.depth, acceptance=vector.plan)
        for name, cell in named.items()
    }
    config = RunConfig(
        temperature=vector.temperature, draft_temperature=vector.draft_temperature, max_new_tokens=tokens,
        drafter=DRAFTERS[vector.drafter](),
    )  # fmt: skip
    prompts = [PROMPTS[turn % len(PROMPTS)] for turn in range(rounds)]
    points: tuple[Point, ...] = ()
    for news in trials(pair, trees, VERIFIERS[vector.verifier](), config, prompts):
        if news.known:
            points = tuple(point(named[trial.name], trial) for trial in news.known)
        yield SoFar(news.done, news.of, points)


def point(cell: Cell, trial: Trial) -> Point:
    """A trial beside its prediction; the span is that of the prompts."""
    return Point(trial.name, cell.size, cell.speedup, trial.speedup, trial.low, trial.high)


def best_of_each(found: Forecast) -> dict[int, Cell]:
    """The fastest predicted tree of each size."""
    best = (max((cell for cell in row if cell), key=lambda cell: cell.speedup, default=None) for row in found.cells)
    return {cell.size: cell for cell in best if cell}
