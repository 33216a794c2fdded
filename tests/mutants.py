"""Would the tests notice? Each edit below breaks the engine in a copy of the tree, and the test
beside it must fail.

    python tests/mutants.py             # all of them, some minutes; `make mutants`
    python tests/mutants.py staged      # those whose file or test holds the word

It exits with 1 if an edit survives, or if a test fails without any edit; and at once, with their
names, if some no longer apply.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Edit(NamedTuple):
    """One mistake: `old` stands once in `file`, from the folder specviz, and becomes `new`; `test`
    must fail."""

    file: str
    old: str
    new: str
    test: str


TIMEOUT = 600  # seconds
EDITS = [
    Edit(**edit)
    for edit in tomllib.loads((ROOT / "tests/mutants.toml").read_text(encoding="utf-8"))["edit"]
]


def copy(folder: Path) -> None:
    """The tree as it is, with its large files linked."""
    for name in ("specviz", "app", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "assets").symlink_to(ROOT / "assets")


def passes(folder: Path, *tests: str) -> bool:
    """Whether tests pass in a copy.

    Raises:
        RuntimeError: if they could not be run.
    """
    options = ["-x", "-p", "no:cacheprovider", "-m", "nightly or not nightly"]
    command = [sys.executable, "-B", "-m", "pytest", *options, *tests]
    environment = os.environ | {"PYTHONPATH": ""}
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, env=environment, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:  # a test that waits for ever has noticed
        return False
    if done.returncode not in (0, 1):  # 1: a test failed
        raise RuntimeError(
            f"{', '.join(tests)} could not be run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return done.returncode == 0


def mutant_of(edit: Edit) -> str | None:
    """The text of a file with an edit, None where what it replaces does not stand there once."""
    path = ROOT / "specviz" / edit.file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return text.replace(edit.old, edit.new) if text.count(edit.old) == 1 else None


def main(words: list[str]) -> int:
    edits = [
        edit for edit in EDITS if not words or any(word in edit.file + edit.test for word in words)
    ]
    mutants = {edit: mutant_of(edit) for edit in edits}
    if missing := [edit for edit in edits if mutants[edit] is None]:
        print("Give tests/mutants.toml the text that stands there now:")
        print(
            "\n".join(f"not found  {edit.file}: {' '.join(edit.old.split())}" for edit in missing)
        )
        return 1
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        copy(folder)
        if not passes(folder, *{edit.test: None for edit in edits}):
            print("A test fails without any edit, so it says nothing about them.")
            return 1
        for edit in edits:
            path = folder / "specviz" / edit.file
            text = path.read_text(encoding="utf-8")
            path.write_text(mutants[edit], encoding="utf-8")
            result = "survived" if passes(folder, edit.test) else "killed"
            path.write_text(text, encoding="utf-8")
            bad += result == "survived"
            print(
                (
                    f"{result:8} {edit.file}: {' '.join(edit.old.split())} -> "
                    f"{' '.join(edit.new.split())}"
                ),
                flush=True,
            )
    print(f"{len(edits) - bad} of {len(edits)} killed")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
