"""vLLM's metrics of single requests: `metrics.speculative_decoding` of a response, also one a line.

Sources: vllm-project/vllm, docs/features/speculative_decoding/acceptance_metrics.md
(`--per-request-spec-decode-metrics summary` or `detailed`) and docs/features/per_request_metrics.md. The histogram
counts steps by accepted tokens, without the bonus token.
"""

from __future__ import annotations

from collections.abc import Iterator

from .window import Window, number, objects_with, whole_numbers

SAYS = "vLLM's metrics of a request (speculative_decoding)"


def read(text: str) -> Iterator[Window]:
    """A window for each request."""
    for metrics in objects_with(text, "speculative_decoding"):
        said = metrics["speculative_decoding"]
        if not isinstance(said, dict):
            continue
        steps, drafted = number(said.get("num_spec_steps")), number(said.get("num_draft_tokens"))
        histogram = whole_numbers(said.get("acceptance_histogram"), 1025)
        accepted = number(said.get("num_accepted_draft_tokens"))
        if accepted is None and histogram:
            accepted = float(sum(place * count for place, count in enumerate(histogram)))
        if not steps or drafted is None or accepted is None:
            continue
        at_least = [sum(histogram[place:]) / steps for place in range(1, len(histogram))]
        each = whole_numbers(said.get("per_step_drafted")), whole_numbers(said.get("per_step_accepted"))
        chains = tuple(zip(*each, strict=True)) if len(each[0]) == len(each[1]) == steps else ()
        seconds = (number(metrics.get("generation_time_ms")) or 0.0) / 1000  # from the first token to the last
        yield Window(
            "vllm", steps, drafted, accepted, per_position=tuple(at_least), seconds=seconds or None,
            throughput=(accepted + steps) / seconds if seconds else None,
            per_step=chains if all(kept <= tried for tried, kept in chains) else (),
        )  # fmt: skip
