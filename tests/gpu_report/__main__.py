"""The report of this machine's GPU: whether it computes what the CPU computes, and how fast.

`python -m tests.gpu_report --out FOLDER` runs every part in a process of its own with a time limit.
What a check finds is a line of FOLDER/report.jsonl at once; a part that fails leaves its error
there, and the next one starts. FOLDER/report.md has the tables. The exit code is 1 where anything
was wrong. `--device cpu --tiny` tries it without a GPU.
"""

import argparse
import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from .lines import Lines, Setting, is_wrong, read
from .tables import markdown


class Part(NamedTuple):
    """What one process does.

    Args:
        limit: seconds that it may take.
        checks: module and name of a function of this folder, which makes the checks.
        arguments: what it is given after the lines and the setting.
    """

    limit: float
    checks: str
    arguments: tuple = ()


LLAMA_68M = "random:llama-68m"
HEADS = ("eagle", "block", "early-exit:layers=10")
PARTS = {
    "machine": Part(30, "about.about"),
    "right-smollm2": Part(120, "right.right", ("smollm2", None, HEADS)),
    "right-llama-68m": Part(90, "right.right", (LLAMA_68M, LLAMA_68M, ("model",))),
    "right-grouped": Part(90, "right.right", ("random:tinyllama-1.1b", LLAMA_68M, ("model",))),
    "fast-smollm2": Part(60, "fast.fast", ("smollm2", None)),
    # No shape of a small draft has its vocabulary.
    "fast-llama-3.2-1b": Part(50, "fast.fast", ("random:llama-3.2-1b", "early-exit:2")),
    "fast-llama-2-7b": Part(75, "fast.fast", ("random:llama-2-7b", LLAMA_68M)),
    "fast-llama-2-7b-160m": Part(60, "fast.fast", ("random:llama-2-7b", "random:llama-160m")),
    "compiled-smollm2": Part(90, "fast.compiled", ("smollm2", None)),
}
MINUTES = sum(part.limit for part in PARTS.values()) / 60
TINY = {
    "machine": Part(60, "about.about"),
    "right-tiny": Part(60, "right.right", ("random:tiny", "random:tiny", ("model",))),
    "fast-tiny": Part(60, "fast.fast", ("random:tiny", "random:tiny")),
}


def run_here(name, part, file, setting):
    """Make the checks of a part in this process."""
    lines = Lines(file, name)
    module, function = part.checks.split(".")

    def checks():
        # Only here: the process that starts the others needs no torch.
        getattr(import_module(f"tests.gpu_report.{module}"), function)(
            lines, setting, *part.arguments
        )
        return {}

    with lines.warnings():
        lines.check("part", checks)


def run_apart(name, part, file, arguments, scale):
    """Start a part in a process of its own; returns what waits for it."""
    command = [sys.executable, "-m", "tests.gpu_report", "--only", name, *arguments]
    process = subprocess.Popen(command)
    end = monotonic() + scale * part.limit

    def wait():
        error = None
        try:
            code = process.wait(max(0.1, end - monotonic()))
            if code:
                error = f"its process ended with {code}"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            error = f"stopped after {scale * part.limit:.0f} s"
        if error:
            Lines(file, name).add("part", error=error)

    return wait


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.gpu_report", description=__doc__)
    parser.add_argument("--device", default="cuda", help="cuda, cuda:0, ... or cpu")
    parser.add_argument("--out", type=Path, default=Path("gpu-report"), help="a folder")
    parser.add_argument("--part", action="append", help="only parts whose name begins so")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="scales the limits of parts")
    parser.add_argument("--tiny", action="store_true", help="small shapes, for a test")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    parts = TINY if options.tiny else PARTS
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "report.jsonl"
    if options.only:
        run_here(options.only, parts[options.only], file, Setting(options.device, options.tiny))
        return 0
    lines = read(file)
    before = len(lines)
    text = ""
    scale = options.minutes / MINUTES
    arguments = ["--device", options.device, "--out", str(options.out), *["--tiny"] * options.tiny]
    chosen = {}
    for name, part in parts.items():
        if not options.part or any(name.startswith(one) for one in options.part):
            chosen[name] = partial(run_apart, name, part, file, arguments, scale)
    # Whether it is right reads no clock, so those parts run side by side; all others alone.
    together = [name for name in chosen if name.startswith("right")]
    for name in chosen:
        if name in together[1:]:
            continue
        waiting = [chosen[one]() for one in (together if name in together else [name])]
        for wait in waiting:
            wait()
        lines = read(file)
        text = markdown(lines)
        (options.out / "report.md").write_text(text, encoding="utf-8")
    print(text)
    return int(any(map(is_wrong, lines[before:])))


if __name__ == "__main__":
    sys.exit(main())
