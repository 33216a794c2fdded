"""Retrieval: continuations of the last tokens in a library of texts (REST, He et al. 2023) and in
the text so far (suffix decoding, Oliaro et al. 2024, arXiv 2411.04975).

The longest end of the text that occurs anywhere counts. The row is what was counted there, without
smoothing, so no child is drawn that was never seen, and where nothing is found the tree ends.

Suffix decoding as engines have it searches the prompt and the text alone, drafts the more tokens
the longer the match, and stops where the counted probability of a path falls below a limit:
`retrieval:library=false,longest=24,shortest=1,factor=1,least=0.1`.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from ..base.codec import JsonObject
from ..base.errors import ParameterError
from ..base.files import TALES
from ..config.strategy import number
from ..models.base import Pair
from ..sampling.distributions import Sampling, probabilities
from ..tree import TokenTree
from .base import Drafter, DrafterContext, DrafterSession, TargetOutputs

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

    name = "retrieval"
    title = "Retrieval"
    sparse = True
    small: ClassVar[JsonObject] = {"shortest": 1}
    longest: int = number(16, 1, 64, "Max match", "Maximum number of last tokens to match.")
    shortest: int = number(2, 1, 64, "Min match", "Shorter matches are ignored.")
    factor: float = number(
        0.0,
        0.0,
        64.0,
        "Length by match",
        "Draft at most this many tokens for each token of the match; 0 for no limit.",
    )
    least: float = number(
        0.0,
        0.0,
        1.0,
        "Least probability",
        "Draft no token whose path was counted with a lower probability.",
    )
    library: bool = Field(
        True,
        title="Library",
        description="Also search a library of texts, not only the prompt and the text so far.",
    )
    code: bool = Field(
        True,
        title="Standard library",
        description="The library has modules of this machine's Python standard library too.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.shortest > self.longest:
            must = f"be at most longest, {self.longest}"
            raise ParameterError("retrieval.shortest", must, self.shortest, "Reduce it.")
        return self

    def open(self, context: DrafterContext) -> RetrievalSession:
        stored = NO_LIBRARY
        if self.library:
            stored = library(context.pair, self.code)
        return RetrievalSession(self, stored, context.context, context.pair.vocab_size)


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
        # Between them lie all places of the token, since `_order` sorts places by their token.
        first, last = np.searchsorted(
            self.tokens, np.array([token, token + 1], np.int32), sorter=self._order
        )
        return self._order[first:last] + 1

    def where(self, place: int) -> tuple[str, int]:
        """The document that holds the token at `place`, and its line there, from 1."""
        document = int(np.searchsorted(self.starts, place, side="right")) - 1
        return self.names[document], 1 + int(self.lines[place] - self.lines[self.starts[document]])


NO_LIBRARY = Library(np.array([], np.int32), np.array([], int), np.array([], int), ())


def longest_match(
    tokens: np.ndarray, text: np.ndarray, ends: np.ndarray, max_length: int
) -> tuple[int, np.ndarray]:
    """The longest end of `text` in `tokens`, at most `max_length` tokens: its length, and one past
    each occurrence.

    `ends` is one past each occurrence of the last token of `text`.
    """
    length = min(len(ends), 1)
    while 0 < length < min(max_length, len(text)):
        longer = ends[ends > length]  # nothing stands before the beginning
        longer = longer[tokens[longer - length - 1] == text[-length - 1]]
        if not len(longer):
            break
        length += 1
        ends = longer
    return length, ends


def documents(pair: Pair) -> list[tuple[str, str]]:
    """The shipped text, (name, text); a pair with a small `library` of its own has that."""
    return getattr(pair, "library", None) or [(TALES.name, TALES.read_text("utf-8"))]


def tokenizer_key(pair: Pair) -> tuple[int, ...]:
    """What tells tokenizers apart: each cuts the beginning of the shipped text in its own way."""
    return pair.vocab_size, *pair.encode(documents(pair)[0][1][:4000])


_libraries: dict[tuple[int, ...], Library] = {}


def library(pair: Pair, code: bool = True) -> Library:
    """The documents that are searched, tokenised by the pair; with `code`, modules of Python among
    them."""
    key = (code, *tokenizer_key(pair))
    if key not in _libraries:
        texts = documents(pair)
        if code and not hasattr(pair, "library"):
            paths = []
            for module in MODULES:
                paths.append(Path(sysconfig.get_paths()["stdlib"], f"{module}.py"))
            for path in paths:
                if path.exists():
                    texts.append((path.name, path.read_text("utf-8")))
        if len(_libraries) > 1:  # with and without code, of one tokenizer
            _libraries.clear()
        _libraries[key] = _tokenized(pair, texts)
    return _libraries[key]


def _tokenized(pair: Pair, texts: Sequence[tuple[str, str]]) -> Library:
    streams = []
    for _, text in texts:
        streams.append(np.array([*pair.encode(text), BREAK], dtype=np.int32))
    tokens = np.concatenate(streams)
    ends = np.cumsum(list(map(len, streams)))
    # Each token that occurs is decoded once, not each of its occurrences.
    newlines = {BREAK: 0}
    for token in np.unique(tokens[tokens != BREAK]).tolist():
        newlines[token] = pair.decode([token]).count("\n")
    lines = np.cumsum([0, *(newlines[token] for token in tokens.tolist())])[:-1]
    return Library(tokens, lines, np.array([0, *ends[:-1]]), tuple(name for name, _ in texts))


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
        self.drafter = drafter
        self.stored = stored
        self.context = list(context)
        self.vocab_size = vocab_size
        self._matches: dict[tuple[int, ...], Match] = {}  # of this step, by the path below the root

    def look_up(self, path: tuple[int, ...]) -> Match:
        """What followed the longest end of the text and `path` that occurs, in the library or
        earlier in the text."""
        if path not in self._matches:
            self._matches[path] = self._find(np.array([*self.context, *path]))
        return self._matches[path]

    def _find(self, text: np.ndarray) -> Match:
        stored = self.stored.tokens
        longest = self.drafter.longest
        library_length, places = longest_match(stored, text, self.stored.after(text[-1]), longest)
        earlier = np.flatnonzero(text[:-1] == text[-1]) + 1
        text_length, ends = longest_match(text, text, earlier, longest)
        length = max(library_length, text_length)
        if length < self.drafter.shortest:
            length = 0
        # Only the longest matches count, wherever they are.
        if not length or library_length < length:
            places = places[:0]
        if not length or text_length < length:
            ends = ends[:0]
        places = places[stored[places] != BREAK]
        tokens = np.concatenate([stored[places], text[ends]])
        return Match(length, tokens, np.concatenate([places, np.full(len(ends), -1)]))

    def expand(self, tree: TokenTree, nodes: Sequence[int], sampling: Sampling) -> list[np.ndarray]:
        rows = []
        for node in nodes:
            row = self.counts_after(tree.path_tokens(node))
            if row.any():
                with np.errstate(divide="ignore"):
                    row = probabilities(np.log(row), sampling)
            rows.append(row)
        return rows

    def counts_after(self, path: tuple[int, ...]) -> np.ndarray:
        """How often each token followed a path, [V]; 0 for those that are not to be drafted."""
        tokens = self.look_up(path).tokens
        counts = np.bincount(tokens, minlength=self.vocab_size).astype(float)
        factor = self.drafter.factor
        if factor and len(path) >= int(factor * self.look_up(()).length):
            return np.zeros(self.vocab_size)
        # The chance of the path by the counts themselves, as they are before sampling's filters.
        path_prob = 1.0
        for i, token in enumerate(path):
            followed = self.look_up(path[:i]).tokens
            path_prob *= (followed == token).sum() / max(1, len(followed))
        counts[path_prob * counts < self.drafter.least * len(tokens)] = 0.0
        return counts

    def commit(
        self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int], seen: TargetOutputs
    ) -> None:
        self.context.extend(emitted)
        self._matches.clear()

    def describe_guess(self, tree: TokenTree, node: int, drafter: str) -> JsonObject:
        *path, token = tree.path_tokens(node)
        match = self.look_up(tuple(path))
        places = match.places[match.tokens == token]
        guess: JsonObject = {"match": match.length, "seen": len(places)}
        # A place in the library says more to a reader than one in the text before their eyes.
        in_library = places[places >= 0]
        if len(in_library):
            guess["where"], guess["line"] = self.stored.where(int(in_library[0]))
        elif len(places):
            guess["where"] = "this text"
        return guess
