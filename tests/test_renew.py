"""What `make renew` is made of: timing on an idle machine, and the drafters' table."""

import sys

from specviz.measure import quiet
from tests.drafter_table import DOCUMENT, TABLE, table


def test_a_command_that_is_timed_needs_an_idle_machine(monkeypatch, capsys):
    monkeypatch.setattr(quiet, "sleep", lambda seconds: None)
    monkeypatch.setattr(quiet, "used_by_others", lambda: 0.0)
    assert quiet.main([sys.executable, "-c", "raise SystemExit(3)"]) == 3
    spent = iter((0.0, 0.0, 0.0, 1e6))  # idle before, busy meanwhile
    monkeypatch.setattr(quiet, "used_by_others", lambda: next(spent))
    assert (
        quiet.main([sys.executable, "-c", ""]) == 1 and "machine is busy" in capsys.readouterr().err
    )


def test_the_table_of_drafters_has_the_form_of_the_one_in_the_document():
    rows = {
        ("ngram", kind, heat): {
            "tokens_per_pass": 2.0,
            "speedup": 1.25,
            "parts_ms": {"draft": 1 + heat},
        }
        for heat in (0.0, 0.8)
        for kind in ("tales", "code")
    }
    made = table(rows)
    assert made.splitlines()[-1] == f"| ngram | 1.0 to 1.8 |{' 2.00, 1.25 x |' * 4}"
    shown = TABLE.search(DOCUMENT.read_text(encoding="utf-8"))[0].splitlines()
    assert shown[1:3] == made.splitlines()[:2]
