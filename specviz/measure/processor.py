"""The machine that times are measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


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
