"""Prompts from the files that people have: question files, data sets of instructions, plain text.

Known are Spec-Bench and MT-Bench (`question.jsonl`, the first turns), HumanEval, GSM8K, ShareGPT,
chats, Alpaca, tables with a named column, JSON lists of texts, and texts with a prompt a line. A
record of another form is an error: an answer that stands beside a prompt is no prompt.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from ..base.codec import JsonObject
from ..base.errors import ParameterError, cause
from ..base.files import MOST_TEXT, parse_json, read_text
from ..record.vectors import places_of

TABLES = {".csv": ",", ".tsv": "\t"}
PEOPLE = ("human", "user")  # who speaks to the model, in ShareGPT and in chats
CHATS = ("conversations", "conversation", "messages")
# entries that hold a prompt, the first one counts: Spec-Bench and MT-Bench, ShareGPT and other
# chats, HumanEval, Alpaca, GSM8K, others
KNOWN = ("turns", *CHATS, "prompt", "instruction", "question", "text")
HINT = "Name the entry that holds the prompts (--column)."


class Prompt(str):
    """A text to continue, which knows the category that its file gives it, "" for none."""

    category: str = ""

    @classmethod
    def of(cls, text: str, category: object = "") -> Prompt:
        """A prompt of a category."""
        prompt = cls(text)
        prompt.category = str(category)[:80] if isinstance(category, str | int) else ""
        return prompt


def category_of(text: str) -> str:
    """The category of a prompt; "" for any other text."""
    return getattr(text, "category", "")


def by_category(texts: Sequence[str]) -> dict[str, list[int]]:
    """The places of texts by category, if there are several; else {}."""
    return places_of(list(map(category_of, texts)))


def read_prompts(path: str | Path, column: str | None = None) -> list[str]:
    """The prompts in a file.

    Args:
        path: of a table (.csv, .tsv), of JSON or JSON lines, or of plain text.
        column: the entry of each record that holds the prompt; None for the known ones.

    Raises:
        ValueError: if a record holds no prompt that is known, or there is none at all.
    """
    name = f"--prompts {str(path)!r}"
    text = read_text(path, "--prompts")
    kind = Path(path).suffix.lower()
    if "\0" in text:
        raise ParameterError(name, "be a text, JSON or a table", hint="It holds binary data.")
    if kind in TABLES:
        # A prompt may be longer than the 128 kB that a cell has by default.
        csv.field_size_limit(MOST_TEXT)
        rows = csv.DictReader(io.StringIO(text), delimiter=TABLES[kind], strict=True)
        try:
            records: Sequence[tuple[int, object]] | None = list(enumerate(rows, 1))
        except csv.Error as error:
            raise ParameterError(name, "be a table that can be read", cause(error)) from None
    else:
        records = _json_records(text, kind in (".json", ".jsonl"), name)
    prompts: list[str] = []
    if records is not None:
        for at, record in records:
            prompt = _prompt_of(record, column, f"{name}, record {at},")
            if prompt is not None:
                prompts.append(prompt)
    elif column is not None:
        raise ParameterError(name, "be a table or JSON for --column", hint="Omit --column.")
    else:
        prompts = [Prompt(line) for line in text.splitlines() if line.strip()]
    if not prompts:
        raise ParameterError(name, "have at least one prompt")
    return prompts


def _json_records(text: str, is_json: bool, name: str) -> Sequence[tuple[int, object]] | None:
    """The entries of a JSON list, or of JSON lines, numbered from 1; None for plain text.

    A prompt may begin with a bracket, but not with a brace.
    """
    try:
        whole = parse_json(text)
    except (ValueError, RecursionError):
        if not is_json and not text.lstrip().startswith("{"):
            return None
    else:
        if isinstance(whole, list):
            return list(enumerate(whole, 1))
        if is_json or isinstance(whole, dict):
            return [(1, whole)]
        return None
    records = []
    # Only a line feed ends a line of JSON: its texts may hold other line ends.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            records.append((number, parse_json(line)))
        except (ValueError, RecursionError):
            must = "be a JSON list, or one JSON value a line"
            raise ParameterError(name, must, f"line {number} is neither") from None
    return records


def _prompt_of(record: object, column: str | None, where: str) -> Prompt | None:
    """The prompt of a record; None for a conversation in which no person speaks."""
    if isinstance(record, str) and column is None:
        record = {"text": record}
        column = "text"
    if not isinstance(record, dict):
        raise ParameterError(where, "be a text or an object with a prompt", record)
    # The entry that was named, or the first of those that hold prompts in files people have.
    key = column or next((name for name in KNOWN if name in record), None)
    if key is None:
        listed = ", ".join(f"{name!s:.40}" for name in list(record)[:8]) or "nothing"
        raise ParameterError(where, f"have one of {', '.join(KNOWN)}", f"entries {listed}", HINT)
    value = record.get(key) if column else _known(record, key)
    if value == ():
        return None
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(f"{where} {key}", "be a text that is not empty", value)
    return Prompt.of(value, record.get("category") or "")


def _known(record: JsonObject, key: str) -> object:
    """What a known entry of a record asks; () where nobody does."""
    value = record[key]
    if key in ("turns", "prompt"):  # the later ones follow answers that do not exist
        # Only a list of texts is a conversation; anything else is refused with its value.
        is_texts = isinstance(value, list) and all(isinstance(turn, str) for turn in value)
        if is_texts and value:
            return value[0]
        return value
    about = record.get("input")
    if key == "instruction" and isinstance(value, str) and about:
        return f"{value}\n\n{about}"
    if key not in CHATS:
        return value
    if not isinstance(value, list):
        return None
    for turn in value:
        if isinstance(turn, dict) and turn.get("from", turn.get("role")) in PEOPLE:
            return turn.get("value", turn.get("content"))
    return ()
