"""The draft's entropy against how many drafted tokens are accepted in a row (SVIP, figure 2, below)."""

from __future__ import annotations

from ..acceptance.on_nodes import LONGEST, DraftUncertainty
from . import draft_entropy
from .draft_entropy import Info, draw

__all__ = ["HOW_TO_READ", "TITLE", "draw", "info"]

TITLE = draft_entropy.TITLES["accepted_length"]
HOW_TO_READ = (
    f"Each dot is a position of the text: how many tokens of a chain of at most {LONGEST}, drafted there, are expected "
    "to be accepted. The line joins the means of equally full bins. Where the draft doubts, a long chain is wasted."
)


def info(found: DraftUncertainty) -> Info:
    """The dots and bins of a measurement."""
    return draft_entropy.info(found, "accepted_length")
