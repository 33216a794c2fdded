"""What a step costs by the number of its nodes, in steps of plain decoding, as it was measured."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..base.files import read_table
from ..base.lines import on_lines
from ..record.vectors import EMBEDDED


class StepCosts(NamedTuple):
    """What a step costs, in steps of plain decoding.

    Attributes:
        target: a step over 1, 2, 4, ... nodes without drafting.
        draft: the draft's first pass of a step, and then a pass over 1, 2, 4, ... nodes.
    """

    target: tuple[float, ...]
    draft: tuple[float, ...]


@lru_cache
def stored_costs(drafter: str = "model", pair: str = EMBEDDED, on_disk: bool = False) -> StepCosts:
    """What was measured of a pair on two cores: the embedded pair's where nothing was, and of its
    first drafter where the drafter was not measured."""
    pairs = read_table("step_costs.toml")
    table = pairs.get(pair, pairs[EMBEDDED])["disk" if on_disk else "memory"]
    drafts = table["draft"]
    draft = drafts.get(drafter, next(iter(drafts.values())))
    return StepCosts(tuple(table["target"]), tuple(draft))


@lru_cache
def costs_by_count(costs: tuple[float, ...], count: int) -> np.ndarray:
    """Costs over 1, 2, 3, ... nodes, [count], from those over 1, 2, 4, ..."""
    # Measured at powers of two, where passes change their speed; straight lines lie between.
    sizes = [2**power for power in range(len(costs))]
    line = on_lines(np.arange(1, count + 1), sizes, costs)
    line.flags.writeable = False  # many steps share it
    return line
