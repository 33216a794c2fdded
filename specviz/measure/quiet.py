"""Whether other processes work on this machine while something is timed.

`python -m specviz.measure.quiet COMMAND ...` runs a command, with exit code 1 if the machine was
busy.
"""

from __future__ import annotations

import os
import subprocess
import sys
from time import perf_counter, sleep

import psutil

MAX_CORES = 0.2  # cores that others may use


class Watch:
    """What other processes use of this machine's processors, from when it is made."""

    def __init__(self) -> None:
        self.began = perf_counter()
        self.before = used_by_others()

    @classmethod
    def while_idle(cls, seconds: float = 1.0) -> Watch:
        """A watch on a machine that was idle just now.

        Raises:
            ValueError: if it was not.
        """
        first = cls()
        sleep(seconds)
        first.check()
        return cls()

    @property
    def cores(self) -> float:
        """How many cores others used since."""
        # Clocks of the system tick in hundredths: a short watch may come out below 0.
        return max(0.0, used_by_others() - self.before) / max(1e-9, perf_counter() - self.began)

    def check(self) -> None:
        """Raise an error if the machine was busy."""
        if (cores := self.cores) > MAX_CORES:
            raise ValueError(
                f"The machine is busy: other processes use {cores:.1f} cores, and at most "
                f"{MAX_CORES} are allowed. "
                "Nothing more was timed or stored. Close them and run the command again; it "
                "goes on where it stopped."
            )


def used_by_others() -> float:
    """Seconds that all processors worked, less those of this process."""
    times = psutil.cpu_times()._asdict()
    idle = {"idle", "iowait", "guest", "guest_nice"}  # a guest's time is in "user" as well
    return sum(seconds for kind, seconds in times.items() if kind not in idle) - sum(os.times()[:4])


def main(command: list[str]) -> int:
    """Run a command on an idle machine; its exit code, or 1 where other processes worked before or
    meanwhile."""
    try:
        watch = Watch.while_idle()
        code = subprocess.run(command, check=False).returncode
        watch.check()
        return code
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
