"""vLLM's log: lines "SpecDecoding metrics", and the line "Engine 000" before each, which gives the throughput.

Sources: vllm-project/vllm, vllm/v1/spec_decode/metrics.py (`SpecDecodingLogging.log`; 0.8 had no throughputs and
another order) and vllm/v1/metrics/loggers.py (`LoggingStatLogger.log`). The acceptance length includes the bonus token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from .window import Window, lines_with

SAYS = "vLLM's log (SpecDecoding metrics)"
SPECULATION = "SpecDecoding metrics:"
PROMPTS = re.compile(r"Avg prompt throughput: (\d{1,9}(?:\.\d{1,9})?) tokens/s, Avg generation")
NOTE = "The throughput is of windows that also read prompts, so the cost of a step contains that time."
ENGINE = re.compile(r"Avg generation throughput: (\d{1,9}(?:\.\d{1,9})?) tokens/s, Running: (\d{1,9}) reqs")
FIELD = re.compile(r"(Mean acceptance length|Accepted|Drafted): (\d{1,12}(?:\.\d{1,9})?)")
RATES = re.compile(r"Per-position acceptance rate: (\d\.\d{1,9}(?:, \d\.\d{1,9}){0,127})")


def read(text: str) -> Iterator[Window]:
    """A window for each line "Engine", with the speculation of the line that follows it."""
    graphs = False if "enforce_eager=True" in text else None
    engine: Window | None = None
    for line in lines_with(text, "Avg generation throughput:", SPECULATION):
        if found := ENGINE.search(line):
            if engine:
                yield engine
            throughput, running = float(found[1]), float(found[2])
            engine = None
            if throughput and running:  # one that ends without requests was idle for a part of its time
                prompts = PROMPTS.search(line)
                note = NOTE if prompts and float(prompts[1]) else ""
                engine = Window("vllm", running=running, throughput=throughput, graphs=graphs, note=note)
        elif SPECULATION in line:
            window = _speculation(line)
            if engine:
                window = replace(window, running=engine.running, throughput=engine.throughput, note=engine.note)
            yield replace(window, graphs=graphs)
            engine = None
    if engine:
        yield engine


def _speculation(line: str) -> Window:
    fields = {name: float(value) for name, value in FIELD.findall(line)}
    accepted, drafted, mean = (fields.get(name) for name in ("Accepted", "Drafted", "Mean acceptance length"))
    rates = RATES.search(line)
    per_position = tuple(map(float, rates[1].split(", "))) if rates else ()
    if accepted is None or drafted is None:
        return Window("vllm", acceptance_length=mean, per_position=per_position)
    steps = _steps(accepted, drafted, mean, per_position)
    return Window("vllm", steps, drafted, accepted, per_position=per_position)


def _steps(accepted: float, drafted: float, mean: float | None, per_position: tuple[float, ...]) -> float | None:
    """How many steps there were: exact if all drafted the same number of tokens, else from the rounded means."""
    each = drafted / len(per_position) if per_position else 0.0
    if each and each == int(each) and mean is not None and abs(1 + accepted / each - mean) < 0.0051:
        return each
    if sum(per_position) and accepted:
        return float(max(1, round(accepted / sum(per_position))))
    return float(max(1, round(accepted / (mean - 1)))) if mean is not None and mean > 1 and accepted else None
