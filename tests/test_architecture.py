"""The order of the rooms, checked rather than hoped for: imports point down this page."""

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted([*ROOT.glob("specviz/**/*.py"), *ROOT.glob("app/**/*.py")])

# The house from the cellar up: what stands in a line may import from the lines above it, and from
# its own room.
ROOMS = """
specviz/base
specviz/tree  specviz/sampling
specviz/config
specviz/record
specviz/passes  specviz/verifiers
specviz/models
specviz/drafters  specviz/builders
specviz/decode
specviz/proof
specviz/measure
specviz/papers  specviz/doctor  specviz/view  specviz/training
specviz/commands
specviz/__main__
app/service
app/tabs
app/api
app/page
app/app
"""
LEVEL = {room: level for level, line in enumerate(ROOMS.split("\n")) for room in line.split()}
# Which rooms know a heavy library, read a clock or make chance.
TRANSFORMERS = "specviz/measure/against_transformers.py"
ONLY = {
    "torch": f"specviz/passes specviz/models specviz/training {TRANSFORMERS}",
    "transformers": f"specviz/passes specviz/models specviz/training {TRANSFORMERS}",
    "gradio": "app",
    "numba": "specviz/passes/compiled",
    "llvmlite": "specviz/passes/compiled",
    "plotly": "specviz/view app",
    "time": "specviz/decode/session.py specviz/models/streamed specviz/measure specviz/training "
    "app",
    "random": "specviz/sampling/randomness.py specviz/training",
}
SHARED = {
    "static",
    "ranked",
    "worth",
    "plans",
    "step_costs",
    "frames",
    "decisions",
    "explanations",
    "models",
    "retrieval",
}  # what strategies have in common


def relative(path):
    return path.relative_to(ROOT).as_posix()


def room_of(module):
    """The room of a dotted module; None where it is a package's own front door."""
    pieces = module.split(".")
    if "/".join(pieces[:3]) in LEVEL:  # a file that stands below the rest of its folder
        return "/".join(pieces[:3])
    return "/".join(pieces[:2]) if len(pieces) > 1 else None


def file_of(module):
    """The file of a dotted module, or of the package that has the name."""
    at = ROOT / module.replace(".", "/")
    return next(
        (path for path in (at.with_suffix(".py"), at / "__init__.py") if path in FILES), None
    )


@cache
def imports(path):
    """Every module that a file imports, relative names resolved."""
    package, found = path.relative_to(ROOT).parts[:-1], []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            # `from . import tree` and `from specviz import studies` import modules
            inside = [f"{module}.{alias.name}" for alias in node.names]
            found += (name if file_of(name) else module for name in inside)
    return found


def test_imports_point_down():
    wrong = []
    for path in FILES:
        mine = room_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
        if mine.endswith("/__init__"):
            continue
        assert mine in LEVEL, f"{relative(path)}: give {mine} a line in ROOMS"
        for module in imports(path):
            if module == "specviz" and mine.startswith("specviz/"):
                wrong.append(f"{relative(path)} imports {module}, a way around this list")
            other = room_of(module)
            if module.split(".")[0] in ("specviz", "app") and other and other != mine:
                assert other in LEVEL, f"{relative(path)} imports {module}, which has no room"
                wrong += [f"{relative(path)} imports {module}"] * (LEVEL[other] >= LEVEL[mine])
    assert not wrong, "not below their files"


def test_heavy_libraries_stay_where_they_belong():
    everywhere = [
        f"{relative(path)} imports {module}"
        for path in FILES
        for module in imports(path)
        if (allowed := ONLY.get(module.split(".")[0]))
        and not relative(path).startswith(tuple(allowed.split()))
    ]
    assert everywhere == []


def test_no_circle_of_files():
    """Imports within functions and for types alone count as well."""
    arrows = {path: {file_of(module) for module in imports(path)} - {None, path} for path in FILES}
    for path in (ROOT / "assets/web").glob("**/*.js"):
        found = re.findall(r"""(?:from|import) ['"](\.[^'"]*)""", path.read_text(encoding="utf-8"))
        arrows[path] = [(path.parent / name).resolve() for name in found]
    TopologicalSorter(arrows).prepare()  # a CycleError names the files


def test_strategies_do_not_import_each_other():
    families = ("builders", "verifiers", "drafters")
    for path in FILES:
        pieces = path.relative_to(ROOT).parts
        if len(pieces) == 3 and pieces[1] in families and path.stem not in ("__init__", "base"):
            for module in imports(path):
                other = module.split(".")
                if (
                    other[0] == "specviz"
                    and other[1] in (*families, "models")
                    and other[2] != "base"
                ):
                    assert other[1] == pieces[1] and other[2] in SHARED, (
                        f"{relative(path)} imports {module}"
                    )


def test_a_file_can_be_read_in_one_sitting():
    lines = {relative(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {path: count for path, count in lines.items() if count > 350} == {}


def test_rooms_are_small():
    """At most 20 files in a folder, but for the commands."""
    files = [relative(path) for path in FILES if path.name not in ("__init__.py", "__main__.py")]
    rooms = Counter(path.rpartition("/")[0] for path in files)
    most = {"specviz/commands": 25}
    assert {room: count for room, count in rooms.items() if count > most.get(room, 20)} == {}


def test_tests_stand_in_folders_named_like_the_rooms():
    others = {".", "browser", "engine", "attack"}  # engine: the files of specviz/ itself
    for path in (ROOT / "tests").rglob("test_*.py"):
        room = path.parent.relative_to(ROOT / "tests").as_posix()
        assert (
            room in others
            or (ROOT / "specviz" / room).is_dir()
            or (ROOT / room / "__init__.py").exists()
        ), path


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (
            "np.random",
            (
                "specviz/sampling/randomness.py",
                "specviz/models/table.py",
                "specviz/proof/",
                "specviz/training/",
            ),
        ),
        (
            "__file__).resolve",
            ("specviz/base/files.py", "app/app.py"),
        ),  # the others ask specviz.base.files for what is shipped
    ],
)
def test_randomness_and_shipped_files_have_a_place_of_their_own(words, places):
    users = [relative(path) for path in FILES if words in path.read_text(encoding="utf-8")]
    assert [path for path in users if not path.startswith(places)] == []


def test_measurements_are_generators_and_call_nobody_back():
    """A callable that returns nothing can only be there to be given something."""
    rooms = tuple(f"specviz/{room}/" for room in ("measure", "proof"))
    for path in filter(lambda path: relative(path).startswith(rooms), FILES):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Callable":
                assert not ast.unparse(node).endswith("None]"), (
                    f"{relative(path)}: yield what is known so far"
                )
            if isinstance(node, ast.arg):
                assert node.arg not in ("progress", "tell", "callback"), (
                    f"{relative(path)}: {node.arg}"
                )


def test_public_names_need_no_torch():
    code = (
        "import sys, specviz; specviz.run(specviz.toy_pair(), specviz.RunConfig('ab', "
        "max_new_tokens=3)); "
        "import specviz.commands.cli; print(sorted({'torch', 'transformers', 'gradio', "
        "'plotly'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
