"""The best tree on this machine: costs that are measured once, in a few seconds, and kept; the tree that follows.

`clock` measures and `forecast` predicts. Here is what is remembered between two starts: one entry for each machine,
pair, number format and device, in a file of the user's cache folder (SPECVIZ_CACHE names another one).
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, time
from typing import Any

from .. import codec
from .._version import __version__
from ..acceptance.vectors import RunningAcceptance, find_acceptance
from ..builders.sequoia import Sequoia
from ..codec import Share
from ..config import Choice, RunConfig
from ..decode import speculate
from ..files import from_cache, parse_json, to_cache
from ..models.base import Pair
from ..paths import PAIR
from ..planning.cost_table import CostTable
from ..planning.forecast import Cell, forecast
from ..tree import Topology
from .cost import PROMPT, measure_cost

SIZES = (1, 2, 4, 8, 12, 16, 24, 32, 64)
SECONDS = 5.0  # for the costs, and as much again for the acceptance of a pair that has no stored vectors
COUNTED = (("sequoia", 0.8), ("exact-match", 0.0))  # the rule and temperature of those
STEPS = 100  # that are counted at most
DEPTHS = range(1, 13)
CACHE = "speed.json"
MOST = 32  # entries that are kept
DAY = 86_400.0  # seconds after which a measurement is made again: the machine may have been busy with something else
EMBEDDED = "embedded pair"


@dataclass(frozen=True)
class MachineProfile:
    """What was measured of a pair on this machine.

    Args:
        about: the machine, the pair with its number format and device, and the version; plain JSON data.
        table: the costs.
        vectors: (temperature, acceptance vector) pairs that were counted; empty where the stored ones are the pair's.
        when: seconds since 1970.
    """

    about: dict[str, Any]
    table: CostTable
    vectors: tuple[tuple[float, tuple[Share, ...]], ...] = ()
    when: float = 0.0

    @property
    def old(self) -> bool:
        """Whether it is time to measure again; until that is done, this is what is known."""
        return not 0 <= time() - self.when < DAY

    def best(self, verifier: str, temperature: float, most: int = 1024) -> Cell:
        """Sequoia's tree of largest predicted speedup.

        Args:
            verifier: menu name of the rule.
            temperature: the target's.
            most: nodes it may have, at least 2.
        """
        vector = find_acceptance(verifier, temperature)
        if self.vectors:
            # A text written greedily and one that is drawn are two things; apart from that the nearest will do.
            fit = [row for row in self.vectors if (row[0] == 0) == (temperature == 0)] or self.vectors
            vector = min(fit, key=lambda row: abs(row[0] - temperature))[1]
        largest = max(2, min(most, 2 * self.table.sizes[-1]))
        sizes = [size for size in range(2, largest + 1) if size <= 32 or size % 8 == 0]
        return forecast(vector, self.table, sizes, DEPTHS).best


def about(info: dict[str, Any]) -> dict[str, Any]:
    """What costs depend on: this machine, a pair as it describes itself, and the version of the engine."""
    files = {"bytes": embedded_bytes()} if info.get("name") == EMBEDDED else {}
    return {"machine": machine(), "version": __version__, "pair": info} | files


def machine() -> list[str | int]:
    """This machine's processor and how many of its cores may be used."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    able = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return [platform.system(), model, able]


def embedded_bytes() -> int:
    """The size of the embedded pair's weights, which changes where the pair does."""
    return sum(file.stat().st_size for file in PAIR.glob("*/*.safetensors"))


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
        table = progress.table or table
        yield None
    if table is None:
        raise ValueError("the models end every text at once, so there is no step to time.")
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


def kept() -> list[MachineProfile]:
    """Every entry there is, the latest last; [] where the file is missing or damaged, since it can be made again."""
    return from_cache(CACHE, _read) or []


def _read(path: Path) -> list[MachineProfile]:
    entries = parse_json(path.read_text(encoding="utf-8"))["entries"]
    return [codec.read(MachineProfile, row, "entry") for row in entries]


def keep(known: MachineProfile) -> None:
    """Write an entry down in place of an older one of the same; where nothing can be written it is only not kept."""
    others = [one for one in kept() if one.about != known.about]
    text = codec.dumps({"entries": [*others, known][-MOST:]}, exact=True)
    to_cache(CACHE, lambda path: path.write_text(text, encoding="utf-8"))


def recall(info: dict[str, Any] | None = None) -> MachineProfile | None:
    """What is known of a pair, by how it describes itself; None means the embedded one, which need not be loaded."""
    if info is not None:
        wanted = codec.plain(about(info), exact=True)
        return next((one for one in reversed(kept()) if one.about == wanted), None)
    ours = {"machine": machine(), "version": __version__, "bytes": embedded_bytes()}
    return next((one for one in reversed(kept()) if ours.items() <= one.about.items()), None)
