"""What a run begins with: text, token ids, or the messages of a chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..base.codec import plain_value
from ..base.errors import ParameterError


class Message(NamedTuple):
    """One message of a chat; the roles are those of the model's template, "system", "user" and
    "assistant" as a rule."""

    role: str
    content: str


Prompt = str | Sequence[int] | Sequence[Message | dict[str, str]]


def read_prompt(value: Any) -> str | tuple[int, ...] | tuple[Message, ...]:
    """A prompt as a `RunConfig` keeps it.

    Args:
        value: text, messages, token ids, or what a tokenizer of transformers returns, of one text:
            a mapping with "input_ids", and rows of ids.

    Raises:
        ParameterError: if it is anything else, or empty.
    """
    if isinstance(value, str) and value:
        return value
    if hasattr(value, "keys") and "input_ids" in value:
        value = value["input_ids"]
    items = plain_value(list(value) if isinstance(value, tuple) else value)
    # A tokenizer returns a batch; of one text its only row is meant.
    if isinstance(items, tuple) and len(items) == 1 and type(items[0]) is tuple:
        items = items[0]
    if items in ((), ""):
        hint = "Give a few words for the models to continue."
        raise ParameterError("prompt", "not be empty", hint=hint)
    if isinstance(items, tuple):
        if all(type(item) is int and item >= 0 for item in items):
            return items
        # All of them, or the list is none of messages.
        messages = [message for message in map(_message, items) if message is not None]
        if len(messages) == len(items):
            return tuple(messages)
    must = (
        'be text, a list of messages such as {"role": "user", "content": "..."}, or a list of '
        "token ids, whole numbers from 0"
    )
    raise ParameterError("prompt", must, value)


def no_template() -> ParameterError:
    """The error where a chat is for a model that knows none."""
    must = "be text or token ids for a model without a chat template, not a chat"
    return ParameterError("prompt", must, hint="Give text, or load a chat model.")


def _message(item: object) -> Message | None:
    """A message from a mapping or an object of that class; None where it is neither."""
    if isinstance(item, Mapping) and item.keys() == {"role", "content"}:
        item = Message(**item)
    if isinstance(item, Message) and all(isinstance(part, str) and part for part in item):
        return item
    return None
