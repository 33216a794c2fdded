"""The Tree lab."""

from __future__ import annotations

from typing import Any

TITLE = "Tree lab"


def build(engine: Any) -> None:
    """Lay out this half of the tab."""
