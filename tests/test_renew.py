"""What `make renew` is made of: the order of its steps, the stamps, timing on an idle machine, the
drafters' table."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from specviz.measure import quiet
from tests.drafter_table import DOCUMENT, TABLE, table

ROOT = Path(__file__).resolve().parent.parent
STEPS = (
    "specviz calibrate",
    "app.tabs.record explore",
    "app.tabs.record curves",
    "tests.drafter_table",
    "papers --measure",
)


def planned(folder):
    command = ["make", "-n", "-o", ".venv/.installed-dev", f"STAMPS={folder}", "renew"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_finished_step_is_not_done_again(tmp_path):
    whole = planned(tmp_path)
    assert all(step in whole for step in STEPS) and whole.count("specviz calibrate") == 9
    assert (
        whole.rindex("specviz calibrate")
        < whole.index("papers --measure")
        < whole.index("tests.screenshots")
    )
    timed = [line for line in whole.splitlines() if re.search("tabs.record|drafter_table", line)]
    assert timed and all("specviz.measure.quiet" in line for line in timed)
    for name in ("smollm2", *re.findall(r"--drafter ([\w-]+)", whole)):
        (tmp_path / f"vectors-{name}").touch()
    assert "calibrate" not in planned(tmp_path) and "papers --measure" in planned(tmp_path)


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
