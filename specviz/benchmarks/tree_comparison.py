"""Test the choice of a tree: time a fixed grid and the choice, then the fastest and the choice again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..builders import BUILDERS
from ..builders.filling import StaticBuilder
from ..compatibility import compatible
from ..config import RunConfig
from ..models.base import Pair
from ..planning.choose import label, sequoia_tree
from ..registry import build
from ..verifiers.base import Verifier
from .trials import Trial, trials

GRID_CHAINS, GRID_SEQUENCES = (2, 3, 4, 6), ((2, 3), (3, 4))
GRID_SIZES, GRID_DEPTHS = (6, 8, 12, 16, 24, 32), (3, 5, 7)
LEADERS = 3


def grid(vector: tuple, config: RunConfig) -> list[StaticBuilder]:
    """A fixed selection of shapes to time: chains, k sequences, and Sequoia's trees of several sizes and depths."""
    builders: list[StaticBuilder] = [BUILDERS["chain"](depth=depth) for depth in GRID_CHAINS]
    builders += [BUILDERS["k-sequences"](width=width, depth=length) for width, length in GRID_SEQUENCES]
    builders += [sequoia_tree(size, depth, vector) for size in GRID_SIZES for depth in GRID_DEPTHS]
    fit = [one for one in builders if compatible(replace(config, builder=one)).possible]
    if build("verifier", config.verifier).chain_only:
        fit = [BUILDERS["chain"](depth=depth) for depth in range(1, 13)]
    return list({one.shape.parents: one for one in reversed(fit)}.values())[::-1]


@dataclass(frozen=True)
class TreeComparison:
    """The state of a comparison.

    Args:
        done, of: runs.
        chosen: name of the choice.
        first: every tree of the grid and the choice, timed once over; empty before that.
        final: the leaders and the choice, timed again; empty before that.
    """

    done: int
    of: int
    chosen: str
    first: tuple[Trial, ...] = ()
    final: tuple[Trial, ...] = ()

    @property
    def behind(self) -> float | None:
        """How much slower the choice is than the fastest of the final, from 0; None before the final."""
        if not self.final:
            return None
        speeds = {trial.name: trial.speedup for trial in self.final}
        return 1 - speeds[self.chosen] / max(speeds.values())


def contest(
    pair: Pair,
    chosen: StaticBuilder,
    others: Sequence[StaticBuilder],
    verifier: Verifier,
    config: RunConfig,
    prompts: Sequence[str],
    few: int = 6,
) -> Iterator[TreeComparison]:
    """Time a grid beside the choice on a few prompts, then its leaders and the choice on all of them.

    Args:
        pair, verifier, config, prompts: as for `trials`.
        chosen: the choice.
        others: the grid.
        few: how many prompts the first round has.
    """
    builders = {label(one): one for one in [*others, chosen]}
    name = label(chosen)
    first: tuple[Trial, ...] = ()
    entered = 1 + len({*builders})
    of = entered * min(few, len(prompts)) + (2 + LEADERS) * len(prompts)
    for news in trials(pair, builders, verifier, config, prompts[:few]):
        first = news.known or first
        yield TreeComparison(news.done, of, name)
    done = news.done
    leaders = sorted(first, key=lambda trial: -trial.speedup)[:LEADERS]
    last = {trial.name: builders[trial.name] for trial in leaders} | {name: chosen}
    of = done + (1 + len(last)) * len(prompts)
    again = replace(config, seed=config.seed + len(prompts))
    final: tuple[Trial, ...] = ()
    for news in trials(pair, last, verifier, again, prompts):
        final = news.known or final
        yield TreeComparison(done + news.done, of, name, first, final)
