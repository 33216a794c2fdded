"""Acceptance vectors as a file: what `python -m specviz calibrate --json` prints, one or several of them."""

from __future__ import annotations

from collections.abc import Sequence

from .. import codec
from ..files import parse_json
from .on_text import Acceptance
from .vectors import MOST


def to_text(vectors: Sequence[Acceptance]) -> str:
    """One vector as an object, several in a list.

    Args:
        vectors: at least one.

    >>> pair, rule = specviz.toy_pair(), specviz.VERIFIERS["sequoia"]()
    >>> from specviz.acceptance.on_text import acceptance_vector
    >>> found = acceptance_vector(pair, rule, [pair.encode("abcab")], specviz.RunConfig(), width=2)
    >>> from_text(to_text([found])) == (found,)
    True
    """
    return codec.lines(vectors[0] if len(vectors) == 1 else {"vectors": vectors}, exact=True) + "\n"


def from_text(text: str | bytes) -> tuple[Acceptance, ...]:
    """The vectors of an uploaded file.

    Raises:
        ValueError: if it is damaged in any way; the message says where.
    """
    try:
        data = parse_json(text)
    except ValueError:
        raise ValueError("The file is not JSON. It may be truncated or damaged.") from None
    rows = data.get("vectors", [data]) if isinstance(data, dict) else None
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST:
        raise ValueError(
            'The file must contain an acceptance vector from "Save vectors" or `specviz calibrate --json`.'
        )
    return tuple(codec.read(Acceptance, row, f"vector {number}") for number, row in enumerate(rows, 1))
