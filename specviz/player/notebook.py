"""A run in a notebook: the offline page in a frame of its own, shut off from the notebook and from the network."""

from __future__ import annotations

import html

from ..record import Trace
from .offline import offline_page

HEIGHT = 760  # pixels: measures, tree and inspector without a second scroll bar


def in_notebook(trace: Trace) -> str:
    """The run as HTML that a notebook shows below a cell.

    The frame may run the player's own script and save pictures; it has no origin, so it reaches neither the notebook
    nor its server, and the page's own policy lets it fetch nothing.
    """
    return (
        f'<iframe title="specviz: a run of {len(trace.steps)} steps" sandbox="allow-scripts allow-downloads" '
        f'style="width: 100%; height: {HEIGHT}px; border: 0" srcdoc="{html.escape(offline_page(trace))}"></iframe>'
    )
