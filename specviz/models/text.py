"""Tokens as text: one token as a person reads it, and the text that each new token adds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

REPLACEMENT = "\ufffd"  # what a decoder writes for bytes that are no whole character
WINDOW = 8  # tokens that are decoded again before a new one


class TokenText:
    """The text side of a tokenizer."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        backend = getattr(tokenizer, "backend_tokenizer", None)
        self._backend = backend if _decodes_as_its_backend(type(tokenizer)) else None
        self.piece = lru_cache(maxsize=None)(self._piece)

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`, with a start token only where the tokenizer adds one by default."""
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(f"text must be valid Unicode; character {error.start + 1} is not. Use UTF-8.") from None
        return list(self.tokenizer.encode(text, verbose=False))  # a text too long is rejected elsewhere

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of `tokens`, without special tokens and without tidying spaces."""
        tokens = list(map(int, tokens))
        if self._backend is not None:
            return self._backend.decode(tokens, skip_special_tokens=True)
        return self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)

    def _piece(self, token: int) -> str:
        r"""One token as a person reads it; bytes that are no whole character look like \xe2."""
        token = int(token)
        written = self.tokenizer.convert_ids_to_tokens(token)
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
        """A function that takes the tokens after `context` one by one and returns the text each of them adds.

        A character whose bytes are spread over several tokens is returned with the last of them.
        """
        window = list(context[-WINDOW:])  # enough to know whether the next word needs its space
        before = self.decode(window)
        complete = len(window)  # tokens of the window whose text has been returned

        def add(token: int) -> str:
            nonlocal window, complete, before
            window.append(int(token))
            text = self.decode(window)
            if len(text) <= len(before) or text.endswith(REPLACEMENT):
                return ""
            added = text[len(before) :]
            if len(window) > 2 * WINDOW:  # a long one takes long to decode
                window = window[complete:]
                text = self.decode(window)
            complete, before = len(window), text
            return added

        return add


def _decodes_as_its_backend(kind: Any) -> bool:
    """Whether a tokenizer's own decoding would do nothing but call the backend's, at four times the cost."""
    from transformers import PreTrainedTokenizerFast as Fast

    return issubclass(kind, Fast) and kind.decode is Fast.decode and kind._decode is Fast._decode


def bytes_of(written: str, letters: bool = True) -> bytes:
    """The bytes of a token as it stands in a vocabulary."""
    if match := re.fullmatch(r"<0x([0-9A-Fa-f]{2})>", written):
        return bytes([int(match[1], 16)])
    table = _byte_letters() if letters else {}
    return b"".join(bytes([table[letter]]) if letter in table else letter.encode() for letter in written)


@cache
def _byte_letters() -> dict[str, int]:
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    return {letter: byte for byte, letter in bytes_to_unicode().items()}
