"""Paired timing: alternatives are timed in alternating rounds, so that a slower machine affects all equally."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from time import perf_counter
from typing import Any, TypeVar

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
