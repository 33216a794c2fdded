"""Compiled passes, compiled once for all workers and not by each of them."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "specviz/passes/compiled"
FOLDER = ROOT / ".pytest_cache/compiled"
COMPLETE = FOLDER / "complete"  # younger than the sources that were compiled
COMPILE = """
import pathlib, sys, specviz
for dtype in ("bfloat16", "float32"):
    specviz.load_pair(device="cpu", dtype=dtype)
pathlib.Path(sys.argv[1]).touch()
"""


def keep_in_one_folder():
    """Have compiled code in one folder, whatever a test sets SPECVIZ_CACHE to."""
    os.environ.setdefault("NUMBA_CACHE_DIR", str(FOLDER))


def is_compiled():
    """Whether all was compiled after its sources were changed."""
    changed = max(path.stat().st_mtime for path in SOURCES.glob("*.py"))
    return COMPLETE.exists() and COMPLETE.stat().st_mtime > changed


class Compiler:
    """A plugin of the process that hands out tests: it compiles beside the browser tests, which
    come first and wait for pages, what otherwise each worker would compile, for 45 seconds."""

    def __init__(self):
        self.process = None

    def pytest_sessionstart(self):
        if not is_compiled():
            self.process = subprocess.Popen(
                [sys.executable, "-c", COMPILE, COMPLETE], cwd=ROOT, stderr=subprocess.DEVNULL
            )

    def pytest_sessionfinish(self):
        if self.process:
            self.process.kill()
            self.process.wait()
