"""Retrieval: continuations of the last tokens in a library of texts (REST, He et al. 2023; suffix
decoding, 2024).

The longest end of the text that occurs anywhere counts. The row is what was counted there, without
smoothing, so no child is drawn that was never seen, and where nothing is found the tree ends.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from ..base.errors import ParameterError
from ..base.files import TALES
from ..sampling.distributions import probabilities
from .base import Drafter, DrafterSession

BREAK = -1  # stands between two documents
MODULES = (  # of the standard library, some 180,000 tokens
    "argparse",
    "ast",
    "collections/__init__",
    "contextlib",
    "csv",
    "dataclasses",
    "enum",
    "functools",
    "heapq",
    "json/decoder",
    "json/encoder",
    "random",
    "shutil",
    "statistics",
    "string",
    "textwrap",
    "threading",
)


class Retrieval(Drafter):
    """The counted continuations of the longest end of the text that is found."""

    name, title = "retrieval", "Retrieval"
    sparse = True
    small: ClassVar[dict[str, Any]] = {"shortest": 1}
    longest: int = Field(
        16, ge=1, le=16, title="Max match", description="Maximum number of last tokens to match."
    )
    shortest: int = Field(
        2, ge=1, le=16, title="Min match", description="Shorter matches are ignored."
    )
    code: bool = Field(
        True,
        title="Standard library",
        description="Also search modules of this machine's Python standard library.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.shortest > self.longest:
            must = f"be at most longest, {self.longest}"
            raise ParameterError("retrieval.shortest", must, self.shortest, "Reduce it.")
        return self

    def open(self, context):
        return RetrievalSession(
            self, library(context.pair, self.code), context.context, context.pair.vocab_size
        )


@dataclass(frozen=True)
class Library:
    """Documents as one stream of tokens, [n], `BREAK` after each; `lines` counts the line ends
    before a token, [n]."""

    tokens: np.ndarray
    lines: np.ndarray
    starts: np.ndarray
    names: tuple[str, ...]

    @cached_property
    def _order(self) -> np.ndarray:
        return np.argsort(self.tokens, kind="stable")

    def after(self, token: int) -> np.ndarray:
        """One past every occurrence of a token, in order."""
        first, last = np.searchsorted(
            self.tokens, np.array([token, token + 1], np.int32), sorter=self._order
        )
        return self._order[first:last] + 1

    def where(self, place: int) -> tuple[str, int]:
        """The document that holds the token at `place`, and its line there, from 1."""
        document = int(np.searchsorted(self.starts, place, side="right")) - 1
        return self.names[document], 1 + int(self.lines[place] - self.lines[self.starts[document]])


def longest_match(
    tokens: np.ndarray, text: np.ndarray, ends: np.ndarray, max_length: int
) -> tuple[int, np.ndarray]:
    """The longest end of `text` in `tokens`, at most `max_length` tokens: its length, and one past
    each occurrence.

    `ends` is one past each occurrence of the last token of `text`.
    """
    length = min(len(ends), 1)
    while 0 < length < min(max_length, len(text)):
        longer = ends[ends > length]
        longer = longer[tokens[longer - length - 1] == text[-length - 1]]
        if not len(longer):
            break
        length, ends = length + 1, longer
    return length, ends


def documents(pair: Any) -> list[tuple[str, str]]:
    """The shipped text, (name, text); a pair with a small `library` of its own has that."""
    return getattr(pair, "library", None) or [(TALES.name, TALES.read_text("utf-8"))]


def tales(pair: Any) -> np.ndarray:
    """The shipped text as token ids."""
    return np.array(
        [token for _, text in documents(pair) for token in pair.encode(text)], dtype=np.int32
    )


_libraries: dict[Any, Library] = {}


def library(pair: Any, code: bool = True) -> Library:
    """The documents that are searched, tokenised by the pair; with `code`, modules of Python among
    them."""
    texts = documents(pair)
    key = (
        code,
        pair.vocab_size,
        tuple(pair.encode(texts[0][1][:4000])),
    )  # two tokenizers cut it differently
    stored = _libraries.get(key)
    if stored is None:
        if code and not hasattr(pair, "library"):
            paths = [Path(sysconfig.get_paths()["stdlib"], f"{module}.py") for module in MODULES]
            texts = [
                *texts,
                *((path.name, path.read_text("utf-8")) for path in paths if path.exists()),
            ]
        streams = [np.array([*pair.encode(text), BREAK], dtype=np.int32) for _, text in texts]
        tokens, ends = np.concatenate(streams), np.cumsum([len(stream) for stream in streams])
        newlines = {
            token: pair.decode([token]).count("\n")
            for token in np.unique(tokens).tolist()
            if token != BREAK
        }
        lines = np.cumsum([0, *(newlines.get(token, 0) for token in tokens.tolist())])[:-1]
        stored = Library(tokens, lines, np.array([0, *ends[:-1]]), tuple(name for name, _ in texts))
        if len(_libraries) > 1:
            _libraries.clear()
        _libraries[key] = stored
    return stored


@dataclass(frozen=True)
class Match:
    """What followed each occurrence of the longest match, [m], and where in the library, -1 for the
    text so far."""

    length: int
    tokens: np.ndarray
    places: np.ndarray


class RetrievalSession(DrafterSession):
    """Retrieval for one text."""

    def __init__(
        self, drafter: Retrieval, stored: Library, context: Sequence[int], vocab_size: int
    ) -> None:
        super().__init__(drafter.name)
        self.drafter, self.stored, self.context, self.vocab_size = (
            drafter,
            stored,
            list(context),
            vocab_size,
        )
        self._matches: dict[tuple[int, ...], Match] = {}  # of this step, by the path below the root

    def look_up(self, path: tuple[int, ...]) -> Match:
        """What followed the longest end of the text and `path` that occurs, in the library or
        earlier in the text."""
        if path not in self._matches:
            stored, text = self.stored.tokens, np.array([*self.context, *path])
            earlier = np.flatnonzero(text[:-1] == text[-1]) + 1
            in_library = longest_match(
                stored, text, self.stored.after(text[-1]), self.drafter.longest
            )
            in_text = longest_match(text, text, earlier, self.drafter.longest)
            best = max(in_library[0], in_text[0])
            best = best if best >= self.drafter.shortest else 0
            places, ends = (
                ends if length == best > 0 else ends[:0] for length, ends in (in_library, in_text)
            )
            places = places[stored[places] != BREAK]
            tokens = np.concatenate([stored[places], text[ends]])
            self._matches[path] = Match(
                best, tokens, np.concatenate([places, np.full(len(ends), -1)])
            )
        return self._matches[path]

    def expand(self, tree, nodes, sampling):
        paths = (tuple(tree.tokens[step] for step in tree.topology.path(node)) for node in nodes)
        counts = [
            np.bincount(self.look_up(path).tokens, minlength=self.vocab_size).astype(float)
            for path in paths
        ]
        with np.errstate(divide="ignore"):
            return [probabilities(np.log(row), sampling) if row.any() else row for row in counts]

    def commit(self, tree, path, emitted, seen):
        self.context.extend(emitted)
        self._matches.clear()

    def describe_guess(self, tree, node, drafter):
        *path, token = (tree.tokens[step] for step in tree.topology.path(node))
        match = self.look_up(tuple(path))
        places = match.places[match.tokens == token]
        guess: dict[str, Any] = {"match": match.length, "seen": len(places)}
        if (in_library := places[places >= 0]).size:
            guess["where"], guess["line"] = self.stored.where(int(in_library[0]))
        elif places.size:
            guess["where"] = "this text"
        return guess
