"""The tensors in the safetensors files of a folder, and whether they fit what they are for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor

from ...base.errors import cause
from ..hub import weight_files


class Checkpoint(Mapping[str, Tensor]):
    """The tensors of a folder by their names; each is read when it is asked for.

    Attributes:
        types: the type of each, as the headers of the files name it.

    Raises:
        ValueError: if a file cannot be read or is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.types: dict[str, str] = {}
        self._file_of: dict[str, Path] = {}
        for file in weight_files(folder):
            with _errors_of(file), safe_open(file, "pt") as weights:
                for name in weights.keys():  # noqa: SIM118  # it is no dictionary
                    self.types[name] = weights.get_slice(name).get_dtype()
                    self._file_of[name] = file

    def __getitem__(self, name: str) -> Tensor:
        file = self._file_of[name]
        with _errors_of(file), safe_open(file, "pt") as weights:
            return weights.get_tensor(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._file_of)

    def __len__(self) -> int:
        return len(self._file_of)


@contextmanager
def _errors_of(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ValueError(f"{file.name} cannot be read: {cause(error)}.") from error
    except SafetensorError as error:
        raise ValueError(f"{file.name} is damaged: {cause(error)}.") from error


def check_tensors(
    subject: str,
    expected: Mapping[str, Tensor],
    found: Mapping[str, Tensor],
    hint: str,
) -> None:
    """Raise a `ValueError` that names a tensor which one side lacks, or whose shapes differ.

    Args:
        subject: what the tensors are of, with where it is.
        expected, found: those of its configuration, and those of its files.
        hint: what to do, a sentence.
    """
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            wrong = "it is missing"
        elif name not in expected:
            wrong = "it is left over"
        elif expected[name].shape != found[name].shape:
            shape = tuple(found[name].shape)
            wrong = f"its shape must be {tuple(expected[name].shape)}; got {shape}"
        else:
            continue
        raise ValueError(
            f"{subject}: its tensors and its config.json do not agree on {name}: {wrong}. {hint}"
        )
