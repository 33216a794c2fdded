"""TensorRT-LLM's statistics of iterations as JSON, of `/metrics` or `LLM.get_stats`.

Sources: NVIDIA/TensorRT-LLM, cpp/include/tensorrt_llm/executor/types.h (`SpecDecodingStats`, `IterationStats`) and
tensorrt_llm/_torch/pyexecutor/py_executor.py. An iteration that also reads prompts gives no throughput. Drafters inside
the target report no time of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from .window import Window, number, objects_with

SAYS = "TensorRT-LLM's statistics (specDecodingStats)"


def read(text: str) -> Iterator[Window]:
    """A window for each iteration that generates."""
    for stats in objects_with(text, "iterLatencyMS"):
        batch, said = stats.get("inflightBatchingStats"), stats.get("specDecodingStats")
        batch, said = batch if isinstance(batch, dict) else {}, said if isinstance(said, dict) else {}
        seconds = (number(stats.get("iterLatencyMS")) or 0.0) / 1000
        timed = bool(seconds) and not number(batch.get("numContextRequests"))
        drafted, accepted, steps = (
            number(said.get(name)) for name in ("numDraftTokens", "numAcceptedTokens", "numRequestsWithDraftTokens")
        )
        running = number(batch.get("numGenRequests")) or steps
        if drafted and accepted is not None and steps and running:
            spent = number(said.get("iterLatencyMS"))
            yield Window(
                "tensorrt-llm", steps, drafted, accepted, running=running,
                throughput=(accepted + running) / seconds if timed else None, seconds=seconds if timed else None,
                draft_share=min(1.0, spent / 1000 / seconds) if timed and spent else None,
            )  # fmt: skip
        elif timed and running and "numDraftTokens" not in stats:
            yield Window("tensorrt-llm", running=running, throughput=running / seconds, seconds=seconds)
