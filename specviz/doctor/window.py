"""What an engine says of its speculation in one line, request or scrape, and how readers search a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..files import parse_json

LONGEST = 4000  # characters of a line that are read after what it is recognised by


@dataclass(frozen=True)
class Window:
    """What one line, request or scrape says; None or () where it does not say.

    Args:
        engine: "vllm", "llama.cpp", "sglang" or "tensorrt-llm".
        steps: drafts that were verified, one for each request and pass.
        drafted, accepted: draft tokens of these steps.
        acceptance_length: tokens per step with the bonus token, where the engine gives it in place of counts.
        draft_length: draft tokens per step, where the engine gives it in place of counts.
        per_position: the share of the steps that accepted the first 1, 2, ... draft tokens.
        running: requests that are decoded together.
        throughput: tokens per second, of all of them.
        seconds: for how long, where the text says it.
        draft_share: the part of that time in which tokens were drafted.
        graphs: whether passes ran as CUDA graphs.
        per_step: (drafted, accepted) of each step of one request, in order.
        note: a sentence on how a number was understood.
    """

    engine: str
    steps: float | None = None
    drafted: float | None = None
    accepted: float | None = None
    acceptance_length: float | None = None
    draft_length: float | None = None
    per_position: tuple[float, ...] = ()
    running: float | None = None
    throughput: float | None = None
    seconds: float | None = None
    draft_share: float | None = None
    graphs: bool | None = None
    per_step: tuple[tuple[int, int], ...] = ()
    note: str = ""

    @property
    def speculates(self) -> bool:
        """Whether anything was drafted."""
        return bool(self.drafted) or self.acceptance_length is not None


def lines_with(text: str, *marks: str) -> Iterator[str]:
    """The lines of a text that contain one of the marks, from the first of them, at most `LONGEST` characters of each.

    Each line is read once, so the work is in proportion to the text.
    """
    pattern = re.compile("|".join(map(re.escape, marks)))
    end = 0
    while found := pattern.search(text, end):
        begin = text.rfind("\n", end, found.start()) + 1 or end
        end = text.find("\n", found.start())
        end = len(text) if end < 0 else end + 1
        yield text[max(begin, found.start() - 80) : min(end, found.start() + LONGEST)].rstrip("\r\n")


def objects_with(text: str, key: str) -> Iterator[dict[str, Any]]:
    """The JSON objects with a key: of a text that is JSON as a whole, or of those of its lines that contain JSON."""
    quoted = f'"{key}"'
    if quoted not in text:
        return
    try:
        roots = [parse_json(text)]
    except ValueError:
        roots = []
        for line in text.splitlines():
            begin, end = line.find("{"), line.rfind("}") + 1
            if quoted in line and 0 <= begin < end:
                try:
                    roots.append(parse_json(line[begin:end]))
                except ValueError:
                    continue
    roots.reverse()
    while roots:
        one = roots.pop()
        if isinstance(one, dict):
            if key in one:
                yield one
            roots.extend(reversed(list(one.values())))
        elif isinstance(one, list):
            roots.extend(reversed(one))


def number(value: Any) -> float | None:
    """A number from 0 of a stranger's JSON; None for anything else."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
    return float(value) if known else None


def whole_numbers(value: Any, most: int = 20_000) -> list[int]:
    """Whole numbers from 0 of a stranger's JSON; [] for anything else."""
    fit = isinstance(value, list) and len(value) <= most
    return list(value) if fit and all(type(one) is int and 0 <= one < 10**9 for one in value) else []
