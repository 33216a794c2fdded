"""What an engine says of its speculation in one line, request or scrape, and how readers search a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..files import parse_json

MAX_LINE = 4000  # characters of a line that are read after the words by which it is recognised


@dataclass(frozen=True)
class Window:
    """What one line, request or scrape says; None or () where it does not say.

    Args:
        engine: "vllm", "llama.cpp", "sglang" or "tensorrt-llm".
        source: which of the engine's formats it is; two formats may count the same steps.
        steps, drafted, accepted: drafts that were verified, one for each request and pass, and their tokens in all.
        acceptance_length: tokens per step with the bonus token, where the engine gives no counts.
        per_position: the fraction of the steps that accepted the first 1, 2, ... draft tokens.
        running, throughput, seconds: requests that are decoded together, their tokens per second, and for how long.
        draft_share: the part of that time in which tokens were drafted.
        graphs: whether passes ran as CUDA graphs.
        prompts: whether prompts were read in the same time.
    """

    engine: str
    source: str
    steps: float | None = None
    drafted: float | None = None
    accepted: float | None = None
    acceptance_length: float | None = None
    per_position: tuple[float, ...] = ()
    running: float | None = None
    throughput: float | None = None
    seconds: float | None = None
    draft_share: float | None = None
    graphs: bool | None = None
    prompts: bool = False

    @property
    def speculates(self) -> bool:
        """Whether anything was drafted."""
        return bool(self.drafted) or self.acceptance_length is not None


def lines_with(text: str, *marks: str) -> Iterator[str]:
    """The lines of a text that contain one of the marks, at most `MAX_LINE` characters of each."""
    pattern, end = re.compile("|".join(map(re.escape, marks))), 0
    while match := pattern.search(text, end):
        begin = text.rfind("\n", end, match.start()) + 1 or end
        end = text.find("\n", match.start())
        end = len(text) if end < 0 else end + 1
        yield text[max(begin, match.start() - 80) : min(end, match.start() + MAX_LINE)].rstrip("\r\n")


def fields(patterns: dict[str, str], line: str) -> dict[str, Any]:
    """The numbers in a line, by the names of the patterns that match."""
    return {name: float(match[1]) for name, pattern in patterns.items() if (match := re.search(pattern, line))}


def objects_with(text: str, key: str) -> Iterator[dict[str, Any]]:
    """The JSON objects with a key: of a text that is JSON as a whole, or of those of its lines that contain JSON."""
    if f'"{key}"' not in text:
        return
    pending = _json(text)
    for line in [] if pending else text.splitlines():
        if f'"{key}"' in line:
            pending += _json(line[max(0, line.find("{")) : line.rfind("}") + 1])
    pending.reverse()
    while pending:
        one = pending.pop()
        if isinstance(one, dict) and key in one:
            yield one
        children = list(one.values()) if isinstance(one, dict) else one if isinstance(one, list) else []
        pending.extend(reversed(children))


def _json(text: str) -> list[Any]:
    try:
        return [parse_json(text)]
    except ValueError:
        return []


def number(value: Any) -> float | None:
    """A number from 0 of untrusted JSON; None for anything else."""
    valid = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
    return float(value) if valid else None
