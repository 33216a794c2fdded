"""Where a log comes from: a file, standard input, or an address of http or https."""

from __future__ import annotations

import sys
from http.client import HTTPException
from time import monotonic
from typing import IO
from urllib import error, request
from urllib.parse import urlsplit

from ..errors import cause

MOST = 64_000_000  # bytes of a log
SECONDS = 20.0  # for an answer, all of it
ENDS_OF_LINE = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # as a redirection of PowerShell begins
# Nothing but these two schemes can be opened, also not through a redirection.
HANDLERS = (
    request.ProxyHandler, request.HTTPHandler, request.HTTPSHandler, request.HTTPRedirectHandler,
    request.HTTPErrorProcessor, request.HTTPDefaultErrorHandler, request.UnknownHandler,
)  # fmt: skip


def read_source(source: str) -> str:
    """The text of a log; bytes that are no text are replaced.

    Args:
        source: a file's name, "-" for standard input, or an address that begins with http:// or https://.

    Raises:
        ValueError: if it cannot be read, or has more than `MOST` bytes.
    """
    if source.lower().startswith(("http://", "https://")):
        data, shown = _fetched(source), "the answer"
    else:
        shown = "standard input" if source == "-" else repr(source)
        try:
            if source == "-":
                data = sys.stdin.buffer.read(MOST + 1)
            else:
                with open(source, "rb") as file:
                    data = file.read(MOST + 1)
        except OSError as failed:
            raise ValueError(f"{shown} cannot be read: {failed.strerror}.") from None
        except ValueError as failed:  # a null character in the name
            raise ValueError(f"{shown} cannot be read: {cause(failed)}.") from None
    if len(data) > MOST:
        raise ValueError(f"{shown} must have at most {MOST:,} bytes; it has more. Use a shorter part of it.")
    return data.decode(ENDS_OF_LINE.get(data[:2], "utf-8-sig"), errors="replace")


def _fetched(address: str) -> bytes:
    """The body of an answer, read up to the limits of size and time."""
    opener = request.OpenerDirector()
    for handler in HANDLERS:
        opener.add_handler(handler())
    late, parts, size = monotonic() + SECONDS, [], 0
    where = urlsplit(address).hostname or "it"
    try:
        with opener.open(address, timeout=SECONDS) as answer:
            while size <= MOST and (part := _some(answer)):
                parts.append(part)
                size += len(part)
                if monotonic() > late:
                    raise ValueError(
                        f"{where!r} did not answer within {SECONDS:.0f} seconds. Save the text to a file instead."
                    )
    except error.HTTPError as failed:
        raise ValueError(f"{where!r} answered with status {failed.code}. Check the address.") from None
    except (OSError, HTTPException) as failed:  # also a wrong certificate, a time-out, and any scheme but the two
        why = cause(getattr(failed, "reason", failed) if isinstance(failed, error.URLError) else failed)
        raise ValueError(f"The address cannot be read: {why}.") from None
    return b"".join(parts)


def _some(answer: IO[bytes]) -> bytes:
    return answer.read1(65_536)  # type: ignore[attr-defined]  # what has arrived, without waiting for more
