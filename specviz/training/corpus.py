"""Text files and the standard library as streams of tokens."""

from __future__ import annotations

import re
import sysconfig
import zlib
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

END_OF_TEXT = "<|endoftext|>"
KINDS = ("prose", "code")
DOCUMENT = 4000  # characters of a document, where a text has no end-of-text marks
SKIPPED_FOLDERS = {"site-packages", "dist-packages", "test", "tests", "idle_test", "__pycache__"}
Texts = dict[str, list[str]]  # kind -> documents
Streams = dict[str, np.ndarray]  # kind -> token ids


def read_texts(
    text_files: Sequence[str | Path], code_folder: str | Path | None = None, code: bool = True
) -> Texts:
    """The documents of text files, and the Python files of a folder."""
    texts: Texts = {kind: [] for kind in KINDS}
    for path in map(Path, text_files):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(
                f"text must name readable UTF-8 files; {str(path)!r} is not one: {error}."
            ) from None
        if not text.strip():
            raise ValueError(f"text must name non-empty files; {str(path)!r} is empty.")
        texts["prose"] += split_text(text)
    # Python's own library is text that every machine has.
    root = Path(code_folder or sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")) if code else ():
        if not SKIPPED_FOLDERS & set(path.relative_to(root).parts):
            texts["code"].append(path.read_text(encoding="utf-8", errors="ignore"))
    if code and not any(map(str.strip, texts["code"])):
        raise ValueError(f"code must be a folder with Python files; {str(root)!r} has none.")
    return texts


def split_text(text: str) -> Iterator[str]:
    """Cut prose at end-of-text marks; where it has none, into groups of paragraphs of at least
    `DOCUMENT` characters.

    >>> list(split_text("one<|endoftext|>two"))
    ['one', 'two']
    """
    # Marks say where documents end; without them groups of paragraphs stand for documents.
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


def train_tokenizer(texts: Texts, vocabulary: int) -> Tokenizer:
    """Byte-level byte-pair encoding learnt on the documents; end-of-text is token 0."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END_OF_TEXT],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(chain(*texts.values()), trainer)
    return tokenizer


def encode(texts: Texts, tokenizer: Tokenizer, end: Sequence[int] = (0,)) -> Streams:
    """The token ids of every document in the stream of its kind, with the tokens `end` before
    each."""
    streams = {}
    for kind, documents in texts.items():
        encodings = tokenizer.encode_batch(documents, add_special_tokens=False)
        ids: list[int] = []
        for encoding in encodings:
            ids += [*end, *encoding.ids]
        streams[kind] = np.array(ids, np.int32)
    return streams


def checksum(streams: Streams) -> int:
    """A number that differs where the tokens do."""
    return zlib.crc32(b"|".join(stream.tobytes() for stream in streams.values()))


def random_windows(
    streams: Streams, rng: np.random.Generator, count: int, length: int, code_share: float
) -> np.ndarray:
    """Random spans of tokens, [count, length], each from code with probability `code_share`."""
    rows = []
    # By the share, not by how much there is of each.
    for is_code in rng.random(count) < code_share:
        stream = streams[KINDS[int(is_code)]]
        start = rng.integers(0, max(1, len(stream) - length + 1))
        # A text that is shorter than the window is repeated.
        rows.append(np.resize(stream[start : start + length], length))
    return np.stack(rows)
