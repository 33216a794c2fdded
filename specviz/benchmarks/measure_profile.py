"""Measure a pair on this machine, for its `MachineProfile`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter, time

from ..acceptance.vectors import RunningAcceptance, find_acceptance
from ..builders.sequoia import Sequoia
from ..config import Choice, RunConfig
from ..decode import speculate
from ..models.base import Pair
from ..planning.machine_profile import EMBEDDED, MachineProfile, about, keep
from ..tree import Topology
from .measure_cost import PROMPT, measure_cost

SIZES = (1, 2, 4, 8, 12, 16, 24, 32, 64)
SECONDS = 5.0  # for the costs, and as much again for the acceptance of a pair that has no stored vectors
COUNTED = (("sequoia", 0.8), ("exact-match", 0.0))  # the rule and temperature of those
STEPS = 100  # that are counted at most


def measuring(pair: Pair, seconds: float = SECONDS) -> Iterator[MachineProfile | None]:
    """Measure a pair, in parts of some steps each: None after every part, at the end what is known, which is kept.

    Args:
        pair: the models.
        seconds: about how long.

    Raises:
        ValueError: if the pair has no draft, or ends every text at once.
    """
    table = None
    for progress in measure_cost(pair, RunConfig(PROMPT), SIZES, rounds=4, seconds=seconds):
        table = progress.known or table
        yield None
    assert table  # or `measure_cost` raises
    vectors = []
    if pair.info.get("name") != EMBEDDED:
        for verifier, temperature in COUNTED:
            vector = find_acceptance(verifier, temperature)
            for vector in _counting(pair, verifier, temperature, seconds / 2):  # noqa: B007  the last one counts
                yield None
            most = max(1.0, sum(vector))  # ranks are counted apart, and a stored rank weighs more where few were seen
            vectors.append((temperature, tuple(share / most for share in vector)))
    known = MachineProfile(about(pair.info), table, tuple(vectors), time())
    keep(known)
    yield known


def _counting(pair: Pair, verifier: str, temperature: float, seconds: float) -> Iterator[tuple[float, ...]]:
    """The acceptance vector as the pair's own text shows it step by step; at first it is the embedded pair's."""
    began = perf_counter()
    prior = find_acceptance(verifier, temperature)
    counted = RunningAcceptance.begin(prior)
    wide = Sequoia(size=24, depth=4, acceptance=prior)
    config = RunConfig(PROMPT, wide, Choice(verifier), temperature, max_new_tokens=pair.max_positions)
    for seed in range(8):
        for step in speculate(pair, replace(config, seed=seed)):
            counted = counted.learn(Topology(step.parents).children, step.path)
            yield counted.vector
            if perf_counter() - began > seconds or counted.steps >= STEPS:
                return
