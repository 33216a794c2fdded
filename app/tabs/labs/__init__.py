"""The two labs: trees and single nodes with numbers that a visitor types. No model needed."""

from __future__ import annotations

from ..parts.frame import Tab
from . import tree_lab, verification_lab

TABS = (
    Tab(tree_lab.TITLE, tree_lab.build, ("labs/trees",), query="lab=tree lab"),
    Tab(
        verification_lab.TITLE,
        verification_lab.build,
        ("labs/verification",),
        query="lab=verification lab",
    ),
)
