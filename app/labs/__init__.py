"""The tab "Labs": trees and single verdicts under a microscope, with numbers that a visitor types. No model needed."""

from __future__ import annotations

from typing import Any

import gradio as gr

from . import tree_lab, verification_lab

TITLE = "Labs"
LABS = (tree_lab, verification_lab)  # one module per half, each with a TITLE and a build(engine)


def build(engine: Any) -> None:
    """Lay out the tab."""
    with gr.Tabs():
        for lab in LABS:
            with gr.Tab(lab.TITLE, id=lab.TITLE):
                lab.build(engine)
