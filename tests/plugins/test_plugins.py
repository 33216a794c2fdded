"""Rules, trees and drafters of one's own: loaded from files, modules and packages, proven, and known everywhere."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import specviz
from app.machine.worker import Worker
from app.tabs.labs import verification_lab
from specviz.commands.cli import main
from specviz.player.payload import recorded_message
from specviz.plugins import load as loading
from specviz.proof.counterexample import smallest
from specviz.strategy import REGISTRIES

ROOT = Path(__file__).resolve().parents[2]
WRONG = """
import specviz
from specviz.verifiers.base import Verifier
from specviz.verifiers.walk import Walk, ratio


@specviz.register
class Hasty(Verifier):
    name, title, schemes = "hasty", "Hasty", ("iid",)

    def __call__(self, tree, p, rng):
        walk, node = Walk(tree), 0
        for child in tree.children[node]:
            token, q = tree.tokens[child], tree.draft_distributions[node]
            if walk.flip(child, ratio(p[node][token], q[token]), rng):
                return walk.end(rng.draw(p[child]))
        return walk.end(rng.draw(p[node]))
""".lstrip()


@pytest.fixture(autouse=True)
def menus(monkeypatch, tmp_path):
    """The menus as they are, again after the test."""
    before = {kind: dict(menu) for kind, menu in REGISTRIES.items()}
    monkeypatch.setattr(loading, "_loaded", [])
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
    yield
    for kind, menu in REGISTRIES.items():
        menu.clear()
        menu.update(before[kind])


@pytest.fixture
def plugin(tmp_path):
    def write(text, name="hasty.py"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def test_a_wrong_rule_of_twenty_lines_gets_its_smallest_counterexample(plugin, capsys):
    assert len(WRONG.splitlines()) <= 20
    path = plugin(WRONG)
    assert main(["check", "--plugin", path, "--verifier", "hasty", "--builder", "chain"]) == 1
    out = capsys.readouterr().out
    assert "DECLARED WRONGLY" in out
    for line in ("tokens a, b", "p      1/2, 1/2 ", "q      0, 1 ", "tree   a root with 1 child"):
        assert line in out
    found = smallest(specviz.VERIFIERS["hasty"]())
    assert float(found.target) == 0.5 and found.probability in (0.25, 0.75) and len(found.text) == 1
    share = "1/4" if found.probability < 0.5 else "3/4"
    assert f"writes {'ab'[found.text[0]]} with probability {share}; it should be 1/2" in out
    assert f"--plugin {path}" in out and f"http://127.0.0.1:7860{found.link}" in out
    asked = dict(part.split("=") for part in found.link.removeprefix("/?").split("&"))
    assert (asked["p"], asked["q"], asked["rule"], asked["children"]) == ("1/2,1/2", "0,1", "hasty", "1")


def test_the_same_rule_mended_is_proven(plugin, capsys):
    mended = WRONG
    for old, new in (
        ("from specviz.verifiers.base", "from specviz.distributions import residual\nfrom specviz.verifiers.base"),
        ("walk, node = Walk(tree), 0", "walk, node, r = Walk(tree), 0, p[0]"),
        ("ratio(p[node][token]", "ratio(r[token]"),
        ("p[child]))\n", "p[child]))\n            r = residual(r, q)\n"),
        ("rng.draw(p[node])", "rng.draw(r)"),
    ):
        assert old in mended
        mended = mended.replace(old, new)
    path = plugin(mended)
    # Children of one node from several drafters would need each its own q.
    assert (
        main(["check", "--plugin", path, "--verifier", "hasty", "--builder", "chain", "--drafter", "model", "--quick"])
        == 0
    )
    out = capsys.readouterr().out
    assert "WRONGLY" not in out and "no deviation" not in out
    assert re.search(r"rows, all as declared; the largest error of a lossless one is \d\.\de-1[5-9]", out)
    assert smallest(specviz.VERIFIERS["hasty"]()) is None


def test_a_rule_that_fails_on_a_node_is_shown_that_node_with_the_line(plugin, capsys):
    path = plugin(WRONG.replace("ratio(p[node][token], q[token])", "1 if p[node][token] else {}[token]"))
    assert main(["check", "--plugin", path, "--verifier", "hasty", "--builder", "chain"]) == 1
    out = capsys.readouterr().out
    assert "p      1, 0 " in out and "q      0, 1 " in out
    assert "KeyError: 1" in out


def test_the_json_rows_hold_the_counterexample_and_other_processes_know_the_plugin(plugin, capsys):
    path = plugin(WRONG)
    asked = ["check", "--plugin", path, "--verifier", "hasty", "--builder", "chain", "--json", "--jobs", "2"]
    assert main(asked) == 1
    rows = json.loads(capsys.readouterr().out)
    example = rows[-1]["counterexample"]
    assert example["p"] == [["1/2", "1/2"]] and example["target"] == "1/2" and example["children"] == 1


@pytest.mark.parametrize(
    "text, says",
    [
        ("import specviz\n", "registers nothing. Write @specviz.register above its class."),
        ("x = 1\ny = (\n", "SyntaxError: "),
        ("import specviz\n\n{}['a']\n", "line 3: KeyError: 'a'."),
        (WRONG.replace('"hasty", "Hasty"', '"sequoia", "Hasty"'), "Hasty.name must differ from the built-in verifier"),
        (WRONG.replace('"hasty", "Hasty"', '"Has ty", "Hasty"'), "must be small letters and digits with hyphens"),
        (WRONG.replace("def __call__", "size: int\n\n    def __call__"), "Hasty.size must have a default"),
        (WRONG.replace('("iid",)', '("iid", "drawn")'), "Hasty.schemes must list some of iid, distinct, top, race"),
        (WRONG.replace("def __call__", "lossless = False\n\n    def __call__"), "Hasty.bias must be a sentence"),
        (WRONG.replace("__call__", "decide"), "Hasty must define __call__"),
    ],
    ids=range(9),
)  # fmt: skip
def test_a_plugin_that_cannot_be_loaded_gets_one_sentence(plugin, capsys, text, says):
    path = plugin(text)
    assert main(["strategies", "--plugin", path]) == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1 and f"plugin {path!r} " in said


def test_a_missing_file_or_module_gets_one_sentence(capsys):
    assert main(["strategies", "--plugin", "/no/such/file.py"]) == 2
    assert main(["strategies", "--plugin", "no_such_module"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "cannot be loaded: FileNotFoundError" in first and "No module named 'no_such_module'" in second


def test_a_class_that_is_registered_again_is_replaced_and_others_are_rejected():
    first, second = (specviz.register(type("Mine", (specviz.VERIFIERS["naive"],), {"name": "mine"})) for _ in range(2))
    assert first is not second is specviz.VERIFIERS["mine"]
    with pytest.raises(
        ValueError, match="register must be given a class that extends Verifier, TreeBuilder or Drafter"
    ):
        specviz.register(dict)


def test_the_worker_and_the_lab_know_a_plugin(plugin, monkeypatch):
    loading.load(plugin(WRONG))
    asked = {"p": [1, 1], "q": [1, 0], "children": 1, "levels": 1, "rule": "hasty", "scheme": "iid", "seed": 0}
    worker = Worker()
    try:
        told = json.loads(worker(verification_lab.look, asked))
    finally:
        worker.end()
    assert told["kind"] == "lossless" and told["exact"]["deviation"] == pytest.approx(0.25)
    assert told["reason"].endswith("That is what a plugin declares; `specviz check` proves or refutes it.")


def test_a_trace_of_an_unknown_rule_loads_nothing_and_says_so(plugin, monkeypatch):
    trace = specviz.run(specviz.toy_pair(), specviz.RunConfig("ab", "chain", "specinfer", max_new_tokens=4))
    monkeypatch.chdir(Path(plugin(WRONG)).parent)
    text = trace.to_json().replace('"specinfer"', '"hasty"')
    with pytest.raises(ValueError, match=r"verifier must be one of .*; got 'hasty'. If it is a plugin, load it first"):
        recorded_message(specviz.Trace.from_json(text))
    assert "hasty" not in specviz.VERIFIERS


def test_an_installed_package_and_the_environment_bring_strategies(tmp_path):
    for name in ("packaged", "named"):
        (tmp_path / f"{name}_rules.py").write_text(
            WRONG.replace('"hasty", "Hasty"', f'"{name}", "{name.capitalize()}"')
        )
    broken = tmp_path / "broken_rules.py"
    broken.write_text("import no_such_module\n")
    info = tmp_path / "packaged-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: packaged\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[specviz.strategies]\nrules = packaged_rules\nbroken = broken_rules\n")
    code = "import specviz; print(specviz.VERIFIERS['packaged'].title, specviz.RunConfig(verifier='named').verifier)"
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    env = os.environ | {"PYTHONPATH": paths, "SPECVIZ_PLUGINS": str(tmp_path / "named_rules.py")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "Packaged hasty\n"
    assert "plugin 'broken_rules' cannot be loaded: " in done.stderr
