"""specviz: see tree speculative decoding as it happens.

The public names are resolved when first used, so that `import specviz.view.figures` does not load
torch and `specviz.toy_pair` needs nothing but numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .base.files import __version__

if TYPE_CHECKING:  # the same names for type checkers and editors
    from .builders import BUILDERS as BUILDERS
    from .config.run_config import RunConfig as RunConfig
    from .config.run_config import compatible as compatible
    from .config.strategy import register as register
    from .decode import autoregress as autoregress
    from .decode import run as run
    from .decode import speculate as speculate
    from .drafters import DRAFTERS as DRAFTERS
    from .models.pair import load_pair as load_pair
    from .models.table import toy_pair as toy_pair
    from .record.step import Step as Step
    from .record.trace import Trace as Trace
    from .verifiers import VERIFIERS as VERIFIERS

_HOMES = {
    "BUILDERS": "builders",
    "VERIFIERS": "verifiers",
    "DRAFTERS": "drafters",
    "RunConfig": "config.run_config",
    "Step": "record.step",
    "Trace": "record.trace",
    "autoregress": "decode",
    "compatible": "config.run_config",
    "load_pair": "models.pair",
    "register": "config.strategy",
    "run": "decode",
    "speculate": "decode",
    "toy_pair": "models.table",
}
__all__ = ["__version__", *_HOMES]


if not TYPE_CHECKING:  # else every misspelt name would type-check

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'specviz' has no attribute {name!r}")
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        import_module(
            ".config.plugins", __name__
        ).load_installed()  # once; a plugin may use any name that is public
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
