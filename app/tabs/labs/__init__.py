"""The tab "Labs": trees and the verification of single nodes, with numbers that a visitor types. No model needed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...parts.frame import Page, Tab
from . import tree_lab, verification_lab

if TYPE_CHECKING:
    import gradio as gr

TITLE = "Labs"
LABS = (tree_lab, verification_lab)  # one module per half, each with a TITLE and a build(engine)
# A link such as ?lab=verification opens the lab of that name.
OPENS = f"""() => {{
  const asked = (new URLSearchParams(location.search).get('lab') || '').toLowerCase();
  const lab = {json.dumps([lab.TITLE for lab in LABS])}.find(title => asked && title.toLowerCase().startsWith(asked));
  return {{ __type__: 'update', ...(lab && {{ selected: lab }}) }};
}}"""
TAKES = f"""() => [{json.dumps(TITLE)}, {json.dumps(verification_lab.TITLE)}]
  .map(selected => ({{ __type__: 'update', selected }}))"""


def build(engine: Any) -> gr.Tabs:
    """Lay out the tab; returns the tabs of its halves."""
    import gradio as gr

    with gr.Tabs() as halves:
        for lab in LABS:
            with gr.Tab(lab.TITLE, id=lab.TITLE):
                lab.build(engine)
    return halves


def connect(page: Page) -> None:
    """Open the lab of a link, and the Verification lab when a node of a run is to be looked at (`labs/node.js`)."""
    halves = page.built[TITLE]
    page.demo.load(None, None, halves, js=OPENS, api_visibility="private")
    page.header.select(None, None, [page.tabs, halves], js=TAKES, queue=False, api_visibility="private")


TAB = Tab(TITLE, build, styles=("labs/trees", "labs/verification"), connect=connect, query="lab")
