"""One run against plain decoding, timed in alternating rounds on the same prompt at the same temperature.

Unlike `trials`, which asks how good a tree is over many prompts, this asks how much faster one run was. A round's ratio
is of two runs that stood next to each other, and the rounds show how far such ratios spread.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ..config import RunConfig
from ..decode import speculate
from ..metrics import Counts
from ..models.base import Pair
from ..planning.machine_profile import machine
from ..record_parts import PairedSpeedup
from .alternating_rounds import paired

ROUNDS = 3
LONGEST = 3.0  # seconds of decoding after which a repetition ends, if it has FEWEST tokens
FEWEST = 24  # tokens


def in_turns(pair: Pair, config: RunConfig, first: Counts, rounds: int = ROUNDS) -> Iterator[PairedSpeedup | None]:
    """Time a run that was just made; None after every step, and what is known after every round.

    Args:
        pair: the models.
        config: of the run.
        first: the run itself, which is the first turn of the first round.
        rounds: how many, from 1.
    """
    if not first.tokens_per_s > 0:
        return  # it ended with its first step, so there is nothing to time
    ways = {"run": lambda _: speculate(pair, config), "plain": lambda _: speculate(pair, config.plainly())}
    _, processor, cores = machine()
    found: dict[str, list[Counts]] = {name: [] for name in ways}
    for turn, name, steps in paired(ways, rounds):
        counts = first if (turn, name) == (0, "run") else Counts()
        for step in () if counts is first else steps:
            counts += Counts.of([step])
            yield None
            if sum(counts.seconds) > LONGEST and counts.timed_tokens >= FEWEST:
                break
        if not counts.tokens_per_s > 0:
            return
        found[name].append(counts)
        if len(found["run"]) == len(found["plain"]):
            ours, theirs = (sum(each, Counts()) for each in found.values())
            ratios = [run.speedup(plain) for run, plain in zip(*found.values(), strict=True)]
            yield PairedSpeedup(
                ours.speedup(theirs), min(ratios), max(ratios), len(ratios), ours.tokens_per_s, theirs.tokens_per_s,
                first.tokens * ours.seconds_per_token, first.tokens * theirs.seconds_per_token,
                date.today().isoformat(), f"{processor}, {cores} {'core' if cores == 1 else 'cores'}",
            )  # fmt: skip
