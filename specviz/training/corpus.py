"""Text files and the standard library as streams of tokens, some documents kept out of training."""

import re
import sysconfig
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

END_OF_TEXT = "<|endoftext|>"
KINDS = ("prose", "code")
SHORTEST_CHAPTER = 1000
SKIPPED_FOLDERS = {"site-packages", "dist-packages", "test", "tests", "idle_test", "__pycache__"}
_NUMBERED = re.compile(r"(chapter|stave|book|part|letter|volume|adventure|story)\b", re.IGNORECASE)
_ROMAN = re.compile(r"[IVXLC]+\.?")


@dataclass(frozen=True)
class Document:
    """A tale, a chapter or a source file, "prose" or "code"; its name decides whether training may see it."""

    name: str
    kind: str
    text: str


@dataclass(frozen=True)
class Corpus:
    """Token streams by kind ("prose", "code"); end-of-text (id 0) stands before every document."""

    train: dict[str, np.ndarray]
    held_out: dict[str, np.ndarray]

    @property
    def checksum(self) -> int:
        """A number that differs where the tokens do."""
        streams = [*self.train.values(), *self.held_out.values()]
        return zlib.crc32(b"".join(zlib.crc32(s.tobytes()).to_bytes(4, "big") for s in streams))


def read_documents(
    text_files: Sequence[str | Path], code_folder: str | Path | None = None, code: bool = True
) -> list[Document]:
    """Chapters of the text files, then the Python files under `code_folder` (default: the standard library) if `code`.

    Raises ValueError if a text file is missing, is not UTF-8 or holds no text.
    """
    documents = []
    for path in map(Path, text_files):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"text must name readable UTF-8 files; {str(path)!r} is not one: {error}.") from None
        if not text.strip():
            raise ValueError(f"text must name non-empty files; {str(path)!r} is empty.")
        chapters = split_chapters(text)
        documents += [Document(f"{path.name}#{i}", "prose", chapter) for i, chapter in enumerate(chapters)]
    root = Path(code_folder or sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")) if code else ():
        name = path.relative_to(root)
        if not SKIPPED_FOLDERS.intersection(name.parts):
            source = path.read_text(encoding="utf-8", errors="ignore")
            documents += [Document(name.as_posix(), "code", source)] if source.strip() else []
    return documents


def split_chapters(text: str) -> list[str]:
    """Cut prose at end-of-text marks; where it has none, before each heading that ends a chapter of some length."""
    if END_OF_TEXT in text:
        return [part.strip() for part in text.split(END_OF_TEXT) if part.strip()]
    chapters: list[str] = []
    current: list[str] = []
    size = 0
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if size >= SHORTEST_CHAPTER and _is_heading(paragraph):
            chapters.append("\n\n".join(current))
            current, size = [], 0
        current.append(paragraph)
        size += len(paragraph)
    return [*chapters, "\n\n".join(current)]


def _is_heading(paragraph: str) -> bool:
    line = paragraph.strip()
    if len(line) > 70 or "\n" in line:
        return False
    if _ROMAN.fullmatch(line):
        return True
    return bool(_NUMBERED.match(line) and line[-1].isalnum()) or (line.isupper() and line[-1].isalpha())


def held_out(documents: list[Document]) -> set[str]:
    """Names of the documents that training never sees: of each kind one in 50 by a hash of the name, at least one."""
    names = set()
    for kind in KINDS:
        marks = {d.name: zlib.crc32(d.name.encode()) for d in documents if d.kind == kind}
        if len(marks) < 2:
            raise ValueError(
                f"the corpus must have at least two documents of {kind}, one to hold out; got {len(marks)}."
            )
        names |= {name for name, mark in marks.items() if mark % 50 == 0} or {min(marks, key=marks.__getitem__)}
    return names


def train_tokenizer(documents: list[Document], vocabulary: int) -> Tokenizer:
    """Byte-level byte-pair encoding learnt on the training documents; end-of-text is token 0."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    kept = held_out(documents)
    tokenizer.train_from_iterator((d.text for d in documents if d.name not in kept), trainer)
    return tokenizer


def encode(
    documents: list[Document], tokenizer: Tokenizer, kept: set[str] | None = None, end: Sequence[int] = (0,)
) -> Corpus:
    """Tokenise every document into the stream of its kind and of its side of the split.

    `kept`: names that training never sees (default: `held_out`). `end`: the tokens that stand before each document.
    """
    kept = held_out(documents) if kept is None else kept
    pieces: dict[tuple[str, bool], list[int]] = {(kind, side): [] for kind in KINDS for side in (False, True)}
    encodings = tokenizer.encode_batch([document.text for document in documents], add_special_tokens=False)
    for document, encoding in zip(documents, encodings, strict=True):
        pieces[document.kind, document.name in kept] += [*end, *encoding.ids]
    streams = {key: np.array(ids, np.int32) for key, ids in pieces.items()}
    return Corpus({kind: streams[kind, False] for kind in KINDS}, {kind: streams[kind, True] for kind in KINDS})


def windows(corpus: Corpus, rng: np.random.Generator, count: int, length: int, code_share: float) -> np.ndarray:
    """`count` random spans of `length` training tokens, each from code with probability `code_share`."""
    rows = []
    for is_code in rng.random(count) < code_share:
        stream = corpus.train[KINDS[int(is_code)]]
        start = rng.integers(0, max(1, len(stream) - length + 1))
        rows.append(np.resize(stream[start : start + length], length))
    return np.stack(rows)
