"""Load plugins: Python files and modules that call `specviz.register`.

They are named on the command line (`--plugin`), in the environment (`SPECVIZ_PLUGINS`), or by installed packages
(entry points in the group `specviz.strategies`). Nothing that a page or a trace says is ever loaded.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from zlib import crc32

from ..errors import cause
from ..strategy import REGISTRIES, built_in

VARIABLE = "SPECVIZ_PLUGINS"
GROUP = "specviz.strategies"
PREFIX = "specviz_plugin_"  # of the modules that files become
_loaded: list[str] = []  # files and modules, in the order in which they were loaded
_begun: list[bool] = []  # whether what is installed was looked for


class PluginError(ValueError):
    """What a plugin failed with while it was used, and in which line."""


def load_installed() -> None:
    """Load, once, what installed packages bring and what the environment names.

    A package that fails is logged and left out.

    Raises:
        ValueError: if a plugin that the environment names cannot be loaded.
    """
    if _begun:  # a plugin that is being loaded asks for a public name
        return
    _begun.append(True)
    load_known(point.module for point in entry_points(group=GROUP))
    for name in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        load(name)


def load_known(names: Iterable[str]) -> None:
    """Load what was chosen elsewhere, such as the `sources` of a parent process; what fails is logged and left out."""
    for name in names:
        try:
            load(name)
        except ValueError as error:
            logging.getLogger(__name__).warning("%s", error)


def load(name: str) -> None:
    """Run a file, or import a module, that registers builders, rules or drafters; once.

    Args:
        name: a path that ends in .py, or the name of a module.

    Raises:
        ValueError: if it cannot be run, or registers nothing; the menus are then as before.
    """
    path = Path(name).expanduser().resolve() if name.endswith(".py") else None
    place = name if path is None else str(path)
    if place in _loaded:
        return
    before = {kind: dict(menu) for kind, menu in REGISTRIES.items()}
    try:
        module = import_module(name) if path is None else _run(path)
        root = module.__name__.partition(".")[0]
        if not any(cls.__module__.partition(".")[0] == root for cls in _others()) and before == REGISTRIES:
            raise ValueError("it registers nothing. Write @specviz.register above the class")
    except (Exception, SystemExit) as error:
        for kind, menu in REGISTRIES.items():
            menu.clear()
            menu.update(before[kind])
        raise ValueError(f"plugin {name!r} cannot be loaded: {_at(error, place) or _said(error)}") from error
    _loaded.append(place)


def sources() -> list[str]:
    """What another process must load to know the same strategies; those of a notebook or a script stay here."""
    return [*dict.fromkeys([*_loaded, *(name for name in _modules() if not name.startswith(PREFIX))])]


def blamed(error: BaseException) -> str:
    """Where in a plugin an error arose and what it says, as "my_rule.py, line 14: KeyError: 3"; "" where it did not."""
    files = {getattr(sys.modules.get(name), "__file__", None) or "" for name in _modules()}
    return next((f"{Path(file).name}, {found}" for file in sorted(files) if file and (found := _at(error, file))), "")


def _others() -> list[type]:
    """Every registered class that is not built in."""
    return [cls for menu in REGISTRIES.values() for cls in menu.values() if not built_in(cls)]


def _modules() -> Iterator[str]:
    """The modules of those classes; a script has no name that another process could import."""
    return (cls.__module__ for cls in _others() if cls.__module__ != "__main__")


def _at(error: BaseException, file: str) -> str:
    """The last line of a file that an error passed, and what it says; "" where it passed none."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"line {error.lineno}: {_said(error)}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"line {lines[-1]}: {_said(error)}" if lines else ""


def _said(error: BaseException) -> str:
    """What an error says, in one sentence: those of this package as they are."""
    said = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {cause(error)}"
    return f"{' '.join(said.split()).rstrip('.')}."


def _run(path: Path) -> ModuleType:
    """The module of a file; its own folder is not searched for others."""
    name = f"{PREFIX}{path.stem}_{crc32(str(path).encode()):08x}"
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # it ends in .py
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
