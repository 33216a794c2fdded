"""Paired timing: alternatives are timed in alternating rounds, so that a slower machine affects all equally."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

from ..acceptance.progress import SoFar

Name = TypeVar("Name", bound=Hashable)
Found = TypeVar("Found")


def paired(ways: Mapping[Name, Callable[[int], Found]], rounds: int) -> Iterator[tuple[int, Name, Found]]:
    """Do everything once a round, in an order that turns from round to round; stop iterating to stop it.

    Args:
        ways: what to do, by name; each is given the number of the round, from 0.
        rounds: how many.

    Returns:
        The round, the name, and what was found: seconds, counted steps, or steps that are decoded as one asks for them.
    """
    names = list(ways)
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            yield turn, name, ways[name](turn)


def seconds_of(call: Callable[[], Any]) -> float:
    """How long a call takes."""
    began = perf_counter()
    call()
    return perf_counter() - began


def seconds_in_turns(passes: Mapping[Name, Callable[[], Any]], rounds: int = 5) -> Iterator[SoFar[dict[Name, float]]]:
    """Median seconds of each pass, timed in turns.

    Args:
        passes: what to time, by name; each runs once more at first, uncounted.
        rounds: how often each is timed.

    Returns:
        Rounds done, of how many, and the medians; empty before the first.
    """
    took: dict[Name, list[float]] = {name: [] for name in passes}
    ways = {name: partial(_seconds, run) for name, run in passes.items()}
    for turn, name, seconds in paired(ways, rounds + 1):
        took[name].append(seconds)
        if sum(map(len, took.values())) == (turn + 1) * len(took):
            yield SoFar(turn, rounds, {name: median(each[1:]) for name, each in took.items() if turn})


def _seconds(run: Callable[[], Any], turn: int) -> float:
    return seconds_of(run)
