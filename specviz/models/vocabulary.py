"""Token-level intersection of two vocabularies (TLI, Timor et al. 2025, algorithm 4).

The draft's distribution is restricted to the common tokens and renormalised, so every rule stays exact. Two tokens are
the same if they stand for the same bytes, whatever their spelling: "Ġthe" and "▁the" are " the".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .text import bytes_of

Bytes = Sequence[bytes | None]


class Translation:
    """From the target's token ids to the draft's."""

    def __init__(
        self, target: Bytes, draft: Bytes, width: int, special: dict[int, int] | None = None,
        drafted: Sequence[int] = (), begin: Sequence[int] = (),
    ) -> None:  # fmt: skip
        self.width, self._target, self._special, self._begin = width, target, special or {}, list(begin)
        self._draft = _by_bytes(draft)
        self._longest = max(map(len, self._draft), default=0)
        common = {token: self._draft[text] for text, token in _by_bytes(target).items() if text in self._draft}
        common |= {token: self._special[token] for token in drafted}
        if not common:
            raise ValueError("target and draft must have tokens in common; these have none. Choose another draft.")
        target_ids, draft_ids = zip(*sorted(common.items()), strict=True)
        self.target_ids, self.draft_ids = np.array(target_ids), np.array(draft_ids)
        self._known = self._special | common
        self.tokens = lru_cache(maxsize=None)(self._tokens)

    def _tokens(self, token: int) -> tuple[int, ...]:
        """The draft's ids for one token: itself where it is common, else the most bytes at a time that it knows."""
        # Each token is translated alone: the draft's context follows from the text, whatever the steps were.
        if token in self._known:
            return (self._known[token],)
        text = (self._target[token] if token < len(self._target) else None) or b""
        ids: list[int] = []
        while text:
            size = next((n for n in range(min(self._longest, len(text)), 0, -1) if text[:n] in self._draft), 0)
            ids += [self._draft[text[:size]]] if size else []  # a byte that the draft does not know is left out
            text = text[size or 1 :]
        return tuple(ids)

    def context(self, tokens: Sequence[int]) -> list[int]:
        """The draft's ids for a text that starts with `tokens`, ids of the target; at least one."""
        ids = [draft_id for token in tokens for draft_id in self.tokens(token)]
        if self._begin:
            return ids if ids[: len(self._begin)] == self._begin else [*self._begin, *ids]
        return ids if self.tokens(tokens[0]) else [int(self.draft_ids[0]), *ids]  # a text must begin with something

    def columns(self, logits: np.ndarray) -> np.ndarray:
        """The draft's logits, [n, V'], as logits over the target's tokens, [n, V]: -inf for what is not common."""
        columns = np.full((len(logits), self.width), -np.inf, dtype=logits.dtype)
        columns[:, self.target_ids] = logits[:, self.draft_ids]
        return columns


def translation(target: Any, draft: Any, width: int, draft_width: int) -> Translation:
    """The translation between two tokenizers; ends of text are common, other special tokens by their names."""
    names = {name: i for i, name in _special(draft).items() if i < draft_width}
    special = {i: names[name] for i, name in _special(target).items() if name in names and i < width}
    drafted = list(special)
    for role in ("eos_token_id", "bos_token_id"):
        one, other = getattr(target, role), getattr(draft, role)
        if one is not None and other is not None and one not in special:
            drafted += [one] if role == "eos_token_id" and other not in special.values() else []
            special[one] = other
    ids = draft.encode("a")
    begin = ids[: next((n for n, token in enumerate(ids) if token not in draft.all_special_ids), len(ids))]
    ours, theirs = token_bytes("target", target)[:width], token_bytes("draft", draft)[:draft_width]
    return Translation(ours, theirs, width, special, drafted, begin)


def token_bytes(role: str, tokenizer: Any) -> list[bytes | None]:
    """The bytes that each token stands for, by id; None for special tokens."""
    decoder = getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", None)
    kind = "" if decoder is None else decoder.__getstate__().decode()  # JSON, as in tokenizer.json
    letters = '"ByteLevel"' in kind
    if not letters and "▁" not in kind:
        raise ValueError(
            f"{role} must have a tokenizer of bytes (byte-level BPE or sentencepiece) if the vocabularies differ; got "
            f"{type(tokenizer).__name__}. Choose a draft of the same family."
        )
    vocabulary = tokenizer.get_vocab()
    text: list[bytes | None] = [None] * (1 + max(vocabulary.values()))
    special, added = _special(tokenizer), tokenizer.added_tokens_decoder
    for written, i in vocabulary.items():
        if i in added:
            text[i] = None if i in special else written.encode()
        else:
            text[i] = bytes_of(written if letters else written.replace("▁", " "), letters)
    return text


def _special(tokenizer: Any) -> dict[int, str]:
    return {i: str(token) for i, token in tokenizer.added_tokens_decoder.items() if token.special}


def _by_bytes(tokens: Bytes) -> dict[bytes, int]:
    """Token ids by their bytes; of several with the same bytes the last, since bytes that are no text come first."""
    return {text: token for token, text in enumerate(tokens) if text}
