"""A few configurations that represent the whole table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .lossless import Case


def few(found: Iterable[Case]) -> Iterator[Case]:
    """The cases in which a strategy is met for the first time, lossless and lossy ones apart, cheap ones first.

    A builder counts with each scheme; a rule and a drafter with each scheme and sampling.
    """
    met: set[tuple] = set()
    for case in sorted(found, key=_dear):
        config, lossless = case.config, case.match.lossless
        sampling = (config.draft_temperature, config.top_k, config.top_p)
        shown = {
            (case.builder, case.scheme, lossless),
            (config.verifier.name, case.scheme, sampling, lossless),
            (case.drafter, case.scheme, sampling, lossless),
        }
        if not shown <= met:
            met |= shown
            yield case


def _dear(case: Case) -> bool:
    """Whether whole rows are drawn from, which takes long to enumerate where a tree has many nodes."""
    return case.scheme in ("iid", "distinct") and case.config.draft_temperature != 0 and case.config.top_k is None
