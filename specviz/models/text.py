"""Tokens as text: one token as a person reads it, and the text that each new token adds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from tokenizers.decoders import DecodeStream
from transformers.convert_slow_tokenizer import bytes_to_unicode

REPLACEMENT = "\ufffd"  # what a decoder writes for bytes that are no whole character
WINDOW = 8  # tokens before the first new one that are decoded with it
BYTE_OF_LETTER = {
    letter: byte for byte, letter in bytes_to_unicode().items()
}  # as byte-level vocabularies write them


class TokenText:
    """The text side of a tokenizer."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.token_text = lru_cache(maxsize=None)(self._token_text)

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`, with a start token only where the tokenizer adds one by default."""
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(
                f"text must be valid Unicode; character {error.start + 1} is not. Use UTF-8."
            ) from None
        return list(
            self.tokenizer.encode(text, verbose=False)
        )  # a text too long is rejected elsewhere

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of `tokens`, without special tokens and without tidying spaces."""
        ids = list(map(int, tokens))
        return self.tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )

    def _token_text(self, token: int) -> str:
        r"""One token as a person reads it; bytes that are no whole character look like \xe2."""
        written = self.tokenizer.convert_ids_to_tokens(int(token))
        if written is None:
            return f"<{token}>"
        if token in self.tokenizer.all_special_ids:
            return written
        text = self.decode([token])
        if REPLACEMENT in text:
            return bytes_of(written).decode("utf-8", errors="backslashreplace")
        # A decoder drops the space before the first word, which here is not the first.
        return " " + text if written.startswith("▁") and not text.startswith(" ") else text

    def stream(self, context: Sequence[int]) -> Callable[[int], str]:
        """See `Pair.stream`."""
        # The last tokens are enough to know whether the next word needs its space.
        decoder = DecodeStream(list(map(int, context[-WINDOW:])), skip_special_tokens=True)
        return lambda token: decoder.step(self.tokenizer.backend_tokenizer, int(token)) or ""


def bytes_of(written: str, letters: bool = True) -> bytes:
    """The bytes of a token as it stands in a vocabulary; `letters` where letters stand for
    bytes."""
    if match := re.fullmatch(r"<0x([0-9A-Fa-f]{2})>", written):
        return bytes([int(match[1], 16)])
    table = BYTE_OF_LETTER if letters else {}
    return b"".join(
        bytes([table[letter]]) if letter in table else letter.encode() for letter in written
    )
