"""Tokens per target pass of named pairs of builder and rule, with intervals: without timing.

Nothing is timed, so the figures do not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ..acceptance.progress import SoFar
from ..builders.base import TreeBuilder
from ..compatibility import compatible
from ..config import RunConfig
from ..decode import run
from ..metrics import Counts, estimate
from ..models.base import Pair
from ..registry import parse_strategy, split_strategy
from ..verifiers import VERIFIERS

PAIRS = (
    ("chain", "speculative-sampling"),
    ("chain", "block"),
    ("k-sequences", "specinfer"),
    ("k-sequences", "spectr"),
    ("k-sequences", "traversal"),
    ("sequoia", "sequoia"),
    ("sequoia", "traversal"),
    ("sequoia", "target-match"),
    ("sequoia", "race"),
    ("optimal", "sequoia"),
    ("dyspec", "dyspec"),
    ("dyspec", "traversal"),
    ("dyspec-threshold", "dyspec"),
    ("svip-tree", "sequoia"),
    ("eagle2", "target-match"),
)
TEMPERATURES = (0.6, 1.0)
SIZES = (16, 64)


@dataclass(frozen=True)
class Cell:
    """One pair at one temperature and size: tokens per pass over the prompts, and the half-width of its interval."""

    builder: str
    verifier: str
    temperature: float
    size: int
    nodes: float
    tokens_per_pass: float
    margin: float | None
    lossless: bool


def rules_table(
    pair: Pair,
    prompts: Sequence[str],
    max_new_tokens: int = 64,
    seed: int = 0,
) -> Iterator[SoFar[tuple[Cell, ...]]]:
    """Run every pair of `PAIRS` on the same prompts, each at every temperature and size, cell by cell.

    Args:
        pair: the models.
        prompts: texts to continue.
        max_new_tokens: how many tokens each run writes.
        seed: of all runs.
    """
    cells: list[Cell] = []
    plan = list(product(PAIRS, TEMPERATURES, SIZES))
    for (name, rule), temperature, size in plan:
        builder, verifier = sized(name, size), VERIFIERS[rule]()
        runs: list[Counts] = []
        for number, prompt in enumerate(prompts):
            config = RunConfig(
                prompt, builder, verifier, temperature, max_new_tokens=max_new_tokens, seed=seed + number
            )
            runs.append(run(pair, config).counts)
        tokens, margin = estimate([(one.tokens, one.passes) for one in runs])
        lossless = compatible(config).lossless
        nodes = 1 + sum(runs, Counts()).drafted
        cells.append(Cell(name, rule, temperature, size, nodes, tokens, margin, lossless))
        yield SoFar(len(cells), len(plan), tuple(cells))


def sized(text: str, size: int | None) -> TreeBuilder:
    """A builder with trees of about `size` nodes, its root included.

    Args:
        text: as `parse_strategy` reads it; parameters that are given go before what follows from the size.
        size: None leaves the builder its own.

    Raises:
        ValueError: if the builder has no parameter for the size of its trees.
    """
    builder, (_, given) = parse_strategy("builder", text), split_strategy("builder", text)
    found = {} if size is None else builder.sized(size)
    return replace(builder, **{name: value for name, value in found.items() if name not in given})
