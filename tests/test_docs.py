"""The documents: what they show is what the program prints, and what they point at exists."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from specviz.commands import COMMANDS
from specviz.commands.check import markdown

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "assets/pair/README.md"]


def test_the_table_of_the_readme_is_the_printed_one():
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"check --table -->\n{markdown()}\n<!-- end" in shown, "run: python -m specviz check --table"


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


def test_the_house_page_names_every_file_of_the_root_and_every_room():
    house = re.search(
        r"```\n(specviz/.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL
    ).group(1)
    named, folder = {"specviz": set(), "app": set(), "assets/web": set()}, ""
    for line in house.splitlines():
        if line.startswith(" "):
            named.setdefault(folder, set()).update(name.rstrip("/") for name in line[2:43].split())
        else:
            folder = line.split("/  ")[0].rstrip("/")
    for folder in ("specviz", "app", "assets/web"):
        there = {path.stem for path in (ROOT / folder).iterdir() if path.is_dir() or path.suffix in (".py", ".js")}
        assert named[folder] == {name for name in there if not name.startswith("__")}, folder


def test_every_command_of_the_readme_exists_and_every_command_is_in_it():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^python -m specviz (\w+)", text, re.MULTILINE))
    assert shown == set(COMMANDS)


def test_the_python_of_the_readme_runs_on_toy_models(monkeypatch, tmp_path, capsys):
    import specviz

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(specviz, "load_pair", lambda *args, **kwargs: specviz.toy_pair(vocab=9), raising=False)
    exec(code, {})
    assert "drafted," in capsys.readouterr().out
    specviz.Trace.from_json((tmp_path / "run.json").read_text())


def test_the_notebook_example_of_the_readme_draws_a_saved_run(monkeypatch, tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"## In a notebook.*?```python\n(.*?)```", text, re.DOTALL).group(1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.json").write_bytes((ROOT / "assets" / "traces" / "story.json").read_bytes())
    names = {}
    exec(code, names)
    trace = names["trace"]
    marks = [x for mark in names["tree"].data if mark.mode and "markers" in mark.mode for x in mark.x]
    assert len(marks) == len(trace.steps[0].parents) + (trace.steps[0].bonus is not None)
    assert sum(len(kind.x) for kind in names["ribbon"].data) == len(trace.tokens)
    assert len(names["lengths"].data[0].y) == len(trace.steps)
    assert (tmp_path / "tree.html").stat().st_size > 1000
