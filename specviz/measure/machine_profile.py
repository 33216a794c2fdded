"""The costs of the embedded pair on this machine, which `calibrate` stores, and the best tree that
follows from them.

They lie in a file of the user's cache folder (SPECVIZ_CACHE names another one).
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

from ..base import codec
from ..base.codec import JsonObject
from ..base.files import PAIR, __version__, from_cache, parse_json, to_cache
from ..record.vectors import EMBEDDED, find_acceptance
from .cost_table import CostTable
from .forecast import Cell, forecast

DEPTHS = range(1, 13)
CACHE = "costs.json"


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
    # A container or a job may be allowed fewer cores than there are.
    able = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        able = len(os.sched_getaffinity(0))
    return [platform.system(), model, able]


def fingerprint() -> JsonObject:
    """What the costs depend on: this machine, the version, and the embedded weights, whose size
    changes with them."""
    size = sum(file.stat().st_size for file in PAIR.glob("*/*.safetensors"))
    return {"machine": machine(), "version": __version__, "bytes": size}


def store_costs(costs: CostTable) -> None:
    """Store costs in place of older ones if they are those of the embedded pair in memory with its
    draft model."""
    # Only what was measured with the defaults of the page may stand for it.
    own = {"pair": EMBEDDED, "drafter": "model", "offload": None}
    if own == {name: costs.settings.get(name) for name in own}:
        to_cache(CACHE, codec.dumps({"about": fingerprint(), "costs": costs}, all_digits=True))


def find_costs() -> CostTable | None:
    """What was stored of the embedded pair, which need not be loaded; None where it is missing,
    damaged or outdated."""
    return from_cache(CACHE, _read)


def _read(path: Path) -> CostTable | None:
    data = parse_json(path.read_text(encoding="utf-8"))
    if data["about"] != fingerprint():
        return None
    return codec.read(CostTable, data["costs"], "costs")


def best_size(costs: CostTable, verifier: str, temperature: float, max_nodes: int = 1024) -> Cell:
    """Sequoia's tree of largest predicted speedup with up to `max_nodes` nodes."""
    largest = max(2, min(max_nodes, 2 * costs.sizes[-1]))
    # Above 32 nodes neighbours differ by less than a measurement can tell.
    sizes = []
    for size in range(2, largest + 1):
        if size <= 32 or size % 8 == 0:
            sizes.append(size)
    return forecast(find_acceptance(verifier, temperature), costs, sizes, DEPTHS).best
