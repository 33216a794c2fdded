"""The wheel: built, installed without the network, and used from another folder, with everything
that it ships."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PIP = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "install"]
INSTALL = [*PIP, "--no-deps", "--no-index", "--no-build-isolation"]


@pytest.fixture
def site(tmp_path):
    """A folder into which the wheel was installed."""
    subprocess.run(
        [*INSTALL, "--no-compile", "--target", str(tmp_path / "site"), str(ROOT)], check=True
    )
    return tmp_path / "site"


def used(site, folder, *command):
    """What a command prints that is run in `folder`, where only the installed package can be
    found."""
    env = os.environ | {"PYTHONPATH": str(site), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_the_package_needs_what_the_spaces_need_with_both_bounds():
    listed = [Requirement(line) for line in (ROOT / "requirements.txt").read_text("utf-8").split()]
    needs = ProjectMetadata(str(ROOT), PluginManager()).core.dependencies
    assert sorted(map(Requirement, needs), key=str) == sorted(listed, key=str)
    for one in listed:
        assert {part.operator for part in one.specifier} == {">=", "<"}, one


def test_every_imported_library_is_required():
    lines = (ROOT / "requirements.txt").read_text("utf-8").split()
    listed = {Requirement(line).name.replace("-", "_") for line in lines} | {
        "markdown_it"
    }  # of markdown-it-py
    # of `bench --against`, and of ZeroGPU
    optional = {"xllamacpp", "openvino", "openvino_genai", "spaces"}
    files = [path for room in ("specviz", "app") for path in (ROOT / room).rglob("*.py")]
    imported = {
        name.partition(".")[0]
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in (
            [node.module]
            if isinstance(node, ast.ImportFrom) and not node.level
            else [one.name for one in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
    assert not imported - set(sys.stdlib_module_names) - listed - optional - {"specviz", "app"}


def test_an_editable_installation_adds_the_repository_to_the_search_path(tmp_path):
    subprocess.run([*INSTALL, "--target", str(tmp_path), "-e", str(ROOT)], check=True)
    assert [path.read_text().strip() for path in tmp_path.glob("*.pth")] == [str(ROOT)]


@pytest.mark.nightly  # pip builds and installs some thirty megabytes
def test_the_wheel_has_every_room_a_command_with_its_own_pair_and_the_page(site, tmp_path):
    assert (site / "specviz" / "py.typed").exists()
    generate = ("generate", "--prompt", "Once upon a time", "--max-new-tokens", "5")
    written = used(site, tmp_path, str(site / "bin" / "specviz"), *generate)
    assert "Once upon a time" in written and "5 tokens in" in written
    files = {
        path.relative_to(ROOT)
        for room in ("specviz", "app")
        for path in (ROOT / room).rglob("*.py")
    }
    inside = {Path("specviz", path) if path.parts[0] == "app" else path for path in files}
    assert not [path for path in inside if not (site / path).exists()]
    code = (
        "import json; from specviz.base import files; from specviz.app.page import build_demo; "
        "build_demo(); "
        "from specviz.app.tabs.explore.recordings import opening; "
        "print(len(json.loads(opening().message())['steps']) > 5, files.ASSETS)"
    )
    assert used(site, tmp_path, "-c", code).strip().endswith(f"True {site / 'specviz' / 'assets'}")
    assert "demo" in used(site, tmp_path, "-m", "specviz", "demo", "--help")
