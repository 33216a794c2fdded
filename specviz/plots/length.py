"""Draft entropy and accepted length (SVIP, figure 2, below)."""

from __future__ import annotations

from ..acceptance.on_nodes import LONGEST, DraftUncertainty
from . import draft_entropy
from .draft_entropy import Info, draw

__all__ = ["HOW_TO_READ", "TITLE", "draw", "info"]

TITLE = draft_entropy.TITLES["accepted_length"]
HOW_TO_READ = (
    f"Each dot is a position of the text: the expected number of accepted tokens of a chain of at most {LONGEST} "
    "drafted there. The line joins the means of bins with equal counts. At high draft entropy, long chains are wasted."
)


def info(found: DraftUncertainty) -> Info:
    """The dots and bins of a measurement."""
    return draft_entropy.info(found, "accepted_length")
