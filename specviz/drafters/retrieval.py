"""Retrieval: continuations of the last tokens in a library of texts (REST, He et al. 2023; suffix decoding, 2024).

The longest end of the text that occurs anywhere counts. The row is what was counted there, without smoothing, so no
child is drawn that was never seen, and where nothing is found the tree ends.
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

from ..distributions import probabilities
from ..errors import ParameterError
from ..files import TALES
from .base import Drafter, DrafterSession

BREAK = -1  # stands between two documents
MODULES = (  # of the standard library, some 180,000 tokens
    "argparse", "ast", "collections/__init__", "contextlib", "csv", "dataclasses", "enum", "functools", "heapq",
    "json/decoder", "json/encoder", "random", "shutil", "statistics", "string", "textwrap", "threading",
)  # fmt: skip


class Retrieval(Drafter):
    """The counted continuations of the longest end of the text that is found."""

    name, title = "retrieval", "Retrieval"
    sparse = True
    small: ClassVar[dict[str, Any]] = {"shortest": 1}
    longest: int = Field(16, ge=1, le=16, title="Max match", description="Maximum number of last tokens to match.")
    shortest: int = Field(2, ge=1, le=16, title="Min match", description="Shorter matches are ignored.")
    code: bool = Field(
        True, title="Standard library", description="Also search modules of this machine's Python standard library."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.shortest > self.longest:
            raise ParameterError(
                "retrieval.shortest", f"be at most longest, {self.longest}", self.shortest, "Reduce it."
            )
        return self

    def open(self, context):
        return RetrievalSession(
            self.name, library(context.pair, self.code), self.longest, self.shortest, context.context,
            context.pair.vocab_size,
        )  # fmt: skip


@dataclass(frozen=True)
class Library:
    """Documents as one stream of tokens, [n], `BREAK` after each; `newlines` is token id -> line ends in it."""

    tokens: np.ndarray
    starts: np.ndarray
    names: tuple[str, ...]
    newlines: dict[int, int]

    @cached_property
    def _by_token(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.tokens, kind="stable")
        return order, self.tokens[order]

    def after(self, token: int) -> np.ndarray:
        """One past every occurrence of a token, in order."""
        order, tokens = self._by_token
        first, last = np.searchsorted(tokens, [token, token + 1])
        return order[first:last] + 1

    def where(self, place: int) -> tuple[str, int]:
        """The document that holds the token at `place`, and its line there, from 1."""
        document = int(np.searchsorted(self.starts, place, side="right")) - 1
        before = self.tokens[self.starts[document] : place].tolist()
        return self.names[document], 1 + sum(self.newlines[token] for token in before)


def longest_match(tokens: np.ndarray, text: np.ndarray, ends: np.ndarray, most: int) -> tuple[int, np.ndarray]:
    """The longest end of `text` in `tokens`, at most `most` tokens: its length, and one past each occurrence.

    `ends` is one past each occurrence of the last token of `text`.
    """
    length = min(len(ends), 1)
    while 0 < length < min(most, len(text)):
        longer = ends[ends > length]
        longer = longer[tokens[longer - length - 1] == text[-length - 1]]
        if not len(longer):
            break
        length, ends = length + 1, longer
    return length, ends


def tales(pair: Any) -> np.ndarray:
    """The shipped text as token ids; a pair with a small `library` of its own has that."""
    texts = [text for _, text in getattr(pair, "library", None) or [(TALES.name, TALES.read_text("utf-8"))]]
    return np.array([token for text in texts for token in pair.encode(text)], dtype=np.int32)


_libraries: dict[Any, Library] = {}


def library(pair: Any, code: bool = True) -> Library:
    """The documents that are searched, tokenised by the pair; with `code`, modules of Python among them."""
    documents = getattr(pair, "library", None) or [(TALES.name, TALES.read_text("utf-8"))]
    key = (code, pair.vocab_size, tuple(pair.encode(documents[0][1][:4000])))  # two tokenizers cut it differently
    found = _libraries.get(key)
    if found is None:
        if code and not hasattr(pair, "library"):
            paths = [Path(sysconfig.get_paths()["stdlib"], f"{module}.py") for module in MODULES]
            documents = [*documents, *((path.name, path.read_text("utf-8")) for path in paths if path.exists())]
        streams = [np.array([*pair.encode(text), BREAK], dtype=np.int32) for _, text in documents]
        tokens, ends = np.concatenate(streams), np.cumsum([len(stream) for stream in streams])
        newlines = {token: pair.decode([token]).count("\n") for token in np.unique(tokens).tolist() if token != BREAK}
        found = Library(tokens, np.array([0, *ends[:-1]]), tuple(name for name, _ in documents), newlines)
        if len(_libraries) > 1:
            _libraries.clear()
        _libraries[key] = found
    return found


@dataclass(frozen=True)
class Match:
    """What followed each occurrence of the longest match, [m], and where in the library, -1 for the text so far."""

    length: int
    tokens: np.ndarray
    places: np.ndarray


class RetrievalSession(DrafterSession):
    """Retrieval for one text."""

    def __init__(
        self, name: str, stored: Library, longest: int, shortest: int, context: Sequence[int], vocab_size: int
    ) -> None:
        super().__init__(name)
        self.stored, self.longest, self.shortest = stored, longest, shortest
        self.context, self.vocab_size = list(context), vocab_size
        self._matches: dict[tuple[int, ...], Match] = {}  # of this step, by the path below the root

    def look_up(self, path: tuple[int, ...]) -> Match:
        """What followed the longest end of the text and `path` that occurs, in the library or earlier in the text."""
        if path not in self._matches:
            text = np.array([*self.context, *path])
            earlier = np.flatnonzero(text[:-1] == text[-1]) + 1
            length, places = longest_match(self.stored.tokens, text, self.stored.after(text[-1]), self.longest)
            own_length, ends = longest_match(text, text, earlier, self.longest)
            best = max(length, own_length)
            if length < best or best < self.shortest:
                places = places[:0]
            if own_length < best or best < self.shortest:
                ends = ends[:0]
            places = places[self.stored.tokens[places] != BREAK]
            self._matches[path] = Match(
                best if best >= self.shortest else 0,
                np.concatenate([self.stored.tokens[places], text[ends]]),
                np.concatenate([places, np.full(len(ends), -1)]),
            )
        return self._matches[path]

    def expand(self, tree, nodes, sampling):
        rows = []
        for node in nodes:
            match = self.look_up(tuple(tree.tokens[step] for step in tree.topology.path(node)))
            counts = np.bincount(match.tokens, minlength=self.vocab_size).astype(float)
            if counts.any():
                with np.errstate(divide="ignore"):
                    counts = probabilities(np.log(counts), sampling)
            rows.append(counts)
        return rows

    def commit(self, tree, path, emitted, seen):
        self.context.extend(emitted)
        self._matches.clear()

    def describe_guess(self, tokens, drafter) -> dict[str, Any]:
        match = self.look_up(tuple(tokens[:-1]))
        places = match.places[match.tokens == tokens[-1]]
        guess = {"match": match.length, "seen": len(places)}
        in_library = places[places >= 0]
        if len(in_library):
            name, line = self.stored.where(int(in_library[0]))
            return guess | {"where": name, "line": line}
        return guess | ({"where": "this text"} if len(places) else {})
