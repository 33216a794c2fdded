"""One run against plain decoding, timed in turns on the same prompt at the same temperature.

Unlike `trials`, which asks how good a tree is over many prompts, this asks how much faster one run was. The run and
plain decoding take turns, each going first as often as the other, so that a machine that slows down disturbs both
alike; a round's ratio is of two runs that stood next to each other, and the rounds show how far such ratios spread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..config import RunConfig
from ..decode import speculate
from ..protocols import Pair
from ..record import Step

ROUNDS = 3
LONGEST = 3.0  # seconds of decoding after which a repetition ends, if it has FEWEST tokens
FEWEST = 24  # tokens


@dataclass(frozen=True)
class Against:
    """A run against plain decoding.

    Args:
        speedup: tokens per second of the run over those of plain decoding, all rounds together.
        low, high: the smallest and largest ratio of a round.
        rounds: how many there were.
        tokens_per_s, plain_tokens_per_s: of all rounds together, without each first step, which also reads the prompt.
    """

    speedup: float
    low: float
    high: float
    rounds: int
    tokens_per_s: float
    plain_tokens_per_s: float


def counted(steps: Sequence[Step]) -> tuple[int, float]:
    """Tokens and seconds of a run after its first step, which also reads the prompt."""
    return sum(len(step.emitted) for step in steps[1:]), sum(step.seconds.total for step in steps[1:])


def in_turns(pair: Pair, config: RunConfig, first: tuple[int, float], rounds: int = ROUNDS) -> Iterator[Against | None]:
    """Time a run that was just made; None after every step, and what is known after every round.

    Args:
        pair: the models.
        config: of the run.
        first: `counted` of the run itself, which is the first turn of the first round.
        rounds: how many, from 1.
    """
    ratios: list[float] = []
    runs = [first]
    plain: list[tuple[int, float]] = []
    if not all(first):
        return  # it ended with its first step, so there is nothing to time
    for turn in range(rounds):
        ways = [(runs, config), (plain, config.plainly())]
        for found, asked in ways if turn % 2 == 0 else ways[::-1]:
            if len(found) > turn:
                continue  # the first run is there already
            steps: list[Step] = []
            for step in speculate(pair, asked):
                steps.append(step)
                yield None
                tokens, seconds = counted(steps)
                if seconds > LONGEST and tokens >= FEWEST:
                    break
            found.append(counted(steps))
        if not all(runs[-1]) or not all(plain[-1]):
            return
        ratios.append(_rate([runs[-1]]) / _rate([plain[-1]]))
        ours, theirs = _rate(runs), _rate(plain)
        yield Against(ours / theirs, min(ratios), max(ratios), len(ratios), ours, theirs)


def _rate(counts: Sequence[tuple[int, float]]) -> float:
    """Tokens per second of several runs together."""
    return sum(tokens for tokens, _ in counts) / sum(seconds for _, seconds in counts)
