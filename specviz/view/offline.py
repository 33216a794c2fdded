"""A run or a comparison as one HTML file that plays with no server and no network: the demo's own
stage around what was recorded.

A notebook shows it in an iframe without access to the notebook or the network.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from ..record.trace import Trace
from .payload import described, recorded_message, settings_title
from .web import asset, joined

# Nothing may be fetched, not even by a hostile text that found a way in; pictures may be saved from
# the page.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"
)
STYLES = ("style", "stage/stage", "tree/tree", "page/offline")
HEIGHT = 900  # pixels, until the page in the frame says that it needs more
# The page in the frame reports its height, on this message and when it changes. The frame never
# shrinks: nothing jumps.
GROWS = """
window.addEventListener('message', ({ source, data }) => {
  if (source !== this.contentWindow || !(data.height > this.offsetHeight)) return;
  this.style.height = Math.min(data.height, 4000) + 'px';
});
this.contentWindow.postMessage('height', '*');
"""


def offline_page(trace: Trace, link: str = "") -> str:
    """The whole page as text.

    Args:
        trace: the run; all of its text travels as JSON and reaches the page as text nodes only.
        link: an address that shows the run again, or nothing.
    """
    message = recorded_message(trace)  # which says what cannot be shown
    # The run itself is in the JSON; the only text in the markup is the heading, escaped.
    body = f"{heading(trace, link)}\n{asset('stage/stage.html')}"
    return _page(f"specviz: {trace.prompt_text[:60]}", STYLES, body, message, "offline")


def comparison_page() -> str:
    """The whole page of a comparison, which is still empty: the browser writes what it shows
    between the braces."""
    body = asset("compare/compare.html")
    styles = (*STYLES, "compare/compare")
    return _page("specviz: a comparison", styles, body, "{}", "offline_comparison")


def _page(title: str, styles: Sequence[str], body: str, data: str, script: str) -> str:
    """A page that needs no other file: `data` is JSON, `script` a module that plays it."""
    # Everything within the file: it is opened from a disk, without a server.
    style = "".join(asset(f"{name}.css") for name in styles)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{style}</style></head>\n"
        f'<body class="gradio-container sv-offline">\n{body}\n'
        f'<script type="application/json" id="run">{data}</script>\n'
        f"<script>(() => {{\n{joined(f'{script}.js')}{script}.play(document.body);\n"
        "})();</script>\n</body></html>\n"
    )


def heading(trace: Trace, link: str) -> str:
    """What the page is of: the prompt, how much was gained, and where it is shown again; HTML, with
    every text escaped."""
    gained = f"{trace.tokens_per_pass:.1f} tokens per target pass"
    if trace.speedup:
        gained += f", {trace.speedup.speedup:.1f}× as fast as plain decoding"
    setting = trace.pair.get("setting") or settings_title(trace.config)
    about = f"{gained}. {setting}. {described(trace.pair)}."
    # Any other scheme could run a script in the file that somebody opens.
    is_address = link.startswith(("https://", "http://"))
    again = ""
    if is_address:
        again = f' <a href="{html.escape(link)}">Open it again</a>'
    return (
        f'<header class="sv-ui"><h2>“{html.escape(trace.prompt_text[:200])}”</h2>'
        f"<p>{html.escape(about)}{again}</p></header>"
    )


def in_notebook(trace: Trace) -> str:
    """The run as HTML that a notebook shows below a cell.

    The frame may run the player's own script and save pictures; it has no origin, so it reaches
    neither the notebook nor its server, and the page's own policy lets it fetch nothing.
    """
    return (
        f'<iframe title="specviz: a run of {len(trace.steps)} steps" '
        'sandbox="allow-scripts allow-downloads" '
        f'onload="{html.escape(GROWS)}" '
        f'style="width: 100%; height: {HEIGHT}px; border: 0" '
        f'srcdoc="{html.escape(offline_page(trace))}"></iframe>'
    )
