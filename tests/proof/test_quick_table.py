"""The rows of `check --quick`, rule by rule."""

from argparse import Namespace
from functools import cache

import pytest

import specviz
from specviz.commands.check import cases_of
from specviz.proof import lossless
from tests.growing import VERIFIERS


@cache  # not at the top, where every process that collects tests would compute it
def quick():
    """The rows of `check --quick`."""
    return cases_of(Namespace(builder=None, verifier=None, drafter=None, quick=True))


@cache
def few():
    """Those that are the first to meet a builder, a drafter, a rule with a way in which children
    are drawn, or a sampling with that; cheap ones come first."""
    met, chosen = set(), []
    for case in quick():
        config, scheme = case.config, case.scheme
        lossless = specviz.compatible(config, scheme).lossless
        own = {
            (case.builder, lossless),
            (case.drafter, lossless),
            (config.verifier.name, scheme, lossless),
            (config.draft_temperature, config.top_k, config.top_p, scheme, lossless),
        }
        if own - met:
            chosen.append(case)
            met |= own
    return chosen


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("verifier", VERIFIERS)
def test_every_rule_is_what_it_is_declared_to_be_in_the_quick_table(verifier, every, monkeypatch):
    """The rows of `check --quick`, which meet every builder, drafter and sampling; by day a part
    that still does, of keyed rules with fewer texts."""
    # Twelve texts meet each vocabulary with each temperature.
    monkeypatch.setattr(lossless, "TEXTS", 12)
    cases = [case for case in quick() if every or case in few()]
    rows = [case.prove() for case in cases if case.config.verifier.name == verifier]
    assert rows and not [row for row in rows if row.refuted]
    lossy = [row for row in rows if not row.lossless]
    assert not lossy or any(row.holds for row in lossy), "declared lossy, but no row shows it"
