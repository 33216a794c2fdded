"""Does speculation pay in an engine that already runs? Its logs and metrics, read and understood.

A step writes tau = 1 + accepted / steps tokens. With S tokens per second, and B of autoregressive
decoding of as many requests, it takes the time of c = tau B / S plain steps, and pays where tau > c
(Leviathan et al. 2023, theorem 3.8).
"""

from __future__ import annotations

from dataclasses import replace

from ..base.errors import ParameterError
from .advice import advice_on, simulated_by
from .json_records import read_json
from .log_lines import (
    read_benchmark,
    read_llama_log,
    read_llama_tool,
    read_offline_example,
    read_sglang_log,
    read_vllm_log,
    read_vllm_v0_log,
)
from .report import Report, pool, throughput_of
from .scrapes import read_metrics
from .window import Window

READERS = (
    read_vllm_log,
    read_vllm_v0_log,
    read_benchmark,
    read_offline_example,
    read_llama_log,
    read_llama_tool,
    read_sglang_log,
    read_json,
    read_metrics,
)


def diagnose(
    text: str, baseline: float | None = None, baseline_text: str | None = None
) -> tuple[Report, ...]:
    """What logs or metrics of engines say of their speculative decoding.

    Args:
        text: of one engine or several, among any other lines; of several files, one after the
            other.
        baseline: tokens per second of autoregressive decoding, with as many requests.
        baseline_text: the engine's log of autoregressive decoding, from which the baseline is
            taken.

    Returns:
        A report for each engine and load.

    Raises:
        ValueError: if nothing is recognised, an acceptance profile contradicts itself, or the
            baseline is not a number above 0.

    >>> line = "SpecDecoding metrics: Mean acceptance length: 1.97, Accepted: 630 tokens, "
    >>> line += "Drafted: 652 tokens, Per-position acceptance rate: 0.966, "
    >>> report, = diagnose(line + "Avg Draft acceptance rate: 96.6%")
    >>> report.engine, report.steps, round(report.acceptance_length, 3), report.pays
    ('vllm', 652.0, 1.966, None)
    """
    if baseline is not None and not (isinstance(baseline, int | float) and 0 < baseline < 1e12):
        raise ParameterError("baseline", "be a number above 0, in tokens per second", baseline)
    windows = read_windows(text)
    if not windows:
        raise ValueError(
            "Nothing that an engine decoded was found. Recognised are logs, responses and "
            "Prometheus metrics of vLLM, llama.cpp, SGLang and TensorRT-LLM, results of their "
            "benchmarks, records of AIPerf, and acceptance profiles."
        )
    plain = []
    for window in read_windows(baseline_text or ""):
        if not window.speculates:
            plain.append(window)
    if baseline_text is not None and not throughput_of(plain):
        raise ValueError(
            "The text for the baseline has no throughput of plain decoding. Give the number "
            "instead."
        )
    simulated = simulated_by(text)
    reports = []
    for report in pool(windows):
        load = report.running_requests
        # Plain decoding of another load says nothing of this one.
        comparable = []
        for window in plain:
            if window.engine == report.engine and (
                load is None or window.running_requests in (None, load)
            ):
                comparable.append(window)
        measured = baseline or throughput_of(comparable)
        report = replace(report, baseline=measured, simulated=simulated)
        reports.append(replace(report, advice=tuple(advice_on(report))))
    return tuple(reports)


def read_windows(text: str) -> list[Window]:
    """All that any engine says in a text."""
    # Every reader sees the whole text: files of several engines may stand one after the other.
    windows = []
    for reader in READERS:
        for window in reader(text):
            if window.speculates or window.throughput or window.running_requests:
                windows.append(window)
    return windows
