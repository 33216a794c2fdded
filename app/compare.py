"""The tab "Compare": the same prompt and seed, decoded in several ways, side by side."""

from __future__ import annotations

from typing import Any

TITLE = "Compare"


def build(engine: Any) -> None:
    """Lay out the tab."""
