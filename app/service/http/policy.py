"""The content security policy of the page: where it may load from, and who may show it."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from hashlib import sha256

from specviz.base.errors import ParameterError

# Gradio compiles the code of its events; everything else comes from here, and of inline scripts
# only those that the page was sent with (`with_hashes`).
# A Space is shown inside a page of the hub, a demo of one's own inside a notebook.
FRAMES = (
    "'self' https://huggingface.co https://*.huggingface.co https://*.hf.space "
    "http://localhost:* http://127.0.0.1:*"
)


def frame_ancestors() -> str:
    """The pages that may show this one in a frame: those of the setting SPECVIZ_FRAMES, else
    `FRAMES`."""
    origins = os.environ.get("SPECVIZ_FRAMES", FRAMES).strip()
    if not re.fullmatch(
        r"'none'|('self'|https?://[\w.*:-]+)( ('self'|https?://[\w.*:-]+))*", origins
    ):
        hint = "Use 'none' for no page."
        must = "be origins such as https://example.org, separated by spaces"
        raise ParameterError("SPECVIZ_FRAMES", must, origins, hint)
    return origins


POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        f"frame-ancestors {frame_ancestors()}",
    )
)
SAFE = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}


def with_hashes(page: bytes) -> str:
    """The policy of a page, which allows the inline scripts that it was sent with, and the one that
    gradio adds."""
    # Inline scripts of gradio's page change with its version, so their hashes are taken as it is
    # sent.
    scripts = re.findall(rb"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    hashes = set()
    for script in scripts:
        if script.strip():  # else it is one with an address, which 'self' is about
            hashes.add(f"'sha256-{b64encode(sha256(script).digest()).decode()}'")
    return POLICY.replace("script-src 'self'", " ".join(["script-src 'self'", *sorted(hashes)]))
