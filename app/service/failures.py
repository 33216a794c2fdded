"""How a failure reaches a visitor: as one sentence, while the traceback goes to the server's
log."""

from __future__ import annotations

import logging


def reason(error: Exception, log: bool = True) -> str:
    """The sentence of a `ValueError`; any other exception is not shown. A `ValueError` is logged
    only with `log`."""
    is_sentence = isinstance(error, ValueError)
    if log or not is_sentence:
        logging.getLogger(__name__).error("a run failed", exc_info=error)
    return str(error) if is_sentence else "See the server's log for the reason."


def explain(error: Exception, failed: str) -> str:
    """What a visitor is shown of an exception that ends a handler: a `ValueError` is a sentence for
    him already, any other is only said to have `failed`."""
    return str(error) if isinstance(error, ValueError) else f"{failed} {reason(error)}"
