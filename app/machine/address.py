"""Where the page is served: checked before gradio reads the settings, for a clear error message."""

from __future__ import annotations

import os
import socket

from specviz.errors import ParameterError

LOOPBACK = ("", "127.0.0.1", "localhost", "::1")


def on_a_space() -> bool:
    """Whether the page is served by Hugging Face Spaces."""
    return bool(os.environ.get("SPACE_ID")) or os.environ.get("SYSTEM") == "spaces"


def local() -> bool:
    """Whether the page is served to this machine only: it listens on the loopback address and is no Space."""
    return os.environ.get("GRADIO_SERVER_NAME", "").strip() in LOOPBACK and not on_a_space()


def check_address(port: int | None = None) -> None:
    """Check that the page can be served at a port, or else GRADIO_SERVER_PORT, and at GRADIO_SERVER_NAME.

    Args:
        port: of --port; None where it was left out, and gradio looks for a free one.

    Raises:
        ValueError: naming the option or setting that is wrong.
    """
    setting = os.environ.get("GRADIO_SERVER_PORT")
    written = str(port) if port is not None else "7860" if setting is None else setting.strip()
    name = "GRADIO_SERVER_PORT" if port is None else "--port"
    if not (written.isascii() and written.isdigit() and len(written) < 6 and 1 <= int(written) <= 65535):
        got = port if port is not None else setting
        raise ParameterError(name, "be a whole number from 1 to 65535", got, "Omit it to use the first free port.")
    host = os.environ.get("GRADIO_SERVER_NAME", "").strip() or "127.0.0.1"
    _bind(host, 0, "GRADIO_SERVER_NAME", host)
    if port is not None:
        _bind(host, port, "--port", port)


def _bind(host: str, port: int, name: str, got: str | int) -> None:
    must = "be a free port" if port else "be a name or address of this machine"
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        socket.create_server(place[:2], family=family).close()
    except (OSError, UnicodeError) as error:
        why = (getattr(error, "strerror", None) or "Not a host name").partition(" (")[0]
        raise ParameterError(name, must, got, f"{why}: choose another, or omit it.") from None
