"""`/metrics` of the four engines, in Prometheus's text format: one scrape, or several, of which the last minus the
first counts.

Sources: vllm-project/vllm, vllm/v1/spec_decode/metrics.py (`SpecDecodingProm`); ggml-org/llama.cpp,
tools/server/server-task.cpp (`server_task_result_metrics`); sgl-project/sglang,
python/sglang/srt/observability/metrics_collector.py; NVIDIA/TensorRT-LLM, tensorrt_llm/metrics/collector.py. Counters
of several workers are added up. `_created` is a time and is ignored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from .sglang_log import understood
from .window import Window, lines_with

SAYS = "Prometheus metrics of vLLM, llama.cpp, SGLang or TensorRT-LLM"
PREFIXES = ("vllm:", "llamacpp:", "sglang:", "trtllm_")
USED = (
    "_num_drafts_total", "_num_draft_tokens_total", "_num_accepted_tokens_total", "_num_accepted_tokens_per_pos_total",
    "_drafted_tokens_total", "_accepted_tokens_total", ":tokens_predicted_total", ":tokens_predicted_seconds_total",
    ":num_requests_running", ":num_running_reqs", ":spec_accept_length", ":spec_accept_rate", ":gen_throughput",
    "_spec_decode_acceptance_length", "_spec_decode_draft_overhead", "_num_generation_requests",
)  # fmt: skip
POSITION = ("position", "token_position")

Scrape = dict[tuple[str, int | None], float]  # (name, position): value, of all workers together


def read(text: str) -> Iterator[Window]:
    """A window for each engine."""
    scrapes = _scrapes(text)
    if not scrapes:
        return
    first, last = scrapes[0], scrapes[-1]
    counters = {key: value - first.get(key, 0.0) for key, value in last.items() if key[0].endswith("_total")}
    if len(scrapes) < 2 or any(value < 0 for value in counters.values()):  # the server was started again between them
        counters = {key: value for key, value in last.items() if key[0].endswith("_total")}
    now = last | counters
    for prefix, engine in (("vllm:", "vllm"), ("llamacpp:", "llama.cpp")):
        if any(name.startswith(prefix) for name, _ in now):
            yield _counted(now, engine, prefix)
    if any(name.startswith("sglang:") for name, _ in now):
        yield _sglang(now)
    if any(name.startswith("trtllm_") for name, _ in now):
        yield _tensorrt(now)


def _samples(text: str) -> Iterator[Sample]:
    """The samples that are used; a line that is no sample is skipped."""
    for line in lines_with(text, *PREFIXES):
        line = line[max(0, min(place for prefix in PREFIXES if (place := line.find(prefix)) >= 0)) :]
        if line.partition("{")[0].partition(" ")[0].endswith(USED):
            try:
                for family in text_string_to_metric_families(line + "\n"):
                    yield from (one for one in family.samples if 0 <= one.value < 1e15)
            except (ValueError, KeyError, IndexError):
                continue


def _scrapes(text: str) -> list[Scrape]:
    """Sums by name and position, a new scrape beginning where a series comes again."""
    scrapes: list[Scrape] = []
    seen: set[tuple] = set()
    for sample in _samples(text):
        series = (sample.name, *sorted(sample.labels.items()))
        if not scrapes or series in seen:
            scrapes.append(defaultdict(float))
            seen = set()
        seen.add(series)
        place = next((sample.labels[name] for name in POSITION if name in sample.labels), None)
        if place is None or (place.isascii() and place.isdigit() and len(place) < 4):
            scrapes[-1][sample.name, None if place is None else int(place)] += sample.value
    return scrapes


def _per_position(now: Scrape, name: str, steps: float | None) -> tuple[float, ...]:
    counts = {place: value for (one, place), value in now.items() if one == name and place is not None}
    if not steps or sorted(counts) != list(range(len(counts))):
        return ()
    return tuple(counts[place] / steps for place in range(len(counts)))


def _counted(now: Scrape, engine: str, prefix: str) -> Window:
    """vLLM and llama.cpp, whose counters of speculation have the same names."""
    spec = f"{prefix}spec_decode_num"
    steps, drafted, accepted = (
        now.get((f"{spec}_{name}_total", None)) for name in ("drafts", "draft_tokens", "accepted_tokens")
    )
    seconds = now.get((f"{prefix}tokens_predicted_seconds_total", None)) or None
    tokens = now.get((f"{prefix}tokens_predicted_total", None))
    return Window(
        engine, steps or None, drafted, accepted,
        per_position=_per_position(now, f"{spec}_accepted_tokens_per_pos_total", steps),
        running=now.get((f"{prefix}num_requests_running", None)) or None,
        throughput=tokens / seconds if tokens and seconds else None, seconds=seconds,
    )  # fmt: skip


def _sglang(now: Scrape) -> Window:
    """SGLang, whose gauges tell of its last batches."""
    length, rate = (now.get((f"sglang:spec_accept_{name}", None)) or None for name in ("length", "rate"))
    draft_length, note = understood([(length, rate)] if length and rate else [])
    return Window(
        "sglang", acceptance_length=length, draft_length=draft_length,
        running=now.get(("sglang:num_running_reqs", None)) or None,
        throughput=now.get(("sglang:gen_throughput", None)) or None, note=note if length else "",
    )  # fmt: skip


def _tensorrt(now: Scrape) -> Window:
    """TensorRT-LLM: counters by position where there are any, else the totals and the last acceptance length."""
    spec = "trtllm_spec_decode"
    drafted, accepted = (
        {place: value for (name, place), value in now.items() if name == f"{spec}_{kind}_tokens_total"}
        for kind in ("drafted", "accepted")
    )
    share = now.get((f"{spec}_draft_overhead", None)) or None
    running = now.get(("trtllm_num_generation_requests", None)) or None
    if steps := drafted.get(0):  # every step drafts its first token
        return Window(
            "tensorrt-llm", steps, sum(drafted.values()), sum(accepted.values()),
            per_position=_per_position(now, f"{spec}_accepted_tokens_total", steps), running=running, draft_share=share,
        )  # fmt: skip
    return Window(
        "tensorrt-llm", None, now.get((f"{spec}_num_draft_tokens_total", None)),
        now.get((f"{spec}_num_accepted_tokens_total", None)), running=running, draft_share=share,
        acceptance_length=now.get((f"{spec}_acceptance_length", None)) or None,
    )  # fmt: skip
