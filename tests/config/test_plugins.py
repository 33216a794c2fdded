"""Rules, trees and drafters of one's own: loaded from files, modules and packages, proven, and
known everywhere."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import specviz
from specviz.commands.cli import main
from specviz.config import plugins as loading
from specviz.config.strategy import REGISTRIES
from specviz.proof import greedy, search
from specviz.proof.lossless import EXACT
from specviz.proof.search import find_counterexample
from specviz.view.payload import recorded_message
from tests.proof.proofs import error_of

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs" / "strategies.md").read_text("utf-8"), re.DOTALL
)
RULE, BUILDER, DRAFTER = EXAMPLES
# It forgets to subtract q from p after a rejection.
WRONG = (
    RULE.replace("residual(p[node], q)", "p[node]")
    .replace("coins", "hasty")
    .replace("Coins", "Hasty")
)


@pytest.fixture(autouse=True)
def menus(monkeypatch):
    """The menus as they are, again after the test."""
    before = {kind: set(menu) for kind, menu in REGISTRIES.items()}
    monkeypatch.setattr(loading, "_loaded", [])
    yield
    for kind, menu in REGISTRIES.items():
        for name in set(menu) - before[kind]:
            menu.remove(name)


@pytest.fixture
def plugin(tmp_path):
    def write(text, name="hasty.py"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [(RULE, "verifier", "coins"), (BUILDER, "builder", "broom"), (DRAFTER, "drafter", "counting")],
    ids=["rule", "builder", "drafter"],
)
@pytest.mark.parametrize("drafter", ["model", "several"])
def test_an_example_of_the_document_runs_and_is_proven(plugin, text, kind, name, drafter):
    loading.load(plugin(text))
    strategies = {"builder": "chain", "verifier": "specinfer", "drafter": drafter} | {kind: name}
    builder, rule, drafter = (
        REGISTRIES[kind][strategies[kind]] for kind in ("builder", "verifier", "drafter")
    )
    error, *_ = error_of(
        builder.proof_instance(), rule(), specviz.toy_pair(seed=1), steps=1, drafter=drafter()
    )
    assert error < EXACT
    trace = specviz.run(
        specviz.toy_pair(), specviz.RunConfig("abab", max_new_tokens=8, **strategies)
    )
    assert (
        len(trace.tokens) == 8 and specviz.Trace.from_json(trace.to_json()).tokens == trace.tokens
    )


def test_a_method_that_takes_other_arguments_than_its_contract_is_refused():
    class Old(specviz.builders.base.TreeBuilder):
        name, title = "old", "Old"

        def __call__(self, draft, rng, scheme, tokens_left, state):
            return draft.tree

    sentence = r"Old must define __call__\(self, draft, rng, tokens_left, state\)"
    with pytest.raises(ValueError, match=sentence):
        specviz.register(Old)


def test_a_method_may_take_more_than_its_contract_gives_it():
    class More(specviz.builders.base.TreeBuilder):
        name, title = "more", "More"

        def __call__(self, draft, *others, again=1):
            return draft.tree

    assert specviz.register(More) is More


def test_a_wrong_rule_gets_its_smallest_counterexample_and_the_right_one_none(
    plugin, capsys, monkeypatch
):
    path = plugin(WRONG)
    arguments = ["check", "--plugin", path, "--verifier", "hasty", "--builder", "chain"]
    assert main(arguments) == 1
    out = capsys.readouterr().out
    assert "WRONGLY" in out and "tokens a, b" in out and "tree   a root with 1 child" in out
    found = find_counterexample(specviz.VERIFIERS["hasty"]())
    assert found.probability != float(found.target) and len(found.text) == 1
    assert f"--plugin {path}" in out and f"http://127.0.0.1:7860{found.link}" in out
    assert main([*arguments, "--json", "--jobs", "2"]) == 1, (
        "other processes know the plugin as well"
    )
    assert "counterexample" in json.loads(capsys.readouterr().out)[0]
    path = plugin(
        WRONG.replace("ratio(p[node][token], q[token])", "1 if p[node][token] else {}[token]"),
        "fails.py",
    )
    assert main([*arguments, "--plugin", path]) == 1
    assert "KeyError" in capsys.readouterr().out, "a rule that fails on a node is shown that node"
    loading.load(plugin(RULE, "coins.py"))
    # A search that finds nothing looks at all it has, which takes long: here at the smallest trees.
    monkeypatch.setattr(search, "SHAPES", search.SHAPES[:2])
    monkeypatch.setattr(search, "DEEP", ())
    monkeypatch.setattr(greedy, "EVERY", 2)
    monkeypatch.setattr(greedy, "RANDOM_TREES", 40)
    assert find_counterexample(specviz.VERIFIERS["coins"]()) is None


def test_a_plugin_may_leave_it_to_what_it_imports(plugin, tmp_path, monkeypatch):
    plugin(RULE, "rule_of_another_file.py")
    monkeypatch.syspath_prepend(tmp_path)
    loading.load(plugin("import rule_of_another_file\n", "imports.py"))
    assert "coins" in specviz.VERIFIERS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import specviz\n", "registers nothing"),
        ("x = 1\ny = (\n", "SyntaxError"),
        ("import specviz\n\n{}['a']\n", "line 3: KeyError: 'a'."),
        (WRONG.replace('"hasty"', '"sequoia"'), "Hasty.name"),
        (WRONG.replace('"hasty"', '"Has ty"'), "Hasty.name"),
        (WRONG.replace("def __call__", "size: int\n\n    def __call__"), "Hasty.size"),
        (WRONG.replace('"iid", "distinct"', '"iid", "drawn"'), "Hasty.schemes"),
        (WRONG.replace("def __call__", "lossless = False\n\n    def __call__"), "Hasty.bias"),
        (WRONG.replace("__call__", "decide"), "must define __call__"),
    ],
    ids=range(9),
)
def test_a_plugin_that_cannot_be_loaded_gets_one_sentence(plugin, capsys, text, words):
    path = plugin(text)
    assert main(["generate", "--prompt", "a", "--plugin", path]) == 2
    output = capsys.readouterr().err
    assert words in output and output.count("\n") == 1 and f"plugin {path!r} " in output


@pytest.mark.parametrize(
    ("name", "words"), [("/no/file.py", "FileNotFoundError"), ("no_module", "No module named")]
)
def test_a_missing_file_or_module_gets_one_sentence(name, words):
    with pytest.raises(ValueError, match=f"plugin {name!r} cannot be loaded: .*{words}"):
        loading.load(name)


def test_a_class_that_is_registered_again_is_replaced_and_others_are_rejected():
    first, second = (
        specviz.register(type("Mine", (specviz.VERIFIERS["naive"],), {"name": "mine"}))
        for _ in range(2)
    )
    assert first is not second is specviz.VERIFIERS["mine"]
    with pytest.raises(ValueError, match="register must be given a class"):
        specviz.register(dict)


def test_another_process_is_told_which_plugins_to_load(plugin):
    path = plugin(WRONG)
    loading.load(path)
    loading.load(path)
    assert loading.sources() == [path]


def test_a_trace_of_an_unknown_rule_loads_nothing_and_says_so(plugin, monkeypatch):
    trace = specviz.run(
        specviz.toy_pair(), specviz.RunConfig("ab", "chain", "specinfer", max_new_tokens=4)
    )
    monkeypatch.chdir(Path(plugin(WRONG)).parent)
    text = trace.to_json().replace('"specinfer"', '"hasty"')
    with pytest.raises(ValueError, match="If it is a plugin, load it first"):
        recorded_message(specviz.Trace.from_json(text))
    assert "hasty" not in specviz.VERIFIERS


def test_an_installed_package_and_the_environment_bring_strategies(tmp_path):
    for name in ("packaged", "named"):
        (tmp_path / f"{name}_rules.py").write_text(WRONG.replace('"hasty"', f'"{name}"'))
    (tmp_path / "broken_rules.py").write_text("import no_such_module\n")
    info = tmp_path / "packaged-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: packaged\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[specviz.strategies]\nrules = packaged_rules\nbroken = broken_rules\n"
    )
    code = (
        "import specviz; print('packaged' in specviz.VERIFIERS, "
        "specviz.RunConfig(verifier='named').verifier)"
    )
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    env = os.environ | {"PYTHONPATH": paths, "SPECVIZ_PLUGINS": str(tmp_path / "named_rules.py")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True named\n"
    assert "plugin 'broken_rules' cannot be loaded: " in done.stderr


def test_a_plugin_may_import_from_where_the_files_stood_before(plugin):
    loading.load(
        plugin(
            RULE.replace("specviz.sampling.distributions", "specviz.distributions").replace(
                "specviz.sampling.children", "specviz.sampling"
            )
        )
    )
    assert "coins" in specviz.VERIFIERS
