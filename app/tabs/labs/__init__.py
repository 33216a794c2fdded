"""The two labs: trees and single nodes with numbers that a visitor types. No model needed."""

from __future__ import annotations

import json

from ..parts.frame import Page, Tab
from . import tree_lab, verification_lab

SELECT_LAB = f"() => ({{ __type__: 'update', selected: {json.dumps(verification_lab.TITLE)} }})"


def connect(page: Page) -> None:
    """Open the Verification lab when a node of a run is to be looked at (`labs/node.js`)."""
    page.header.select(None, None, page.tabs, js=SELECT_LAB, queue=False, api_visibility="private")


TABS = (
    Tab(tree_lab.TITLE, tree_lab.build, ("labs/trees",), query="lab=tree lab"),
    Tab(
        verification_lab.TITLE,
        verification_lab.build,
        ("labs/verification",),
        connect,
        query="lab=verification lab",
    ),
)
