"""What the pages about speed open with: it follows from the recorded files alone."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from specviz.planning.cost_table import CostTable

from ...parts import recorded
from ...parts.card import Source
from .cards import forecast_cards, timed_card
from .timing import choices


@cache
def opening() -> tuple[CostTable, dict[str, tuple], dict]:
    """The costs, the cards and the best cell."""
    past = recorded.read()
    here, source = replace(past.cost, machine=past.machine, note=past.note), Source("recorded", past.label)
    cards, best = forecast_cards(next(iter(choices(past.calibration.vectors).values())), here, source)
    return here, cards | {"predicted": timed_card(past.points, here, source, past.calibration.vectors[0])}, best
