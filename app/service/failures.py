"""How a failure reaches a visitor: as one sentence, while the traceback goes to the server's
log."""

from __future__ import annotations

import logging


def explain(error: Exception, failed: str) -> str:
    """What a visitor is shown of an exception: a `ValueError` is a sentence for him already, any
    other is only said to have `failed`."""
    if isinstance(error, ValueError):
        return as_sentence(error)
    logging.getLogger(__name__).error("%s", failed, exc_info=error)
    return f"{failed} See the server's log for the reason."


def as_sentence(error: ValueError) -> str:
    """The text of an error, which may begin with the name of a parameter, as a sentence."""
    text = str(error)
    return text[:1].upper() + text[1:]
