"""specviz: see tree speculative decoding as it happens.

The public names are resolved when first used, so that `import specviz.plots` does not load torch and
`specviz.toy_pair` needs nothing but numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .paths import __version__

_HOMES = {
    "BUILDERS": "builders",
    "VERIFIERS": "verifiers",
    "DRAFTERS": "drafters",
    "RunConfig": "config",
    "Step": "record",
    "Trace": "record",
    "Choice": "config",
    "autoregress": "decode",
    "compatible": "compatibility",
    "load_pair": "models.pair",
    "run": "decode",
    "speculate": "decode",
    "toy_pair": "models.table",
}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'specviz' has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
