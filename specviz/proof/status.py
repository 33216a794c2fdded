"""Whether what a strategy declares is proven: a built-in one by the project's tests, a plugin once `prove` ran."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from ..strategy import REGISTRIES, built_in
from ..verifiers.base import Verifier
from .counterexample import smallest
from .lossless import cases, cover

WITH = {"builder": ("chain", "batch", "sequoia"), "verifier": ("sequoia", "specinfer", "block", "target-match")}


class Status(StrEnum):
    """What is known of a declaration."""

    PROVEN = "proven"
    REFUTED = "refuted"
    DECLARED = "only declared"


_results: dict[type, Status] = {}  # of the plugins that this process has tried


def status(*strategies: Any) -> Status:
    """What is known of the declarations of strategies, at once: that of the least certain of them.

    Args:
        strategies: builders, rules and drafters, as objects.

    >>> status(specviz.VERIFIERS["block"]())
    <Status.PROVEN: 'proven'>
    """
    known = [_results.get(type(one), Status.DECLARED) for one in strategies if not built_in(type(one))]
    return next((worst for worst in (Status.REFUTED, Status.DECLARED) if worst in known), Status.PROVEN)


def prove(strategy: Any) -> Status:
    """Prove or refute what a plugin declares, on small trees; it takes seconds, and `status` knows the result after it.

    Args:
        strategy: a builder, rule or drafter. A built-in one is proven already.
    """
    cls = type(strategy)
    if built_in(cls):
        return Status.PROVEN
    if cls not in _results:
        refuted = isinstance(strategy, Verifier) and smallest(strategy) is not None
        _results[cls] = Status.REFUTED if refuted or _a_row_is_refuted(strategy) else Status.PROVEN
    return _results[cls]


def _a_row_is_refuted(strategy: Any) -> bool:
    kind = next(kind for kind, menu in REGISTRIES.items() if menu.get(strategy.name) is type(strategy))
    names: dict[str, Any] = WITH | {"drafter": ("model",)} | {kind: (strategy.name,)}
    found = cases(names["builder"], names["verifier"], names["drafter"])
    return any(case.prove().refuted for case in cover(found))
