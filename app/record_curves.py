"""Measure what the tab Measure opens with: `python -m app.record_curves`. Needs an idle machine."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from os import cpu_count
from typing import Any

from specviz import RunConfig, codec
from specviz.acceptance.calibration import Progress, calibrate, gather
from specviz.benchmarks.measure_cost import PROMPT, cost_table
from specviz.files import CURVES

from .machine.models import default_pair
from .parts.recorded import Recorded, read
from .parts.study_list import STUDIES
from .tabs.speedup.timing import time_sizes

RULES = ("sequoia", "specinfer", "target-match", "race")


def main() -> None:
    """Measure and write what the tabs open with."""
    parser = argparse.ArgumentParser(description="Measure what the tab Measure opens with.")
    parser.add_argument("--text", default="own-prose", help="own-prose, own-code, prose or code")
    parser.add_argument("--positions", type=int, default=600)
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--sizes", default="2,3,4,6,8,12,16,24,32,64")
    parser.add_argument("--rounds", type=int, default=6)
    untimed = [name for name, study in STUDIES.items() if not study.timed]
    groups = {"studies": [*STUDIES], "counted": untimed} | {name: [name] for name in STUDIES}
    parser.add_argument(
        "--only", choices=groups, help="record only these studies; counted ones do not need an idle machine"
    )
    args = parser.parse_args()
    pair, config = default_pair(), RunConfig(PROMPT, temperature=args.temperature, seed=1)
    if args.only:
        past = read()
        _write(replace(past, studies=past.studies | studied(pair, config, groups[args.only])))
        return
    *_, (_, _, texts) = gather(pair, args.text, "", args.positions, config)
    for news in calibrate(pair, texts, RULES, config):
        _show(news)
    calibration = news.calibration
    assert calibration.rates and calibration.uncertainty
    print("costs", flush=True)
    cost = cost_table(pair, config, rounds=5, seconds=90.0)
    sizes = [int(size) for size in args.sizes.split(",")]
    for timed in time_sizes(pair, calibration.vectors[0], cost, sizes, args.rounds):
        print(f"speedup: {timed.done} of {timed.of} runs", flush=True)
    machine = f"a machine of {cpu_count()} cores"
    studies = studied(pair, config, [*STUDIES])
    _write(Recorded(calibration, cost, timed.known, studies, pair.info["name"], machine))
    print(f"{CURVES.name}: {calibration.positions} positions, {len(timed.known)} sizes")


def studied(pair: Any, config: RunConfig, names: Sequence[str]) -> dict[str, Any]:
    """The infos of studies by name."""
    infos = {}
    for name in names:
        *_, (_, _, info) = STUDIES[name].run(pair, config)
        infos[name] = info
        print(f"study: {name}", flush=True)
    return infos


def _write(data: Recorded) -> None:
    CURVES.write_text(codec.dumps(data) + "\n", encoding="utf-8")


def _show(news: Progress) -> None:
    print(f"{news.stage}: {news.done} of {news.of} positions", flush=True)


if __name__ == "__main__":
    main()
