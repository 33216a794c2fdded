"""Text files and the standard library as streams of tokens, some documents held out of training."""

from __future__ import annotations

import re
import sysconfig
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

END_OF_TEXT = "<|endoftext|>"
KINDS = ("prose", "code")
DOCUMENT = 4000  # characters of a document, where a text has no end-of-text marks
SKIPPED_FOLDERS = {"site-packages", "dist-packages", "test", "tests", "idle_test", "__pycache__"}


@dataclass(frozen=True)
class Document:
    """A part of a text or a source file, "prose" or "code"; its name decides whether training may see it."""

    name: str
    kind: str
    text: str


@dataclass(frozen=True)
class Corpus:
    """Token streams by kind; end-of-text stands before every document."""

    train: dict[str, np.ndarray]
    held_out: dict[str, np.ndarray]

    @property
    def checksum(self) -> int:
        """A number that differs where the tokens do."""
        checksum = 0
        for stream in (*self.train.values(), *self.held_out.values()):
            checksum = zlib.crc32(stream.tobytes(), checksum)
        return checksum


def read_documents(
    text_files: Sequence[str | Path], code_folder: str | Path | None = None, code: bool = True
) -> list[Document]:
    """The documents of text files, then the Python files of a folder.

    Args:
        text_files: UTF-8 files.
        code_folder: where Python files are looked for; None for the standard library.
        code: whether they are read at all.

    Raises:
        ValueError: if a text file is missing, is not UTF-8 or holds no text.
    """
    documents = []
    for path in map(Path, text_files):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"text must name readable UTF-8 files; {str(path)!r} is not one: {error}.") from None
        if not text.strip():
            raise ValueError(f"text must name non-empty files; {str(path)!r} is empty.")
        documents += [Document(f"{path.name}#{i}", "prose", part) for i, part in enumerate(split_text(text))]
    root = Path(code_folder or sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")) if code else ():
        name = path.relative_to(root)
        source = "" if SKIPPED_FOLDERS & set(name.parts) else path.read_text(encoding="utf-8", errors="ignore")
        documents += [Document(name.as_posix(), "code", source)] if source.strip() else []
    return documents


def split_text(text: str) -> Iterator[str]:
    """Cut prose at end-of-text marks; where it has none, into groups of paragraphs of at least `DOCUMENT` characters.

    >>> list(split_text("one<|endoftext|>two"))
    ['one', 'two']
    """
    if END_OF_TEXT in text:
        yield from filter(None, map(str.strip, text.split(END_OF_TEXT)))
        return
    group = ""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        group = f"{group}\n\n{paragraph}" if group else paragraph
        if len(group) >= DOCUMENT:
            yield group
            group = ""
    if group:
        yield group


def held_out(documents: list[Document]) -> set[str]:
    """Names of the documents that training never sees: of each kind one in 50 by a hash of the name, at least one.

    Raises:
        ValueError: if there are fewer than two documents of a kind.
    """
    names = set()
    for kind in KINDS:
        hashes = {d.name: zlib.crc32(d.name.encode()) for d in documents if d.kind == kind}
        if len(hashes) < 2:
            raise ValueError(
                f"the corpus must have at least two documents of {kind}, one to hold out; got {len(hashes)}."
            )
        names |= {name for name, value in hashes.items() if value % 50 == 0} or {min(hashes, key=hashes.__getitem__)}
    return names


def train_tokenizer(documents: list[Document], vocabulary: int) -> Tokenizer:
    """Byte-level byte-pair encoding learnt on the training documents; end-of-text is token 0."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=[END_OF_TEXT], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    excluded = held_out(documents)
    tokenizer.train_from_iterator((d.text for d in documents if d.name not in excluded), trainer)
    return tokenizer


def encode(documents: list[Document], tokenizer: Tokenizer, excluded: set[str], end: Sequence[int] = (0,)) -> Corpus:
    """Tokenise every document into the stream of its kind, in training or held out.

    Args:
        documents, tokenizer: what to encode, and how.
        excluded: names of the documents that are held out.
        end: the tokens that stand before each document.
    """
    parts: dict[tuple[str, bool], list[int]] = {(kind, out): [] for kind in KINDS for out in (False, True)}
    encodings = tokenizer.encode_batch([document.text for document in documents], add_special_tokens=False)
    for document, encoding in zip(documents, encodings, strict=True):
        parts[document.kind, document.name in excluded] += [*end, *encoding.ids]
    train, out = ({kind: np.array(parts[kind, side], np.int32) for kind in KINDS} for side in (False, True))
    return Corpus(train, out)


def random_windows(
    streams: dict[str, np.ndarray], rng: np.random.Generator, count: int, length: int, code_share: float
) -> np.ndarray:
    """Random spans of tokens, [count, length], each from code with probability `code_share`."""
    rows = []
    for is_code in rng.random(count) < code_share:
        stream = streams[KINDS[int(is_code)]]
        start = rng.integers(0, max(1, len(stream) - length + 1))
        rows.append(np.resize(stream[start : start + length], length))
    return np.stack(rows)
