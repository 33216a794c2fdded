"""GGUF files, the weights of llama.cpp, as folders that transformers and every pass here can read.

The packed numbers of a file are multiplied out once and saved in bfloat16, in the cache, under the
hash of the file. Nothing of a file is run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from filelock import FileLock, Timeout

from ...base.files import cache_folder, file_errors
from ...base.progress import Progress

BYTES = 2  # of a number in bfloat16
SPARE = 20_000_000  # bytes of tokenizer, configuration and what a file system needs
TICK = 0.2  # seconds between two looks at a process or a lock


def is_gguf(name: str) -> bool:
    """Whether `name` is that of a GGUF file, which may be missing."""
    return name.lower().endswith(".gguf")


def converted_folder(digest: str) -> Path:
    """The folder in the cache of the file with a SHA-256 `digest`; it exists once it is
    complete."""
    return cache_folder() / "models" / digest[:32]


def convert_file(file: Path) -> Iterator[Progress[Path]]:
    """Convert a GGUF file, unless that was done before; the last result is the folder.

    Raises:
        ValueError: if the file is missing or damaged, of an architecture that transformers does not
            read, or there is no space for the folder.
    """
    with file_errors(f"{file.name!r} cannot be read"):
        size = file.stat().st_size
        yield Progress(0, 2 * size, f"Reading {file.name}")
        with open(file, "rb") as content:
            # The hash names the result, so a file that was moved or renamed is not converted again.
            digest = sha256()
            while block := content.read(1 << 24):
                digest.update(block)
                yield Progress(content.tell(), 2 * size, f"Reading {file.name}")
    folder = converted_folder(digest.hexdigest())

    def make(work: Path) -> Iterator[Progress[Path]]:
        for _ in convert(file, work, folder):
            yield Progress(size, 2 * size, f"Converting {file.name}")

    yield from prepared(folder, 2 * size, make)


def prepared(
    folder: Path, total: int, make: Callable[[Path], Iterator[Progress[Path]]]
) -> Iterator[Progress[Path]]:
    """Make a folder where it is missing, in one process at a time; the last result is the folder.

    Args:
        folder: what is made.
        total: of the progress.
        make: makes it in a folder beside it for what is not complete, which is removed in the end,
            however that comes, and so is what a killed process has left.
    """
    work = folder.with_suffix(".part")
    # Not for one thread: a page may ask for the next progress from another one.
    lock = FileLock(folder.with_suffix(".lock"), thread_local=False)
    with file_errors(f"the cache folder {str(folder.parent)!r} cannot be written"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            while not (folder.is_dir() or lock.is_locked):
                try:
                    lock.acquire(timeout=TICK)
                except Timeout:
                    yield Progress(0, 1, "Waiting for another process that prepares the same model")
            if not folder.is_dir():
                shutil.rmtree(work, ignore_errors=True)
                work.mkdir()
                yield from make(work)
        finally:
            if lock.is_locked:
                shutil.rmtree(work, ignore_errors=True)
                lock.release()
    yield Progress(total, total, "Ready", folder)


def check_space(folder: Path, needed: int) -> None:
    """Raise an `OSError` where the disk of a folder has less free space than `needed`, in bytes."""
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE:
        raise OSError(
            f"{(needed + SPARE) / 1e6:,.0f} MB are needed there and {free / 1e6:,.0f} MB are free. "
            "Free some space, or set SPECVIZ_CACHE to a folder on another disk"
        )


def run_process(command: list[str], work: Path, failure: str, **environment: str) -> Iterator[None]:
    """Run a Python process and wait for it; yields every `TICK` seconds.

    Args:
        command: arguments of this Python's interpreter.
        work: a folder for its output.
        failure: what cannot be done if it fails; the last line of its output is the reason.
        environment: variables that differ from this process's.

    Raises:
        ValueError: if it fails. Where the caller stops, the process is ended.
    """
    with open(work / "output.txt", "w+b") as output:
        process = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | environment,
        )
        try:
            while process.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(TICK)
                yield
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        lines = output.read().decode("utf-8", "replace").split("\n")
    if process.returncode:
        last = next((line for line in reversed(lines) if line.strip()), "it was ended from outside")
        reason = re.sub(r"^(ValueError|OSError|ERROR): ", "", last.strip()).rstrip(".")
        raise ValueError(f"{failure}: {reason}.")


def convert(file: Path, work: Path, folder: Path) -> Iterator[None]:
    """Convert a GGUF file into `work`, then move the model to `folder`; yields while it works.

    A process of its own does it: its memory is given back, and it can be stopped.
    """
    command = ["-m", __name__, str(file), str(work / "model")]
    failure = f"{file.name!r} cannot be converted"
    yield from run_process(command, work, failure, PYTHONPATH=os.pathsep.join(sys.path))
    (work / "model").rename(folder)


def save_plain_model(file: Path, folder: Path) -> None:
    """Write the model of a GGUF file to a folder.

    transformers gives the numbers of a file to modules of its own, which cannot be saved, so they
    are copied to a model of the plain configuration; a tensor without a place in it, or a place
    without a tensor, is an error.
    """
    import torch
    from gguf import GGUFReader
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    weights = sum(int(tensor.n_elements) for tensor in GGUFReader(file).tensors)
    check_space(folder.parent, BYTES * weights)
    place = {"pretrained_model_name_or_path": file.parent, "gguf_file": file.name}
    tokenizer = AutoTokenizer.from_pretrained(**place)
    packed, report = AutoModelForCausalLM.from_pretrained(
        **place,
        dtype="bfloat16",
        quantization_config=GgufConfig(dequantize=True),
        output_loading_info=True,
    )
    if wrong := sorted([*report["missing_keys"], *report["unexpected_keys"]]):
        raise ValueError(f"its tensors and its architecture do not agree on {wrong[0]}")
    config = packed.config
    config._name_or_path = ""
    with torch.device("meta"):  # no numbers of its own
        plain = AutoModelForCausalLM.from_config(config, dtype="bfloat16")
    plain.load_state_dict(packed.state_dict(), assign=True)
    plain.tie_weights()
    plain.generation_config = packed.generation_config
    plain.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    save_plain_model(Path(sys.argv[1]), Path(sys.argv[2]))
