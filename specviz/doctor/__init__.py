"""Does speculation pay in an engine that already runs? Its logs and metrics, read and understood.

A step writes tau = 1 + accepted / steps tokens. With S tokens per second, and B of autoregressive
decoding of as many requests, it takes the time of c = tau B / S plain steps, and pays where tau > c
(Leviathan et al. 2023, theorem 3.8).
"""

from __future__ import annotations

from dataclasses import replace

from ..base.errors import ParameterError
from . import engines
from .report import NAMES, Report, Window, pool, throughput_of

READERS = [value for name, value in vars(engines).items() if name.startswith("read_")]


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
        A report for each engine.

    Raises:
        ValueError: if nothing is recognised, or the baseline is not a number above 0.

    >>> line = "SpecDecoding metrics: Mean acceptance length: 1.97, Accepted: 630 tokens, Drafted: 652 tokens, "
    >>> report, = diagnose(line + "Per-position acceptance rate: 0.966, Avg Draft acceptance rate: 96.6%")
    >>> report.engine, report.steps, round(report.acceptance_length, 3), report.pays
    ('vllm', 652, 1.966, None)
    """
    if baseline is not None and not (isinstance(baseline, int | float) and 0 < baseline < 1e12):
        raise ParameterError("baseline", "be a number above 0, in tokens per second", baseline)
    windows = read_windows(text)
    if not windows:
        raise ValueError(
            "Nothing of an engine was found. Recognised are logs and Prometheus metrics of "
            "vLLM, llama.cpp, SGLang and "
            "TensorRT-LLM, and TensorRT-LLM's statistics of iterations."
        )
    baselines = [window for window in read_windows(baseline_text or "") if not window.speculates]
    if baseline_text is not None and not throughput_of(baselines):
        raise ValueError(
            "The text for the baseline has no throughput of plain decoding. Give the number "
            "instead."
        )
    reports = []
    for engine in NAMES:
        if of_engine := [one for one in windows if one.engine == engine]:
            report = pool(engine, of_engine)
            running, comparable = (
                report.running_requests,
                [one for one in baselines if one.engine == engine],
            )
            comparable = [
                one
                for one in comparable
                if running is None or one.running_requests in (None, running)
            ]
            reports.append(replace(report, baseline=baseline or throughput_of(comparable)))
    return tuple(reports)


def read_windows(text: str) -> list[Window]:
    """All that any engine says in a text."""
    windows = (window for reader in READERS for window in reader(text))
    return [
        window
        for window in windows
        if window.speculates or window.throughput or window.running_requests
    ]
