"""Speedup against the length of the text, policy by policy: two tables share it."""

from ..bench import speedup
from ..entry import Lines, Series
from .policies import POLICIES

LENGTHS = (64, 128, 256)


def measured(bench, temperature):
    """Speedup of each policy over the first 64, 128 and 256 tokens of one run a prompt, as far as the window goes."""
    most = min(LENGTHS[-1], bench.pair.max_positions - 40)
    prompts = bench.prompts[:2]
    plain = bench.plain(temperature, prompts, max_new_tokens=most)
    found = {}
    for name, builder in POLICIES.items():
        runs = bench.runs(builder, temperature, None, prompts, max_new_tokens=most)
        found[name] = [
            [n, speedup([_first(run, n) for run in runs], [_first(run, n) for run in plain])]
            for n in LENGTHS
            if n <= most
        ]
    return {"points": found, "window": bench.pair.max_positions}


class _Part:
    """The steps of a run that wrote its first tokens."""

    def __init__(self, steps):
        self.steps = steps


def _first(trace, count):
    steps, written = [], 0
    for step in trace.steps:
        if written >= count:
            break
        steps.append(step)
        written += len(step.emitted)
    return _Part(steps)


def shown(data):
    """The lines of both tables."""
    return [
        Lines(
            "tokens written",
            "speedup, timed",
            [Series(name, points) for name, points in data["points"].items()],
            log_x=True,
        )
    ]


def sentence(data):
    """How the policies stand at the longest text."""
    last = {name: points[-1] for name, points in data["points"].items() if points}
    return ", ".join(f"{name} {value:.2f}" for name, (_, value) in last.items()), max(
        last, key=lambda name: last[name][1] or 0
    )
