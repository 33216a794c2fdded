"""Where and how the page is served: its address, the proxies before it, and how many connections it
may have."""

from __future__ import annotations

import os
import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

from specviz.base.errors import ParameterError

from ..limits import limit

LOOPBACK = ("", "127.0.0.1", "localhost", "::1")


def on_a_space() -> bool:
    """Whether the page is served by Hugging Face Spaces."""
    return bool(os.environ.get("SPACE_ID")) or os.environ.get("SYSTEM") == "spaces"


def local() -> bool:
    """Whether the page is served to this machine only: it listens on the loopback address and is no
    Space."""
    return os.environ.get("GRADIO_SERVER_NAME", "").strip() in LOOPBACK and not on_a_space()


def check_address(port: int | None = None) -> None:
    """Check that the page can be served at a port of --port, or else GRADIO_SERVER_PORT, and at
    GRADIO_SERVER_NAME.

    Raises:
        ValueError: naming the option or setting that is wrong.
    """
    host = os.environ.get("GRADIO_SERVER_NAME", "").strip() or "127.0.0.1"
    _bind("GRADIO_SERVER_NAME", "be a name or address of this machine", host, host, 0)
    name = "--port"
    if port is None:
        name = "GRADIO_SERVER_PORT"
        if not os.environ.get(name, "").strip():
            os.environ.pop(name, None)  # gradio would read an empty text as a number
            return
        port = limit(name, 7860, most=65535)
    _bind(name, "be a free port", port, host, port)


class Hosts:
    """The names under which the page may be asked for: those of this machine, any address in
    numbers, which no other site can point here, the Space's own, and those that are allowed.

    Args:
        allowed: further names, separated by commas; SPECVIZ_HOSTS where it is empty.
    """

    def __init__(self, allowed: str = "") -> None:
        named = allowed or os.environ.get("SPECVIZ_HOSTS", "")
        # Another site can have its own name lead to this machine (DNS rebinding): its scripts then
        # count as ours for the browser, but the name in the request is still theirs.
        names = [*named.split(","), *LOOPBACK, socket.gethostname()]
        names += [os.environ.get("SPACE_HOST", ""), os.environ.get("GRADIO_SERVER_NAME", "")]
        self.names = {name.strip().lower() for name in names} - {""}

    def allow(self, host: str) -> bool:
        """Whether a host, with or without a port, is one of them."""
        try:
            name = urlsplit(f"//{host.strip()}").hostname or ""
            if name in self.names:
                return True
            ip_address(name)
        except ValueError:
            return False
        return True


def behind_any_proxy() -> bool:
    """Whether every sender of X-Forwarded-For is believed: on a Space, or with
    FORWARDED_ALLOW_IPS=*."""
    if on_a_space():
        os.environ.setdefault("FORWARDED_ALLOW_IPS", "*")  # which uvicorn reads for the scheme
    return os.environ.get("FORWARDED_ALLOW_IPS", "").strip() == "*"


def raise_descriptor_limit() -> None:
    """Allow as many connections as the system does."""
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ImportError, ValueError, OSError):  # not on this system
        pass


def _bind(name: str, must: str, got: str | int, host: str, port: int) -> None:
    try:
        # Asked of the system: the port is taken for a moment and given back.
        family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        socket.create_server(place[:2], family=family).close()
    except (OSError, UnicodeError) as error:
        why = (getattr(error, "strerror", None) or "Not a host name").partition(" (")[0]
        raise ParameterError(name, must, got, f"{why}: choose another, or omit it.") from None
