"""The rows of `check --quick`, rule by rule."""

from argparse import Namespace

import pytest

from specviz.commands.check import cases_of
from specviz.proof import lossless
from tests.growing import VERIFIERS

QUICK = cases_of(Namespace(builder=None, verifier=None, drafter=None, quick=True))


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_every_rule_is_what_it_is_declared_to_be_in_the_quick_table(verifier, monkeypatch):
    """The rows of `check --quick`, which meet every builder, drafter and sampling; of keyed rules
    fewer texts."""
    # Twelve texts meet each vocabulary with each temperature.
    monkeypatch.setattr(lossless, "TEXTS", 12)
    rows = [case.prove() for case in QUICK if case.config.verifier.name == verifier]
    assert rows and not [row for row in rows if row.refuted]
    lossy = [row for row in rows if not row.lossless]
    assert not lossy or any(row.holds for row in lossy), "declared lossy, but no row shows it"
