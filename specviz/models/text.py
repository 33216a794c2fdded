"""Tokens as text: one token as a person reads it, and the text that each new token adds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from tokenizers.decoders import DecodeStream
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.convert_slow_tokenizer import bytes_to_unicode

from ..base.errors import ParameterError, cause
from ..base.files import TALES
from ..config.prompt import Message, no_template
from .table import NumberText

REPLACEMENT = "\ufffd"  # what a decoder writes for bytes that are no whole character
SAMPLE = 400  # characters of the shipped text that models are tried on
# What chat models are tried on; a head that does well after one question may not after another.
QUESTIONS = (
    "Why is the sky blue?",
    "How do I bake bread?",
    "What is the capital of France?",
    "Write a short poem about the sea.",
)
OPENING = 24  # tokens of the sample that other models go on from
WINDOW = 8  # tokens before the first new one that are decoded with it
# As byte-level vocabularies write them.
BYTE_OF_LETTER = {letter: byte for byte, letter in bytes_to_unicode().items()}


class TokenText:
    """The text side of a tokenizer."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer
        self._token_texts: dict[int, str] = {}

    def encode(self, text: str | Sequence[Message]) -> list[int]:
        """Token ids of a text, with a start token only where the tokenizer adds one by default, or
        of a chat."""
        if not isinstance(text, str):
            return self.encode_messages(text)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(
                f"text must be valid Unicode; character {error.start + 1} is not. Use UTF-8."
            ) from None
        # Without its warning of a text that is too long, which is rejected elsewhere.
        return list(self.tokenizer.encode(text, verbose=False))

    @property
    def is_chat(self) -> bool:
        """Whether the model was trained on chats: its tokenizer has a template for them."""
        return bool(getattr(self.tokenizer, "chat_template", None))

    def encode_messages(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a chat by the model's template, up to where its answer begins; where the
        last message is the assistant's, up to the end of that message, which is continued.

        Raises:
            ValueError: if the model has no template, or the template does not accept the messages.
        """
        if not self.is_chat:
            raise no_template()
        # A last message of the assistant is the start of an answer, which the model continues.
        continues = messages[-1].role == "assistant"
        try:
            return list(
                self.tokenizer.apply_chat_template(
                    [message._asdict() for message in messages],
                    add_generation_prompt=not continues,
                    continue_final_message=continues,
                    return_dict=False,
                )
            )
        except Exception as error:  # a template is a program of whoever made the model
            must = f"fit the chat template of the model, which says: {cause(error)}"
            raise ParameterError("prompt", must) from None

    def end_of_turn(self) -> int | None:
        """The special token behind the assistant's message in the model's template; None where
        there is none."""
        if not self.is_chat:
            return None
        chat = [Message("user", "a"), Message("assistant", "b")]
        whole = {"tokenize": True, "return_dict": False}
        with suppress(Exception):  # a template that wants other roles
            ids = self.tokenizer.apply_chat_template([one._asdict() for one in chat], **whole)
            # A chat whose last answer is closed, and the same one left open: what comes next in the
            # closed one is what ends an answer.
            opening = self.encode_messages(chat)
            end = ids[len(opening)]
            if ids[: len(opening)] == opening and end in self.tokenizer.all_special_ids:
                return int(end)
        return None

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of `tokens`, without special tokens and without tidying spaces."""
        ids = list(map(int, tokens))
        return self.tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )

    def token_text(self, token: int) -> str:
        r"""One token as a person reads it; bytes that are no whole character look like \xe2."""
        if token not in self._token_texts:
            self._token_texts[token] = self._read(token)
        return self._token_texts[token]

    def _read(self, token: int) -> str:
        # As it stands in the vocabulary: decoding one token alone may drop a space or break a
        # character.
        written = self.tokenizer.convert_ids_to_tokens(int(token))
        if written is None:
            return f"<{token}>"
        if token in self.tokenizer.all_special_ids:
            return written
        text = self.decode([token])
        if REPLACEMENT in text:
            return bytes_of(written).decode("utf-8", errors="backslashreplace")
        # A decoder drops the space before the first word, which here is not the first.
        if written.startswith("▁") and not text.startswith(" "):
            return " " + text
        return text

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
    found = bytearray()
    for letter in written:
        if letters and letter in BYTE_OF_LETTER:
            found.append(BYTE_OF_LETTER[letter])
        else:
            found += letter.encode()
    return bytes(found)


def sample_of(text: TokenText | NumberText) -> list[int]:
    """Token ids of the beginning of a shipped text; none for models that know no text."""
    if isinstance(text, NumberText):
        return []
    return text.encode(TALES.read_text("utf-8")[:SAMPLE])


def questions_of(text: TokenText | NumberText) -> list[list[int]]:
    """Token ids of prompts that a model answers: questions where it was trained on chats, else
    parts of the shipped text; none for models that know no text."""
    if text.is_chat:
        with suppress(ValueError):  # a template that wants other roles
            return [text.encode([Message("user", question)]) for question in QUESTIONS]
    sample = sample_of(text)
    # Several beginnings: a head that does well after one may not after another.
    starts = range(0, len(sample), OPENING)
    return [sample[start : start + OPENING] for start in starts[: len(QUESTIONS)]]


def end_of_text(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """The tokens that end a text, by the generation settings, the configuration, the tokenizer and
    its chat template."""
    ids: set[int] = set()
    # Models name their ends in several places, and chat models often in the template only.
    for source in (getattr(model, "generation_config", None), model.config, tokenizer):
        value = getattr(source, "eos_token_id", None)
        if isinstance(value, list | tuple):
            ids.update(value)
        elif value is not None:
            ids.add(value)
    turn_end = TokenText(tokenizer).end_of_turn()
    return frozenset(ids if turn_end is None else {*ids, turn_end})
