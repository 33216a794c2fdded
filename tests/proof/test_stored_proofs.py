"""Proofs that are kept, and the few and random configurations that `check` can take instead of all."""

import json
import logging
import subprocess
import sys
from dataclasses import replace

import pytest

import specviz
from specviz import files
from specviz.commands.cli import main
from specviz.compatibility import Setting
from specviz.proof import lossless, search, stored_proofs
from specviz.proof.lossless import SAMPLINGS, cases, checked, few
from specviz.proof.stored_proofs import key_of, proven

CASES = [
    *cases(["chain"], ["specinfer"], samplings=SAMPLINGS[:2], seeds=(1,)),
    *cases(["chain"], ["race"], samplings=SAMPLINGS[:1]),
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    return tmp_path


def no_proof(*_, **__):
    raise AssertionError("was proven again")


def test_what_is_proven_is_kept_and_a_damaged_file_is_made_anew(folder, monkeypatch, caplog):
    rows = list(proven(CASES))
    assert rows == [case.prove() for case in CASES] and {row.draft_temperature for row in rows} == {None, 0.0}
    with monkeypatch.context() as patched:
        patched.setattr(lossless, "error_in", no_proof)
        patched.setattr(lossless, "compare_texts", no_proof)
        assert list(proven(CASES)) == rows
    file = folder / "proofs.json"
    whole = file.read_bytes()
    for damage in (whole[:-40], whole.replace(b"true", b"trux", 1), whole.replace(b"1", b"2", 1), b"", b"\xff{}"):
        file.write_bytes(damage)
        with caplog.at_level(logging.WARNING):
            caplog.clear()
            files._log_cache.cache_clear()
            assert list(proven(CASES)) == rows and file.read_bytes() == whole
        assert len(caplog.records) == 1


def test_a_row_is_proven_again_once_its_code_or_its_parameters_change(monkeypatch):
    case, other = CASES[0], next(cases(["chain"], ["block"]))
    before, untouched = key_of(case), key_of(other)
    assert key_of(replace(case, steps=1)) != before
    assert key_of(replace(case, config=replace(case.config, draft_temperature=0.6))) != before
    monkeypatch.setattr(stored_proofs, "_mark", lambda file: f"{file.name} {file.name == 'specinfer.py' and 'edited'}")
    edited = key_of(case)
    monkeypatch.setattr(stored_proofs, "_mark", lambda file: f"{file.name} False")
    assert key_of(case) != edited
    fresh = key_of(other)
    monkeypatch.setattr(stored_proofs, "_mark", lambda file: f"{file.name} {file.name == 'specinfer.py' and 'edited'}")
    assert key_of(other) == fresh != untouched


def test_every_file_that_a_proof_runs_is_looked_at():
    code = (
        "import sys, specviz.proof.stored_proofs as kept\n"
        "from specviz.proof.lossless import cases, checked\n"
        "for drafter in checked():\n"
        "    next(cases(['chain'], ['target-match'], [drafter])).prove()\n"
        "files = {m.__file__ for name, m in sys.modules.items() if name.startswith('specviz.') and m.__file__}\n"
        "print(files - {str(file) for file in kept.SOURCES})"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    left = {name.rsplit("specviz/", 1)[1] for name in eval(found)}
    assert left <= {"models/__init__.py"}, left


def test_several_processes_find_the_same_in_the_same_order(folder):
    assert list(proven(CASES[:3], jobs=2)) == [case.prove() for case in CASES[:3]]
    assert (folder / "proofs.json").exists()


def test_a_few_cases_meet_every_builder_rule_drafter_and_sampling():
    everything = [*cases(), *cases(["chain", "sequoia"], drafters=[name for name in checked() if name != "model"])]
    chosen = list(few(everything))
    assert len(chosen) < len(everything) / 5
    for of in (
        lambda case: case.builder,
        lambda case: case.drafter,
        lambda case: (case.config.verifier.name, case.match.lossless),
        lambda case: (case.config.draft_temperature, case.config.top_k, case.config.top_p),
    ):
        assert {of(case) for case in chosen} == {of(case) for case in everything}


def test_check_prints_json_row_by_row_and_says_what_is_declared_wrongly(capsys, monkeypatch):
    asked = ["check", "--builder", "chain", "--verifier", "block", "--drafter", "several"]
    assert main([*asked, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {(row["draft_temperature"], row["top_k"], row["top_p"]) for row in rows} == {
        (None, None, 1.0), (0.0, None, 1.0), (0.6, None, 1.0), (None, 2, 1.0), (None, None, 0.9),
    }  # fmt: skip
    monkeypatch.setattr(Setting, "blended", False)  # a most probable token of several drafters counts as a draw
    monkeypatch.setattr(stored_proofs, "_read", dict)
    assert main(asked) == 1
    wrong = [line for line in capsys.readouterr().out.splitlines() if "DECLARED WRONGLY" in line]
    assert wrong and all("T draft 0" in line and " top " in line for line in wrong)


def test_a_rule_that_no_row_shows_lossy_is_said(capsys, monkeypatch):
    monkeypatch.setattr(specviz.VERIFIERS["target-match"], "lossless", False)
    assert main(["check", "--builder", "chain", "--verifier", "target-match", "--drafter", "model"]) == 1
    assert "no proof shows it: target-match, top, chain, model" in capsys.readouterr().err


def test_the_search_is_the_same_each_time_and_finds_what_is_declared_wrongly(capsys, monkeypatch):
    assert [found.config for found in search.search(20)] == [found.config for found in search.search(20)]
    assert main(["check", "--search", "20"]) == 0
    assert "20 configurations" in capsys.readouterr().out
    monkeypatch.setattr(specviz.VERIFIERS["typical"], "lossless", True)
    monkeypatch.setattr(search, "_strategy", lambda kind, rng: SOME[kind])
    assert main(["check", "--search", "20"]) == 1
    assert "declared lossless, error" in capsys.readouterr().out


SOME = {
    "builder": specviz.BUILDERS["chain"](depth=2),
    "verifier": specviz.VERIFIERS["typical"](),
    "drafter": specviz.DRAFTERS["model"](),
}
