"""A run in a notebook: the offline page in an iframe without access to the notebook or the network."""

from __future__ import annotations

import html

from ..record import Trace
from .offline import offline_page

HEIGHT = 900  # pixels, until the page in the frame says that it needs more
# The page in the frame reports its height, on this message and when it changes. The frame never shrinks: nothing jumps.
GROWS = """
window.addEventListener('message', ({ source, data }) => {
  if (source !== this.contentWindow || !(data.height > this.offsetHeight)) return;
  this.style.height = Math.min(data.height, 4000) + 'px';
});
this.contentWindow.postMessage('height', '*');
"""


def in_notebook(trace: Trace) -> str:
    """The run as HTML that a notebook shows below a cell.

    The frame may run the player's own script and save pictures; it has no origin, so it reaches neither the notebook
    nor its server, and the page's own policy lets it fetch nothing.
    """
    return (
        f'<iframe title="specviz: a run of {len(trace.steps)} steps" sandbox="allow-scripts allow-downloads" '
        f'onload="{html.escape(GROWS)}" '
        f'style="width: 100%; height: {HEIGHT}px; border: 0" srcdoc="{html.escape(offline_page(trace))}"></iframe>'
    )
