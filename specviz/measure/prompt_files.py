"""Prompts from the files that people have: question files, data sets of instructions, plain text.

Known are Spec-Bench and MT-Bench (`question.jsonl`, the first turns), HumanEval, GSM8K, ShareGPT,
chats, Alpaca, tables with a named column, JSON lists of texts, and texts with a prompt a line. A
record of another form is refused: what stands beside a prompt, an answer say, is none.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ..base.errors import ParameterError
from ..base.files import parse_json, read_text

TABLES = {".csv": ",", ".tsv": "\t"}
PEOPLE = ("human", "user")  # who speaks to the model, in ShareGPT and in chats
COLUMNS = ("prompt", "question", "instruction", "text")  # of a table where none is named
HINT = "Name the entry that holds the prompts (--column)."


class Prompt(str):
    """A text to continue, which knows the category that its file gives it, "" for none."""

    category: str = ""

    @classmethod
    def of(cls, text: str, category: Any = "") -> Prompt:
        """A prompt of a category."""
        prompt = cls(text)
        prompt.category = str(category)[:80] if isinstance(category, str | int) else ""
        return prompt


def category_of(text: str) -> str:
    """The category of a prompt; "" for any other text."""
    return getattr(text, "category", "")


def by_category(texts: Sequence[str]) -> dict[str, list[int]]:
    """The places of texts by category, if there are several; else {}."""
    places: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        places.setdefault(category_of(text), []).append(place)
    return places if len(places) > 1 else {}


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
        prompts = _of_table(text, TABLES[kind], column, name)
    elif kind in (".json", ".jsonl") or _is_json(text):
        prompts = _of_records(text, column, name)
    elif column is not None:
        raise ParameterError(name, "be a table or JSON for --column", hint="Omit --column.")
    else:
        prompts = [Prompt(line) for line in text.splitlines() if line.strip()]
    if not prompts:
        raise ParameterError(name, "have at least one prompt")
    return list(prompts)


def _is_json(text: str) -> bool:
    """Whether a text of another name is JSON: a prompt may begin with a bracket, but no brace."""
    first = text.lstrip()[:1]
    if first != "[":
        return first == "{"
    try:
        return isinstance(parse_json(text), list)
    except (ValueError, RecursionError):
        return False


def _records(text: str, name: str) -> Iterable[tuple[int, Any]]:
    """The entries of a JSON list, or of JSON lines, numbered from 1."""
    try:
        whole = parse_json(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, list):
        return list(enumerate(whole, 1))
    if whole is not None:
        return [(1, whole)]
    records = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                records.append((number, parse_json(line)))
            except (ValueError, RecursionError):
                must = "be a JSON list, or one JSON value a line"
                raise ParameterError(name, must, f"line {number} is neither") from None
    return records


def _of_records(text: str, column: str | None, name: str) -> list[Prompt]:
    prompts = []
    for number, record in _records(text, name):
        prompt = _of_record(record, column, name, number)
        if prompt is not None:
            prompts.append(prompt)
    return prompts


def _of_record(record: Any, column: str | None, name: str, number: int) -> Prompt | None:
    """The prompt of a record; None for a conversation in which no person speaks."""
    where = f"{name}, record {number},"
    if isinstance(record, str) and column is None:
        return _checked(record, "", where)
    if not isinstance(record, dict):
        raise ParameterError(where, "be a text or an object with a prompt", record)
    category = record.get("category", "")
    if column is not None:
        return _checked(record.get(column), category, f"{where} {column}")
    for key, read in FORMS.items():
        if key in record:
            found = read(record)
            return None if found == () else _checked(found, category, f"{where} {key}")
    listed = ", ".join(f"{key!s:.40}" for key in list(record)[:8]) or "nothing"
    must = f"have one of {', '.join(FORMS)}"
    raise ParameterError(where, must, f"entries {listed}", HINT)


def _checked(value: Any, category: Any, where: str) -> Prompt:
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(where, "be a text that is not empty", value)
    return Prompt.of(value, category)


def _first_turn(record: dict[str, Any]) -> Any:
    """Spec-Bench, MT-Bench: the later turns follow answers that do not exist."""
    turns = record["turns"]
    return turns[0] if isinstance(turns, list) and turns else turns


def _first_of_person(key: str) -> Callable[[dict[str, Any]], Any]:
    """ShareGPT and chats: what a person says first; () where nobody does."""

    def read(record: dict[str, Any]) -> Any:
        if not isinstance(record[key], list):
            return None
        for turn in record[key]:
            if isinstance(turn, dict) and turn.get("from", turn.get("role")) in PEOPLE:
                return turn.get("value", turn.get("content"))
        return ()

    return read


def _instruction(record: dict[str, Any]) -> Any:
    """Alpaca: the instruction, and the input that it is about."""
    instruction, about = record["instruction"], record.get("input")
    if not isinstance(instruction, str) or not about:
        return instruction
    return f"{instruction}\n\n{about}"


# an entry that tells the form of a record -> what reads its prompt; the first one counts
FORMS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "turns": _first_turn,
    "conversations": _first_of_person("conversations"),
    "messages": _first_of_person("messages"),
    "prompt": lambda record: record["prompt"],  # HumanEval
    "instruction": _instruction,
    "question": lambda record: record["question"],  # GSM8K
    "text": lambda record: record["text"],
}


def _of_table(text: str, separator: str, column: str | None, name: str) -> list[Prompt]:
    rows = list(csv.DictReader(io.StringIO(text), delimiter=separator, strict=True))
    header = list(rows[0]) if rows else []
    known = [entry for entry in COLUMNS if entry in header]
    chosen = column or (known[0] if known else None)
    if chosen is None or chosen not in header:
        must = f"have a column {column}" if column else f"have a column {', '.join(COLUMNS)}"
        raise ParameterError(name, must, ", ".join(map(str, header)) or "no rows", HINT)
    prompts = []
    for number, row in enumerate(rows, 2):
        where = f"{name}, row {number}, {chosen}"
        prompts.append(_checked(row[chosen], row.get("category") or "", where))
    return prompts
