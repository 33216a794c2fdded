"""Load plugins: Python files and modules that call `specviz.register`.

They are named by `--plugin`, `SPECVIZ_PLUGINS` or installed packages; nothing in a page or a trace
is.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from zlib import crc32

from ..base.errors import ParameterError, cause
from .strategy import REGISTRIES

PREFIX = "specviz_plugin_"  # of the modules that files become
_loaded: list[str] = []  # files and modules, in the order in which they were loaded
_started: list[bool] = []  # whether installed packages and the environment were read


def load_installed() -> None:
    """Load, once, the plugins of installed packages and of the environment."""
    if _started:  # a plugin that is being loaded imports a public name
        return
    _started.append(True)
    load_known(point.module for point in entry_points(group="specviz.strategies"))
    for name in filter(None, os.environ.get("SPECVIZ_PLUGINS", "").split(os.pathsep)):
        load(name)


def load_known(names: Iterable[str]) -> None:
    """Load plugins that were chosen elsewhere, such as the `sources` of a parent process; log and
    skip failures."""
    for name in names:
        try:
            load(name)
        except ValueError as error:
            logging.getLogger(__name__).warning("%s", error)


def load(name: str) -> None:
    """Run a file whose name ends in .py, or import a module, that registers builders, rules or
    drafters; once."""
    # Plugins name `specviz.distributions`, which stands in a folder of its own now.
    sys.modules["specviz.distributions"] = import_module("specviz.sampling.distributions")
    source = str(Path(name).expanduser().resolve()) if name.endswith(".py") else name
    if source in _loaded:
        return
    if not name.endswith(".py") and Path(name).is_file():
        raise ParameterError(f"plugin {name!r}", "end in .py, or be the name of a module")
    before = {*_registered()}
    try:
        module = _run(Path(source)) if name.endswith(".py") else import_module(name)
    except (Exception, SystemExit) as error:
        # The line of the plugin itself, however deep the error came from.
        where = ""
        for frame in extract_tb(error.__traceback__):
            if frame.filename == source:
                where = f"line {frame.lineno}: "
        reason = f"{type(error).__name__}: {cause(error)}"
        if isinstance(error, ValueError):  # a sentence already
            reason = str(error)
        raise ValueError(
            f"plugin {name!r} cannot be loaded: {where}{' '.join(reason.split()).rstrip('.')}."
        ) from error
    # A module may register classes of its own submodules, but it must have registered something.
    root = module.__name__.partition(".")[0]
    # What it imports may do it, and a module that was imported before has done it.
    own = {cls for cls in _registered() if cls.__module__.partition(".")[0] == root}
    if not own | ({*_registered()} - before):
        raise ValueError(
            f"plugin {name!r} registers nothing. Write @specviz.register above its class."
        )
    _loaded.append(source)


def sources() -> list[str]:
    """The plugins that another process must load to know the same strategies; those of a script or
    notebook cannot."""
    names = list(_loaded)
    for cls in _registered():
        name = cls.__module__
        if name not in names and not name.startswith((PREFIX, "__main__")):
            names.append(name)
    return names


def _registered() -> Iterator[type]:
    for menu in REGISTRIES.values():
        for cls in menu.values():
            if not cls.is_built_in():
                yield cls


def _run(path: Path) -> ModuleType:
    # The path is in it, so that two files of one name are two modules.
    name = f"{PREFIX}{path.stem}_{crc32(str(path).encode()):08x}"
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # the name ends in .py
    # In sys.modules, where pickle looks for a class that another process has to load.
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
