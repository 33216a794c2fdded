"""The texts that retrieval searches: this machine's Python standard library and a shipped text, as token ids.

Tokenising the standard library takes seconds and is done once: the result is kept in the user's cache folder, by
tokenizer and Python version, or in memory alone where nothing can be written.
"""

from __future__ import annotations

import sysconfig
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..files import TALES, from_cache, to_cache
from .suffixes import SuffixArray

SKIPPED = {"site-packages", "dist-packages", "test", "tests", "idle_test", "__pycache__", "pydoc_data", "encodings"}
LARGEST = 400_000  # characters of one file
BREAK = -1  # stands between two documents


@dataclass(frozen=True)
class Library:
    """Documents as one stream of tokens.

    Args:
        tokens: token ids, `BREAK` after each document, int32 [n].
        starts: where each document begins, [documents]; names: what it is called.
        newlines: how many line ends each token of the vocabulary holds, [V].
    """

    tokens: np.ndarray
    starts: np.ndarray
    names: tuple[str, ...]
    newlines: np.ndarray

    @cached_property
    def index(self) -> SuffixArray:
        """The suffix array of the tokens, made at the first use."""
        return SuffixArray(self.tokens)

    def where(self, place: int) -> tuple[str, int]:
        """The document that holds the token at `place`, and its line there, from 1."""
        document = int(np.searchsorted(self.starts, place, side="right")) - 1
        before = self.tokens[self.starts[document] : place]
        return self.names[document], 1 + int(self.newlines[before].sum())


def tales(pair: Any) -> np.ndarray:
    """The shipped text as token ids; a pair with a small `library` of its own is counted on that."""
    return _encoded(pair, [text for _, text in _own(pair) or [(TALES.name, TALES.read_text("utf-8"))]])


def _encoded(pair: Any, texts: Sequence[str]) -> np.ndarray:
    return np.array([token for text in texts for token in pair.encode(text)], dtype=np.int32)


def _own(pair: Any) -> list[tuple[str, str]] | None:
    return getattr(pair, "library", None)


_libraries: dict[tuple[int, bool], Library] = {}


def library(pair: Any, code: bool = True) -> Library:
    """The documents of a pair's library, made or read from the cache at the first use.

    Args:
        pair: its tokenizer is what counts.
        code: whether the standard library is among them.
    """
    key = (fingerprint(pair), code)
    if key not in _libraries:
        if len(_libraries) > 1:
            _libraries.clear()
        if own := _own(pair):
            _libraries[key] = _made(pair, own)
        else:
            _libraries[key] = _cached(pair, *key)
    return _libraries[key]


def fingerprint(pair: Any) -> int:
    """A number that two tokenizers share only if they cut a sample alike."""
    sample = "".join(text[:4000] for _, text in _own(pair) or [("", TALES.read_text("utf-8")[:4000])])
    return zlib.crc32(np.array([pair.vocab_size, *pair.encode(sample)], dtype=np.int32).tobytes())


def _cached(pair: Any, mark: int, code: bool) -> Library:
    stdlib = Path(sysconfig.get_paths()["stdlib"])
    version = f"{sysconfig.get_python_version()}-{zlib.crc32(str(stdlib).encode()):08x}"
    name = f"library-{mark:08x}-{version if code else 'text'}.npz"
    if found := from_cache(name, _read):
        return found
    made = _made(pair, [(TALES.name, TALES.read_text("utf-8")), *(_sources(stdlib) if code else ())])
    to_cache(name, lambda path: np.savez(
        path, tokens=made.tokens, starts=made.starts, names=np.array(made.names), newlines=made.newlines
    ))  # fmt: skip
    return made


def _read(path: Path) -> Library:
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as data:
        if damaged := data.zip.testzip():  # whose sums know of every bit that changed
            raise ValueError(f"{damaged} is damaged")
        names = tuple(str(name) for name in data["names"])
        return Library(data["tokens"], data["starts"], names, data["newlines"])


def _made(pair: Any, documents: Sequence[tuple[str, str]]) -> Library:
    streams, starts, place = [], [], 0
    for _, text in documents:
        stream = np.array([*pair.encode(text), BREAK], dtype=np.int32)
        streams.append(stream)
        starts.append(place)
        place += len(stream)
    newlines = np.array([pair.decode([token]).count("\n") for token in range(pair.vocab_size)], dtype=np.int32)
    return Library(np.concatenate(streams), np.array(starts), tuple(name for name, _ in documents), newlines)


def _sources(root: Path) -> Iterator[tuple[str, str]]:
    """The Python files of the standard library, (name, text)."""
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        if not SKIPPED.intersection(name.parts):
            try:
                text = path.read_text("utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            if 0 < len(text) <= LARGEST:
                yield name.as_posix(), text
