"""llama.cpp's `timings` of single responses, as JSON.

Source: ggml-org/llama.cpp, tools/server/README.md and `result_timings::to_json` of tools/server/server-task.cpp. They
count no steps: a step is any pass after the first token, whether it had a draft or not.
"""

from __future__ import annotations

from collections.abc import Iterator

from .window import Window, number, objects_with

SAYS = "llama.cpp's timings of a response (draft_n)"


def read(text: str) -> Iterator[Window]:
    """A window for each response."""
    for timings in objects_with(text, "predicted_ms"):
        seconds, tokens = (number(timings.get(name)) or 0.0 for name in ("predicted_ms", "predicted_n"))
        seconds /= 1000
        if not seconds or tokens <= 1:
            continue
        window = Window("llama.cpp", throughput=tokens / seconds, seconds=seconds)
        drafted, accepted = number(timings.get("draft_n")), number(timings.get("draft_n_accepted"))
        if drafted and accepted is not None:
            steps = max(1.0, tokens - 1 - accepted)
            window = Window("llama.cpp", steps, drafted, accepted, throughput=window.throughput, seconds=seconds)
        yield window
