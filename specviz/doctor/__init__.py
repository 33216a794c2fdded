"""Does speculation pay in an engine that already runs? Its logs and metrics, read and understood.

A reader is a module with `SAYS`, a few words on what it recognises, and `read(text)`, which yields a `Window` for each
line, request or scrape. It finds its lines among any others, in work that is in proportion to the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from ..errors import ParameterError
from . import llama_log, llama_timings, prometheus, sglang_log, tensorrt_stats, vllm_log, vllm_request
from .advice import advise
from .algebra import Report, baseline_of, pool
from .window import Window

NAMES = {"vllm": "vLLM", "llama.cpp": "llama.cpp", "sglang": "SGLang", "tensorrt-llm": "TensorRT-LLM"}
READERS = (vllm_log, vllm_request, llama_log, llama_timings, sglang_log, tensorrt_stats, prometheus)


def diagnose(text: str, baseline: float | None = None, baseline_text: str | None = None) -> tuple[Report, ...]:
    """What logs or metrics of engines say of their speculative decoding.

    Args:
        text: of one engine or several, among any other lines.
        baseline: tokens per second of plain decoding, with as many requests.
        baseline_text: the engine's log of plain decoding, from which the baseline is taken; its lines of speculation
            are ignored.

    Returns:
        a report for each engine and kind of text, in the order of `READERS`.

    Raises:
        ValueError: if nothing is recognised, or the baseline is not a number above 0.

    >>> line = "SpecDecoding metrics: Mean acceptance length: 1.97, Accepted: 630 tokens, Drafted: 652 tokens, "
    >>> report, = diagnose(line + "Per-position acceptance rate: 0.966, Avg Draft acceptance rate: 96.6%")
    >>> report.engine, report.steps, round(report.acceptance_length, 3), report.pays
    ('vllm', 652, 1.966, None)
    """
    if baseline is not None and not (isinstance(baseline, int | float) and 0 < baseline < 1e12):
        raise ParameterError("baseline", "be a number above 0, in tokens per second", baseline)
    found = [windows for reader in READERS for windows in _by_engine(reader.read(text))]
    if not found:
        raise ValueError(f"Nothing of an engine was found. Recognised are {recognised()}.")
    plain: list[Window] = []
    if baseline_text is not None:
        plain = [one for reader in READERS for one in reader.read(baseline_text) if not one.speculates]
        if not any(one.throughput for one in plain):
            raise ValueError("The text for the baseline has no throughput of plain decoding. Give the number instead.")
    return tuple(_report(windows, baseline, plain) for windows in found)


def recognised() -> str:
    """What is read, in words."""
    says = [reader.SAYS for reader in READERS]
    return f"{', '.join(says[:-1])}, and {says[-1]}"


def _by_engine(windows: Any) -> list[list[Window]]:
    ordered = sorted(windows, key=lambda one: one.engine)
    return [list(group) for _, group in groupby(ordered, key=lambda one: one.engine)]


def _report(windows: Sequence[Window], baseline: float | None, plain: Sequence[Window]) -> Report:
    found = pool(windows)
    found = replace(found, baseline=baseline or baseline_of(plain, found))
    if plain and found.baseline is None and found.seen:
        missing = f"The text for the baseline has no {found.engine} window of plain decoding under this load."
        found = replace(found, notes=(*found.notes, missing))
    return replace(found, advice=advise(found))


def rows_of(report: Report) -> list[tuple[str, str]]:
    """(name, value with its unit) of everything that the text says, for the command and the page."""
    rows = [
        ("steps", report.steps, ",.0f", ""),
        ("drafted per step", report.drafted_per_step, ".2f", " tokens"),
        ("acceptance length", report.acceptance_length, ".2f", " tokens per step, with the bonus token"),
        ("acceptance rate", report.acceptance_rate, ".1%", " of the drafted tokens"),
        ("requests", report.running_requests, ".0f", " at a time"),
        ("throughput", report.throughput, ",.1f", " tokens/s"),
        ("plain decoding", report.baseline, ",.1f", " tokens/s"),
        ("cost of a step", report.step_price, ".2f", " plain steps"),
        ("speedup", report.speedup, ".2f", " times plain decoding"),
    ]
    found = [(name, format(value, style) + unit) for name, value, style, unit in rows if value is not None]
    rates = "  ".join(f"{rate:.3f}" for rate in report.per_position)
    return [*found, ("positions", rates)] if rates else found
