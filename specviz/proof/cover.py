"""A few of the cases of the table in which every strategy is met, for a quick check."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from ..config.run_config import compatible
from .lossless import Case


def cover(candidates: Iterable[Case]) -> list[Case]:
    """A few cases in which every strategy is met, lossless and lossy ones apart, and cheap ones
    before others.

    A builder counts with each scheme; a rule with each scheme and sampling together; a drafter with
    each scheme and with each sampling.
    """

    def is_expensive(case: Case) -> bool:  # it draws several tokens from whole distributions
        config = case.config
        if case.scheme not in ("iid", "distinct") or config.draft_temperature == 0:
            return False
        branches = case.scheme == "iid" and not config.builder.is_chain
        return config.top_k is None or branches

    # Cheap ones first, each with what it would add to the few that are chosen.
    properties = {case: _properties(case) for case in sorted(candidates, key=is_expensive)}
    covered: set[tuple] = set()
    chosen: set[Case] = set()
    # Greedily, first what meets most; an expensive case is chosen only for what no cheap one meets.
    for expensive, new in product((False, True), (4, 3, 2, 1)):
        for case, own in properties.items():
            if is_expensive(case) == expensive and len(own - covered) >= new:
                covered |= own
                chosen.add(case)
    return [case for case in properties if case in chosen]


def _properties(case: Case) -> set[tuple]:
    """What is met in a case."""
    config = case.config
    lossless = compatible(config, case.scheme).lossless
    sampling = (config.draft_temperature, config.top_k, config.top_p)
    return {
        ("builder", case.builder, case.scheme, lossless),
        ("rule", config.verifier.name, case.scheme, sampling, lossless),
        ("drafter", case.drafter, case.scheme, lossless),
        ("drafter", case.drafter, sampling, lossless),
    }
