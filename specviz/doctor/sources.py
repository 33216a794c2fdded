"""Where a log comes from: a file or standard input."""

from __future__ import annotations

import sys

from ..errors import cause

MAX_BYTES = 64_000_000
BYTE_ORDER_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # as a redirection of PowerShell begins


def read_source(source: str) -> str:
    """The text of a log; bytes that are no text are replaced.

    Args:
        source: a file's name, or "-" for standard input.

    Raises:
        ValueError: if it cannot be read, or has more than `MAX_BYTES` bytes.
    """
    name = "standard input" if source == "-" else repr(source)
    try:
        if source == "-":
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with open(source, "rb") as file:
                data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise ValueError(f"{name} cannot be read: {getattr(error, 'strerror', None) or cause(error)}.") from None
    if len(data) > MAX_BYTES:
        raise ValueError(f"{name} must have at most {MAX_BYTES:,} bytes. Use a shorter part of it.")
    return data.decode(BYTE_ORDER_MARKS.get(data[:2], "utf-8-sig"), errors="replace")
