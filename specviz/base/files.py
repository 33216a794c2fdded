"""Where shipped files are; user files, read up to a limit and written atomically; and the cache.

A failure of a user file is a `ValueError` with one sentence. A failure of the cache is logged, and
it is rebuilt.
"""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from secrets import token_hex
from shutil import copymode
from typing import Any, TypeVar

from filelock import FileLock, Timeout
from pydantic_core import from_json

from .errors import cause

__version__ = "0.1.0"
HERE = Path(__file__).resolve().parent.parent
# An installed package carries its files inside; in a checkout they lie beside it.
ASSETS = HERE / "assets"
if not ASSETS.is_dir():
    ASSETS = HERE.parent / "assets"
PAIR = ASSETS / "pair"
ACCEPTANCE = ASSETS / "acceptance"
TRACES = ASSETS / "traces"
WEB = ASSETS / "web"  # what the browser gets: scripts, styles, templates
CURVES = ASSETS / "curves.json"
CHAINS = ASSETS / "chains.json"
TALES = ASSETS / "library" / "tales.txt"
HELD_OUT = ASSETS / "prompts.json"
QUESTIONS = ASSETS / "questions.txt"  # for chat models, one a line

MOST_TEXT = 64_000_000  # bytes of a text
# Bytes of a recorded run; one of 64 steps with trees of 33 nodes takes about 300 kB.
MOST_TRACE = 4_000_000


def read_table(name: str) -> dict[str, Any]:
    """A shipped TOML file, by its path below `ASSETS`."""
    return tomllib.loads((ASSETS / name).read_text(encoding="utf-8"))


@contextmanager
def file_errors(failure: str) -> Iterator[None]:
    """Make errors of the system a `ValueError` of one sentence, the `failure` and its reason."""
    try:
        yield
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", "it is no text in UTF-8 or UTF-16") or error
        raise ValueError(f"{failure}: {str(reason).rstrip('.')}.") from None


def read_text(path: str | Path, what: str, limit: int = MOST_TEXT) -> str:
    """A file of at most `limit` bytes as text; the path may be a device or a pipe.

    Raises:
        ValueError: if it cannot be read, is longer, or not UTF-8; the message calls it `what`.
    """
    with file_errors(f"{what} {str(path)!r} cannot be read"):
        with open(path, "rb") as file:
            # One byte more than allowed tells a longer file, also of a pipe that has no size.
            data = file.read(limit + 1)
        if len(data) > limit:
            raise OSError(f"it must have at most {limit:,} bytes. Use a shorter file")
        return data.decode(encoding_of(data))


def encoding_of(data: bytes) -> str:
    """The encoding of a text: UTF-16 where it begins as a redirection of PowerShell does, else
    UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    return "utf-8-sig"


def parse_json(text: str | bytes) -> Any:
    """JSON as plain data; nan and infinity are none. Errors are `ValueError`s."""
    return from_json(text, allow_inf_nan=False)


def write_text(path: str | Path, text: str) -> None:
    """Write text as UTF-8; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a temporary file and move it to its place, so that a full disk keeps the old file."""
    check_output(path)
    with file_errors(f"{str(path)!r} cannot be written"):
        # A pipe or a device cannot be replaced.
        if os.path.exists(path) and not os.path.isfile(path):
            Path(path).write_bytes(data)
            return
        place = Path(path).resolve()  # through a link, whose target is what is meant
        part = place.with_name(f".specviz-{token_hex(6)}")
        try:
            with open(part, "xb") as file:
                file.write(data)
                file.flush()
                # On the disk before it takes the old one's place: a power cut leaves one of the
                # two.
                os.fsync(file.fileno())
            if place.exists():
                copymode(place, part)
            os.replace(part, place)
        finally:
            part.unlink(missing_ok=True)


def check_output(path: str | Path, *inputs: str | Path | None) -> None:
    """Check that a file can be written and is none of the `inputs`, before the work for its
    content."""
    place = Path(path)
    with file_errors(f"{str(path)!r} cannot be written"):
        # Before the work: an hour of measuring must not end at a misspelt folder.
        if not place.parent.is_dir():
            raise OSError(f"there is no folder {str(place.parent)!r}")
        if place.is_dir():
            raise OSError("it is a folder")
        for other in inputs:
            if other and place.exists() and Path(other).exists() and place.samefile(other):
                raise OSError("it is also an input. Choose another output file")
        with suppress(FileNotFoundError):
            place.stat()  # raises where a name is too long, and where a link leads to itself


@contextmanager
def file_lock(path: str | Path) -> Iterator[None]:
    """Lock a file against other processes, by a file beside it; `ValueError` if another has it."""
    with file_errors(f"{str(path)!r} cannot be written"):
        if os.path.exists(path) and not os.path.isfile(path):
            raise OSError("it is not a file")
        try:
            # Opened to be written, so that a folder without permission is reported at once.
            with open(path, "ab"), FileLock(f"{path}.lock", blocking=False):
                try:
                    yield
                finally:
                    with suppress(OSError):  # Windows removes it when it is released
                        os.unlink(f"{path}.lock")
        except Timeout:
            raise OSError("another process is writing it") from None


Result = TypeVar("Result")


def cache_folder() -> Path:
    """The cache folder: SPECVIZ_CACHE, or specviz in the user's cache folder; `RuntimeError`
    without a home folder."""
    if folder := os.environ.get("SPECVIZ_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "specviz"


def from_cache(name: str, read: Callable[[Path], Result]) -> Result | None:
    """What `read` finds in a file of the cache; None where there is none or anything is wrong with
    it."""
    try:
        return read(cache_folder() / name)
    except FileNotFoundError:
        return None
    except Exception as error:  # whatever it is, the file can be made again
        _log_cache(f"cannot be read and is rebuilt ({name}): {printable(cause(error))}")
        return None


def to_cache(name: str, content: str | bytes) -> None:
    """Write a file of the cache; where that fails, it is not kept."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        # A cache that cannot be written costs time, and is no error of the run.
        if isinstance(content, str):
            content = content.encode("utf-8")
        write_bytes(cache_folder() / name, content)
    except (OSError, RuntimeError, ValueError) as error:
        _log_cache(f"cannot be written ({name}): {printable(cause(error))}")


@cache
def _log_cache(sentence: str) -> None:
    logging.getLogger(__name__).warning("the cache %s", sentence)


def printable(text: str) -> str:
    """`text` without the control characters by which it could command a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
