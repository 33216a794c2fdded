"""Proofs one after the other or several at a time; what is proven already is kept until its code changes."""

from __future__ import annotations

import inspect
import json
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..files import HERE, from_cache, to_cache
from ..plugins.load import PluginError, blamed, load_known, sources
from ..strategy import REGISTRIES, built_in
from .lossless import Row

ROOMS = (".", "builders", "verifiers", "drafters", "plugins", "theory", "proof")
SOURCES = (
    *(file for room in ROOMS for file in sorted((HERE / room).glob("*.py"))),
    *(HERE / name for name in ("models/base.py", "models/table.py", "acceptance/__init__.py", "acceptance/vectors.py")),
)
FAMILIES = ("builder", "verifier")  # a row depends on its own ones; every drafter counts, since some hold others
CACHE = "proofs.json"
OFTEN = 25  # rows after which the file is written


class Task(Protocol):
    """A row before it is proven; its `repr` holds everything that it depends on besides the code."""

    @property
    def strategies(self) -> tuple[Any, ...]:
        """Builder, rule and drafter, those that there are."""

    def prove(self) -> Row:
        """Prove it anew."""


def proven(tasks: Sequence[Task], jobs: int = 1) -> Iterator[Row]:
    """The rows of tasks in their order, each as soon as it and those before it are there.

    Args:
        tasks: what to prove; rows that are not refuted are kept in the cache folder and not proven again.
        jobs: how many processes prove.
    """
    keys = [key_of(task) for task in tasks]  # "" where a strategy is a plugin: never kept
    kept = _read()
    new = [task for task, key in zip(tasks, keys, strict=True) if key not in kept]
    with ExitStack() as stack:
        found: Iterator[Row] = map(_prove, new)
        if jobs > 1 and len(new) > 1:
            pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (sources(),))
            stack.callback(pool.shutdown, cancel_futures=True)
            found = pool.map(_prove, new)
        if new:
            stack.callback(_write, kept)
        for number, key in enumerate(keys):
            row = kept[key] if key in kept else next(found)
            if key and key not in kept and not row.refuted:
                kept[key] = row
                if number % OFTEN == 0:
                    _write(kept)
            yield row


def key_of(task: Task) -> str:
    """A mark of a task and of the code that decides what is found of it; "" where that code is a plugin's."""
    if not all(built_in(type(strategy)) for strategy in task.strategies):
        return ""
    files = {Path(inspect.getfile(type(strategy))) for strategy in task.strategies}
    code = [_mark(file) for file in SOURCES if file not in _strategy_files() or file in files]
    return sha256("\n".join([np.__version__, *code, repr(task)]).encode()).hexdigest()


def _begin(plugins: list[str]) -> None:
    """Prepare another process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load_known(plugins)


def _prove(task: Task) -> Row:
    try:
        return task.prove()
    except Exception as error:
        if said := blamed(error):  # here, since a traceback does not travel
            raise PluginError(said) from error
        raise


@cache
def _mark(file: Path) -> str:
    return f"{file.relative_to(HERE)} {sha256(file.read_bytes()).hexdigest()}"


@cache
def _strategy_files() -> frozenset[Path]:
    known = [cls for kind in FAMILIES for cls in REGISTRIES[kind].values() if built_in(cls)]
    return frozenset(Path(inspect.getfile(cls)) for cls in known)


def _read() -> dict[str, Row]:
    """The rows kept, by key; none where the file is missing or anything is wrong with it."""
    return from_cache(CACHE, _rows) or {}


def _rows(path: Path) -> dict[str, Row]:
    mark, _, text = path.read_text(encoding="utf-8").partition("\n")
    if mark != sha256(text.encode()).hexdigest():
        raise ValueError("its checksum is wrong")
    return {key: Row(**row) for key, row in json.loads(text).items()}


def _write(kept: dict[str, Row]) -> None:
    text = json.dumps({key: asdict(row) for key, row in kept.items()})
    to_cache(CACHE, lambda path: path.write_text(f"{sha256(text.encode()).hexdigest()}\n{text}", encoding="utf-8"))
