"""The import rules and the size of files, checked rather than hoped for."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted([*ROOT.glob("specviz/**/*.py"), *ROOT.glob("app/**/*.py")])
LEVELS = [
    {"tree", "randomness", "reading", "_version"},
    {"distributions"},
    {"config", "acceptance", "parameters", "laws", "cost_table", "orders"},
    {"record"},
    {"protocols"},
    {"builders", "verifiers", "models", "theory", "node_theory", "exact"},
    {"registry", "training"},
    {"decode", "train"},
    {"check", "measure", "cost", "bench_rules", "payload", "same_text", "sweep_grid", "synthetic", "microscope"},
    {"measure_nodes", "measure_paths", "measure_traces", "machines", "forecast", "microscope_rules"},
    {"agreement", "trials", "sweep", "scale"},
    {"promises", "choose"},
    {"studies"},
    {"plots"},
    {"bench", "offline"},
    {"bench_shape"},
    {"commands"},
    {"cli"},
    {"__main__", "app"},
]
LEVEL = {name: i for i, names in enumerate(LEVELS) for name in names}
ONLY = {
    "torch": ("specviz/models/", "specviz/training/", "specviz/bench.py"),
    "transformers": ("specviz/models/", "specviz/training/", "specviz/bench.py"),
    "gradio": ("app/",),
    "plotly": ("specviz/plots/", "app/"),
    "time": (
        "specviz/decode.py",
        "specviz/cost.py",
        "specviz/bench.py",
        "specviz/bench_shape.py",
        "specviz/train.py",
        "app/",
    ),
    "random": ("specviz/randomness.py", "specviz/training/"),
}


def relative(path):
    return path.relative_to(ROOT).as_posix()


def part(path):
    pieces = path.relative_to(ROOT).with_suffix("").parts
    return pieces[0] if pieces[0] == "app" else pieces[1]


def imports(path):
    """(module, names) of every import, relative ones resolved."""
    package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            if node.module:
                yield module, tuple(alias.name for alias in node.names)
            else:
                yield from ((f"{base}.{alias.name}", ()) for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_imports_point_down(path):
    mine = part(path)
    assert mine == "__init__" or mine in LEVEL, f"{relative(path)}: give {mine} a level"
    for module, _ in imports(path):
        pieces = module.split(".")
        if pieces[0] in ("specviz", "app") and mine != "__init__":
            other = pieces[0] if pieces[0] == "app" else [*pieces, ""][1]
            if other and other != mine:
                assert LEVEL[other] < LEVEL[mine], f"{relative(path)} imports {module}, which is not below it"


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_heavy_libraries_stay_where_they_belong(path):
    for module, _ in imports(path):
        allowed = ONLY.get(module.split(".")[0])
        assert allowed is None or relative(path).startswith(allowed), f"{relative(path)} imports {module}"


@pytest.mark.parametrize("kind", ["builders", "verifiers"])
def test_strategies_do_not_import_each_other(kind):
    shared = {"filling", "planned", "walk", "bars"}
    for path in ROOT.glob(f"specviz/{kind}/*.py"):
        if path.stem == "__init__":
            continue
        for module, _ in imports(path):
            pieces = module.split(".")
            if pieces[:1] == ["specviz"] and pieces[1] in ("builders", "verifiers", "models"):
                assert pieces[1] == kind and pieces[2] in shared, f"{relative(path)} imports {module}"


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_a_file_can_be_read_in_one_sitting(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


def test_random_numbers_are_made_in_one_place():
    for path in FILES:
        if not relative(path).startswith(("specviz/randomness.py", "specviz/models/table.py", "specviz/training/")):
            assert "np.random" not in path.read_text(encoding="utf-8"), relative(path)


def test_public_names_need_no_torch():
    import subprocess
    import sys

    code = (
        "import sys, specviz; specviz.run(specviz.toy_pair(), specviz.RunConfig('ab', max_new_tokens=3)); "
        "import specviz.cli; print(sorted({'torch', 'transformers', 'gradio', 'plotly'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_resolves():
    import specviz

    for name in specviz.__all__:
        if name != "load_pair":
            assert getattr(specviz, name) is not None
