"""What was measured of a pair on this machine, and the best tree that follows from it.

`calibrate` measures, on an idle machine. One entry for each machine, pair, number format and device is stored in a file
of the user's cache folder (SPECVIZ_CACHE names another one).
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import codec
from ..acceptance.vectors import EMBEDDED, find_acceptance
from ..files import PAIR, __version__, from_cache, parse_json, to_cache
from .cost_table import CostTable
from .forecast import Cell, forecast

DEPTHS = range(1, 13)
CACHE = "speed.json"
MAX_ENTRIES = 32


@dataclass(frozen=True)
class MachineProfile:
    """What was measured of a pair on this machine.

    Args:
        about: the machine, the pair with its number format and device, and the version; plain JSON data.
        table: the costs.
    """

    about: dict[str, Any]
    table: CostTable

    def best(self, verifier: str, temperature: float, most: int = 1024, least: int = 2) -> Cell:
        """Sequoia's tree of largest predicted speedup with at least `least` and up to `most` nodes."""
        largest = max(least, min(most, 2 * self.table.sizes[-1]))
        sizes = [size for size in range(least, largest + 1) if size <= 32 or size % 8 == 0]
        return forecast(find_acceptance(verifier, temperature), self.table, sizes, DEPTHS).best


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


def stored_profiles() -> list[MachineProfile]:
    """Every entry there is, the latest last; [] where the file is missing or damaged, since it can be made again."""
    return from_cache(CACHE, _read) or []


def _read(path: Path) -> list[MachineProfile]:
    entries = parse_json(path.read_text(encoding="utf-8"))["entries"]
    return [codec.read(MachineProfile, row, "entry") for row in entries]


def store_profile(known: MachineProfile) -> None:
    """Write an entry down in place of an older one of the same; where nothing can be written it is only not kept."""
    others = [one for one in stored_profiles() if one.about != known.about]
    text = codec.dumps({"entries": [*others, known][-MAX_ENTRIES:]}, exact=True)
    to_cache(CACHE, text)


def find_profile() -> MachineProfile | None:
    """What is known of the embedded pair, which need not be loaded."""
    ours = {"machine": machine(), "version": __version__, "bytes": embedded_bytes()}.items()
    for one in reversed(stored_profiles()):
        if ours <= one.about.items() and "offload" not in str(one.about.get("pair", {}).get("device", "")):
            return one
    return None
