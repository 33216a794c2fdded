"""A report as rows of words, for the command and the page."""

from __future__ import annotations

from . import Report

NAMES = {"vllm": "vLLM", "llama.cpp": "llama.cpp", "sglang": "SGLang", "tensorrt-llm": "TensorRT-LLM"}


def rows_of(report: Report) -> list[tuple[str, str]]:
    """(name, value with its unit) of everything that the text says."""
    rows = [
        ("steps", report.steps, ",.0f", ""),
        ("drafted per step", report.drafted_per_step, ".2f", " tokens"),
        ("acceptance length", report.acceptance_length, ".2f", " tokens per step, with the bonus token"),
        ("acceptance rate", report.acceptance_rate, ".1%", " of the drafted tokens"),
        ("requests", report.running_requests, ".0f", " at a time"),
        ("throughput", report.throughput, ",.1f", " tokens/s"),
        ("plain decoding", report.baseline, ",.1f", " tokens/s"),
        ("price of a step", report.step_price, ".2f", " plain steps"),
        ("speedup", report.speedup, ".2f", " times plain decoding"),
    ]
    found = [(name, format(value, style) + unit) for name, value, style, unit in rows if value is not None]
    rates = "  ".join(f"{rate:.3f}" for rate in report.per_position)
    return [*found, ("positions", rates)] if rates else found
