"""The wrong rules of examples/: each is refuted, and says how."""

import pytest

import specviz
from specviz.commands.cli import main
from specviz.config import plugins
from tests import gallery


@pytest.fixture(autouse=True)
def menu(monkeypatch):
    before = set(specviz.VERIFIERS)
    monkeypatch.setattr(plugins, "_loaded", [])
    yield
    for name in set(specviz.VERIFIERS) - before:
        specviz.VERIFIERS.remove(name)


@pytest.mark.parametrize("path", gallery.FILES, ids=lambda path: path.stem)
def test_a_wrong_rule_is_refuted_by_the_tree_that_its_file_shows(path):
    example = gallery.counterexample(path)
    assert example is not None
    assert example.failure or abs(example.probability - float(example.target)) > 1e-3
    text = path.read_text("utf-8")
    assert gallery.renewed(text, example) == text, "run: python -m tests.gallery"
    assert path.name in (gallery.FOLDER / "README.md").read_text("utf-8")


def test_check_prints_what_the_file_shows(capsys):
    path = gallery.FOLDER / "unordered_ties.py"
    arguments = ["check", "--plugin", str(path), "--verifier", "wrong-unordered-ties"]
    assert main([*arguments, "--builder", "batch", "--drafter", "model"]) == 1
    printed = capsys.readouterr().out
    example = gallery.counterexample(path)
    assert example is not None and str(example) in printed


def test_there_are_ten():
    assert len(gallery.FILES) == 10
