"""The documents: what they show is what the program prints, and what they point at exists."""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

import specviz
from specviz.commands import COMMANDS
from specviz.commands.check import declared
from specviz.commands.cli import _parser as command_parser
from specviz.commands.cli import main
from specviz.view.terminal import text_table
from tests import strategy_tables

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "assets/pair/README.md",
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
]


def test_the_table_of_losslessness_is_the_printed_one():
    shown = (ROOT / "docs/exactness.md").read_text(encoding="utf-8")
    assert f"check --table -->\n{text_table(declared(), markdown=True)}\n<!-- end" in shown, (
        "run: python -m specviz check --table"
    )


def test_the_page_of_claims_is_the_printed_one(capsys):
    main(["papers", "--markdown"])
    shown = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
    assert shown == capsys.readouterr().out, "run: specviz papers --markdown > docs/papers.md"


def test_the_tables_of_builders_and_rules_are_those_of_the_classes():
    text = strategy_tables.DOCUMENT.read_text("utf-8")
    assert strategy_tables.renewed(text) == text, "run: python -m tests.strategy_tables"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_files_and_modules_exist(name):
    whole = (ROOT / name).read_text(encoding="utf-8")
    text = re.sub(r"```.*?```", "", whole, flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((ROOT / name).parent / link).exists(), link
    for module in re.findall(r"python -m ([\w.]+)", whole):
        assert find_spec(module), module
    for script in re.findall(r"python (?!path/to)([\w/.]+\.py)\b", whole):
        assert (ROOT / script).exists(), script


def test_the_house_page_names_every_room():
    house = re.search(
        r"```\n(app/.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL
    )[1]
    named = set(re.findall(r"([a-z]+)/", house))
    for folder in ("specviz", "app", "assets/web"):
        rooms = {
            path.name
            for path in (ROOT / folder).iterdir()
            if path.is_dir() and not path.name.startswith("__")
        }
        assert rooms <= named | {"tests"}, folder


def test_every_command_is_in_the_readme_and_has_an_example():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `specviz (\w+)` \|", text, re.MULTILINE)) == set(COMMANDS)
    examples = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^specviz (\w+)", examples, re.MULTILINE)) == set(COMMANDS)


def commands_in(name):
    """The command lines in a document, as words."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for line in re.findall(r"(?:^|`|python -m )specviz ([a-z]+ [^`\n]*)", text, re.MULTILINE):
        words = shlex.split(line.partition("-->")[0], comments=True)
        # A plugin that a reader writes is no file here.
        while "--plugin" in words:
            place = words.index("--plugin")
            del words[place : place + 2]
        if words[0] in COMMANDS:
            yield words


@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_have_the_options_that_documents_give_them(name):
    for words in commands_in(name):
        command_parser(words[0]).parse_args(words)


def test_every_question_has_a_command_or_a_page():
    rows = re.findall(r"^\| (.*?\?) \| (.*) \|$", (ROOT / "docs/questions.md").read_text(), re.M)
    assert len(rows) >= 25
    assert all("`" in answer or "](" in answer for _, answer in rows)


def test_every_strategy_is_in_the_readme():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for menu, title in (
        (specviz.BUILDERS, "Builders"),
        (specviz.VERIFIERS, "Rules"),
        (specviz.DRAFTERS, "Drafters"),
    ):
        listed = re.search(rf"\*\*{title}\*\*: (.*?)\.( |$)", text)[1]
        names = re.findall(r"[\w-]+", listed)
        assert {
            name for name, cls in menu.items() if not getattr(cls, "autoregressive", False)
        } <= set(names), title


def test_short_documents_stay_short():
    limits = {"README.md": 150, "CHANGELOG.md": 60, "CONTRIBUTING.md": 130}
    lines = {name: len((ROOT / name).read_text(encoding="utf-8").splitlines()) for name in limits}
    assert {name: count for name, count in lines.items() if count > limits[name]} == {}


def python_of(name):
    """The Python examples of a document."""
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)


def test_the_python_of_the_readme_runs_on_toy_models(monkeypatch, tmp_path, capsys):
    library, rule = python_of("README.md")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        specviz, "load_pair", lambda *args, **kwargs: specviz.toy_pair(vocab=9), raising=False
    )
    exec(library, {})
    assert "drafted," in capsys.readouterr().out
    specviz.Trace.from_json((tmp_path / "run.json").read_text())
    try:
        exec(rule, {})
        config = specviz.RunConfig("ab", "k-ary:width=2,depth=2", "greedy", max_new_tokens=12)
        greedy = specviz.run(specviz.toy_pair(vocab=9), config)
        plain = specviz.autoregress(
            specviz.toy_pair(vocab=9), specviz.RunConfig("ab", temperature=0, max_new_tokens=12)
        )
        assert greedy.text == plain.text and not specviz.compatible(config).lossless
    finally:
        specviz.VERIFIERS.remove("greedy")


def test_the_notebook_example_draws_a_saved_run(monkeypatch, tmp_path):
    code = next(code for code in python_of("docs/python.md") if "specviz.view.figures" in code)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.json").write_bytes(
        (ROOT / "assets" / "traces" / "explore" / "chain-0.6.json").read_bytes()
    )
    names = {}
    exec(code, names)
    reached = names["figure"].data[1].y[0]  # of all steps, at the first position
    steps = names["trace"].steps
    assert reached == sum(bool(step.path) for step in steps) / len(steps)
    for name in ("run.html", "positions.html"):
        assert (tmp_path / name).stat().st_size > 1000
