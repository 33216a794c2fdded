"""What passes over several rows at once take on this machine, timed in turns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from ..measure.so_far import SoFar
from ..randomness import Randomness
from ..tree import Topology

Name = TypeVar("Name", bound=Hashable)


def random_pass(
    model: Any, rng: Randomness, vocab: int, rows: int, before: int, tokens: int | Topology
) -> Callable[[], np.ndarray]:
    """A batched pass over random tokens behind random texts: its time is that of any tokens.

    Args:
        model: a target or a draft that reads batches.
        rng: where the tokens come from.
        vocab: how many tokens there are.
        rows: texts read at once.
        before: tokens of each text before the pass.
        tokens: how many are read of each text, in a causal run, or the tree that they form.
    """
    shape = tokens if isinstance(tokens, Topology) else None
    count = len(tokens) if isinstance(tokens, Topology) else tokens
    any_token = np.ones(vocab)
    texts, ids = (
        np.array([[rng.draw(any_token) for _ in range(length)] for _ in range(rows)]) for length in (before, count)
    )
    return model.batch(texts, ids, shape)


def seconds_in_turns(passes: Mapping[Name, Callable[[], Any]], rounds: int = 5) -> Iterator[SoFar[dict[Name, float]]]:
    """Median seconds of each pass, which take turns, so that a machine that slows down disturbs all alike.

    Args:
        passes: what to time, by name; each runs once more at first, uncounted.
        rounds: how often each is timed.

    Returns:
        Rounds done, of how many, and the medians; empty before the first.
    """
    took: dict[Name, list[float]] = {name: [] for name in passes}
    for turn in range(rounds + 1):
        for name, run in passes.items():
            began = perf_counter()
            run()
            if turn:
                took[name].append(perf_counter() - began)
        yield SoFar(turn, rounds, {name: median(each) for name, each in took.items() if each})
