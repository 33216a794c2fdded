"""Readers of what engines answer or store as JSON, or print as Python: one `Window` an object.

Any text may stand before and after an object. Formats of vLLM (responses with acceptance metrics,
results of `bench serve`), SGLang (`meta_info`, `/server_info`), llama.cpp (`timings`, mlx-vlm's
too), TensorRT-LLM (statistics of iterations), AIPerf, ModelOpt's specdec_bench and the acceptance
profiles that it writes.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from functools import reduce

from ..base.codec import JsonObject
from ..record.chain_rates import marginal_rates, read_rates
from .window import (
    FORMATS,
    NAMES,
    Numbers,
    Window,
    histogram,
    number,
    of_histogram,
    rates_of,
    window_of,
)

OBJECTS: dict[str, JsonObject] = FORMATS["object"]
LONGEST_OBJECT = 1_000_000  # characters of an object that Python printed, or over many lines
TRIES = 3  # to find an object where a line has none
BROKEN = 50  # objects over many lines that may be broken before others are looked for in lines only
BEGINNING = re.compile(r"\{\s{0,99}(?:[\"']|$)")
DECODER = json.JSONDecoder()
BRACKETS = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|[\[\](){}]")


def read_json(text: str) -> Iterator[Window]:
    """A window for each object of a known form, wherever it stands.

    Of several objects with one id, the parts of a streamed answer, the last one counts.
    """
    answers: dict[object, list[Window]] = {}
    for place, value in enumerate(objects_in(text)):
        windows = list(_windows(value, 0))
        answer = None
        if isinstance(value, dict):
            answer = value.get("id")
        if windows:
            # A streamed answer repeats its id, and its last part has the final counts.
            answers[answer if isinstance(answer, str) else place] = windows
    for windows in answers.values():
        yield from windows


def objects_in(text: str) -> Iterator[object]:
    """The objects in a text, as JSON or as Python prints them, also those of lists that were cut
    off.

    The time is that of the text's length: lines that only look like objects are many in a log.
    """
    end = broken = 0
    for line in re.finditer(r"[^\n]+", text):
        failures = 0
        for begin in BEGINNING.finditer(line[0]):
            start = line.start() + begin.start()
            if start < end or failures == TRIES:
                continue
            # The line first: where decoding fails, json counts the lines of all that it was given.
            value, length = _object_at(line[0], begin.start())
            if not length and broken < BROKEN:
                value, length = _object_at(text[start : start + LONGEST_OBJECT], 0)
                broken += not length
            failures += not length
            if length:
                end = start + length
                yield value


def _object_at(text: str, start: int) -> tuple[object, int]:
    """The object that begins at `start`, and its length; None and 0 where there is none."""
    try:
        value, end = DECODER.raw_decode(text, start)
        return value, end - start
    except (ValueError, RecursionError):
        return _printed_by_python(text, start)


def _printed_by_python(text: str, start: int) -> tuple[object, int]:
    """The same of what Python printed."""
    if not re.match(r"\{\s{0,99}'", text[start : start + 110]):
        return None, 0
    depth = 0
    # Strings are skipped whole, as brackets in them open nothing.
    for bracket in BRACKETS.finditer(text, start, start + LONGEST_OBJECT):
        depth += {"[": 1, "{": 1, "(": 1, "]": -1, "}": -1, ")": -1}.get(bracket[0], 0)
        if depth == 0:
            try:
                return ast.literal_eval(text[start : bracket.end()]), bracket.end() - start
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                return None, 0
    return None, 0


def _windows(value: object, depth: int) -> Iterator[Window]:
    """The windows in a value."""
    if isinstance(value, dict):
        form = next(
            (form for form in OBJECTS if not value.keys().isdisjoint(OBJECTS[form]["keys"])), ""
        )
        if form:
            yield from _read(value, form)
        # What is of a known form but says nothing has nothing else in it.
        value = [] if form else list(value.values())
    if isinstance(value, list) and depth <= 20:
        for item in value:
            yield from _windows(item, depth + 1)


def _read(record: JsonObject, form: str) -> Iterator[Window]:
    """The window of an object of a form, if it says anything."""
    about = OBJECTS[form]
    parts = (_child(record, name) for name in about.get("inside", ()))
    record = next(filter(None, parts), record)
    found = numbers(record, about["numbers"])
    if form in AMENDMENTS:
        AMENDMENTS[form](record, found)
    if found:
        yield window_of(found.pop("engine", about["engine"]), about["source"], found)


def _child(record: JsonObject, name: str) -> JsonObject:
    child = record.get(name)
    if isinstance(child, dict):
        return child
    return {}


def numbers(record: JsonObject, places_of: dict[str, str]) -> Numbers:
    """The numbers of an object by their names in the table of a format.

    What is missing is left out, and so is a 0, which counts nothing, but for accepted tokens.
    """
    found: Numbers = {}
    for name, places in places_of.items():
        # Newer versions of an engine have other names, so there may be several places.
        for place in places.split():
            *parents, last = place.split(".")
            value = number(reduce(_child, parents, record).get(last))
            if value or (name == "accepted" and value is not None):
                found.setdefault(name, value)
    return found


# What follows from the numbers of a format, or stands elsewhere in its objects: each changes the
# numbers that were found, and clears those that say nothing.


def tensorrt(record: JsonObject, found: Numbers) -> None:
    """An iteration; one that also reads prompts gives no throughput."""
    prompts = found.pop("prompts", 0.0)
    if not {"drafted", "steps", "accepted"} <= found.keys():
        for name in ("drafted", "steps", "accepted", "draft_share"):
            found.pop(name, None)
    if prompts or "running_requests" not in found:
        found.pop("milliseconds", None)
    else:
        found["tokens"] = found["running_requests"] + found.get("accepted", 0.0)


def vllm(record: JsonObject, found: Numbers) -> None:
    """The acceptance of one request: a response of vLLM, or a record of AIPerf."""
    for name, value in of_histogram(histogram(record.get("acceptance_histogram"))).items():
        found.setdefault(name, value)
    rate = found.pop("token_rate", 0.0)
    if rate and found.get("accepted"):
        found.setdefault("drafted", float(round(found["accepted"] / rate)))
    if not found.keys() & {"steps", "acceptance_length"}:
        found.clear()
    elif str(record.get("engine")) in NAMES:
        found["engine"] = record["engine"]


def sglang(record: JsonObject, found: Numbers) -> None:
    """The `meta_info` of one request; its time includes reading the prompt."""
    steps = found.get("steps")
    if steps and "tokens" in found:
        found.setdefault("acceptance_length", found["tokens"] / steps)
    if steps and "acceptance_length" in found:
        found.setdefault("accepted", steps * (found["acceptance_length"] - 1))
    if not steps:
        found.pop("accepted", None)
    counts = record.get("spec_correct_drafts_histogram") or record.get("spec_accept_histogram")
    found["per_position"] = of_histogram(histogram(counts)).get("per_position", ())
    if {"tokens", "seconds"} <= found.keys():
        found |= {"running_requests": 1.0, "prompts": 1.0}
    else:
        found.pop("seconds", None)


def llama(record: JsonObject, found: Numbers) -> None:
    """The `timings` of one request; a step is any pass after the first token."""
    if "drafted" not in found:
        found.pop("accepted", None)
    if not {"tokens", "milliseconds"} <= found.keys():
        found.clear()
    elif "accepted" in found:
        found["steps"] = max(1.0, found["tokens"] - 1 - found["accepted"])


def benchmark(record: JsonObject, found: Numbers) -> None:
    """What `vllm bench serve --save-result` or SGLang's `bench_serving` stores."""
    if "accept_length" in record and "spec_decode_acceptance_length" not in record:
        found["engine"] = "sglang"
    found["per_position"] = rates_of(record.get("spec_decode_per_position_acceptance_rates"))
    found["prompts"] = 1.0


def specdec_bench(record: JsonObject, found: Numbers) -> None:
    """The acceptance of ModelOpt's specdec_bench, whose lengths contain the bonus token."""
    counts = of_histogram(histogram(record["Acceptance_Length_Histogram"]), bonus=1)
    if counts:
        found |= counts | {"acceptance_length": 1 + counts["accepted"] / counts["steps"]}


def profile(record: JsonObject, found: Numbers) -> None:
    """An acceptance profile; one that was not measured says nothing.

    Raises:
        ValueError: if its lists are no rates, or contradict each other.
    """
    rates = read_rates(record)
    if rates:
        found["per_position"] = marginal = marginal_rates(rates)
        found.setdefault("acceptance_length", 1 + sum(marginal))
    if record.get("measured") is False or "acceptance_length" not in found:
        found.clear()


AMENDMENTS: dict[str, Callable[[JsonObject, Numbers], None]] = {
    amend.__name__: amend
    for amend in (tensorrt, vllm, sglang, llama, benchmark, specdec_bench, profile)
}
