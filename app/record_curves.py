"""Record what Measure opens with: `python -m app.record_curves`, on an idle machine, some three
minutes."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from os import cpu_count

from specviz.base import codec
from specviz.base.files import CURVES
from specviz.models.pair import load_pair
from specviz.view.measurement import measure_machine

from .parts.recorded import Recorded

SIZES = {"memory": (2, 4, 8, 16, 32), "disk": (4, 8, 16, 32, 64)}


def main() -> None:
    """Measure the embedded pair with its weights in memory and on disk, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", default=f"{cpu_count()} cores", help="name of this machine")
    parser.add_argument("--weights", nargs="+", default=list(SIZES), choices=SIZES)
    args = parser.parse_args()
    costs, points = {}, {}
    for weights in args.weights:
        pair = load_pair(offload="disk") if weights == "disk" else load_pair()
        for update in measure_machine(pair, sizes=SIZES[weights]):
            print(f"{weights}: {update.done} of {update.total} runs", flush=True)
        assert update.result
        costs[weights], points[weights] = update.result.cost, update.result.points
    recorded = Recorded(costs, points, args.machine, datetime.now(UTC).date().isoformat())
    CURVES.write_text(codec.dumps(recorded) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
