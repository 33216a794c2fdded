"""`agree`: compare predicted tokens per pass or speedup with measurements."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from ..acceptance.progress import whole
from ..benchmarks.agreement import Agreement, agreement, prompts_like
from ..benchmarks.measure_cost import PROMPT, measure_cost
from ..benchmarks.predictions import SpeedupPrediction, predictor, speedup_predictions, trees_of
from ..builders import BUILDERS
from ..builders.filling import StaticBuilder
from ..codec import dumps, plain
from ..compatibility import compatible, suited
from ..config import RunConfig
from ..files import printable
from ..metrics import plus_minus
from ..models.base import Pair
from ..strategy import format_strategy
from ..verifiers.base import Verifier
from .bench import PROMPTS_HELP, built_in_prompts, read_prompts
from .options import add_pair, add_rows, add_strategy, file_of_another, load, numbers, sampling, strategy
from .watching import until_stopped, watched

EXAMPLE = "--builder sequoia:size=16,depth=6 --temperature 0 0.6 1 --each 100"
SIZES = (2, 4, 8, 16, 32)
COSTED = (1, 2, 4, 8, 16, 32, 64)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_strategy(parser, "builder", "sequoia")
    add_strategy(parser, "verifier", "the first one that suits builder and temperature")
    add_strategy(parser, "drafter", "model")
    parser.add_argument(
        "--temperature", type=float, nargs="+", action="extend", metavar="T",
        help="the target's, one or several: 0, or from 0.001 upwards (default 0 0.6 1)",
    )  # fmt: skip
    add_rows(parser)
    parser.add_argument(
        "--max-new-tokens", type=int, default=64, metavar="M", help="tokens per run, from 1 (default 64)"
    )
    parser.add_argument("--prompts", metavar="FILE", help=PROMPTS_HELP)
    parser.add_argument(
        "--each", type=int, metavar="N",
        help="prompts on each side, from 2 (default 100, with --speedup 40); if there are fewer, windows of the "
        "target's continuations are added, each side from its own prompts",
    )  # fmt: skip
    parser.add_argument("--speedup", action="store_true", help="measure costs, predict the speedup, and time it")
    parser.add_argument(
        "--sizes", default=",".join(map(str, SIZES)), metavar="N,N",
        help="with --speedup: trees to time, 2 to 768 nodes, the best predicted tree of each size "
        f"(default {','.join(map(str, SIZES))}); with --builder, that builder is timed instead",
    )  # fmt: skip
    add_pair(parser)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.set_defaults(builder=None)


def run(args: argparse.Namespace) -> int:
    builder = strategy(args, "builder", args.builder or "sequoia")
    if not isinstance(builder, StaticBuilder) or getattr(builder, "acceptance", None) == "measured":
        static = ", ".join(name for name, cls in BUILDERS.items() if issubclass(cls, StaticBuilder))
        raise ValueError(f"--builder must be static ({static}); got {args.builder or builder.name}.")
    drafter = strategy(args, "drafter", args.drafter)
    args.temperature = args.temperature or [0.0, 0.6, 1.0]
    rules = {}
    for temperature in args.temperature:
        asked = RunConfig(
            builder=builder, temperature=temperature, draft_temperature=args.draft_temperature, drafter=drafter
        )
        rules[temperature] = strategy(args, "verifier", args.verifier or suited(asked))
        compatible(replace(asked, verifier=rules[temperature])).required()
    args.each = args.each if args.each is not None else 40 if args.speedup else 100
    if args.each < 2:
        raise ValueError(f"--each must be at least 2; got {args.each}.")
    sizes = numbers("--sizes", args.sizes, 2, 768)
    config = RunConfig(
        temperature=args.temperature[0], max_new_tokens=args.max_new_tokens, drafter=drafter, **sampling(args)
    )
    written = read_prompts(args.prompts) if args.prompts else built_in_prompts()
    if len(written) < 2:
        raise ValueError("--prompts must name a file with at least two lines.")
    pair = load(args)
    if pair.draft is None:
        raise ValueError("the pair must have a draft for a prediction. Add --draft.")
    if notice := file_of_another(args, pair, drafter, None, None):
        print(printable(notice), file=sys.stderr)
    sides = _sides(pair, written, args)
    good, stopped = True, False
    for temperature, verifier in rules.items():
        asked = replace(config, temperature=temperature)
        if args.speedup:
            checked, stopped = _speedup(pair, builder if args.builder else None, verifier, asked, sides, sizes)
            good &= all(row.holds for row in checked)
            _print_timings(checked, format_strategy(verifier), temperature, args.json)
        else:
            last, stopped = until_stopped(agreement(pair, builder, verifier, asked, *sides), "texts")
            good &= last.known.holds
            _print_agreement(last.known, temperature == args.temperature[0], args.json)
        if stopped:
            return 130
    return 0 if good else 1


def _sides(pair: Pair, written: list[str], args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Prompts to calibrate on and others to measure on; both have the same share of prose and code."""
    kinds = [(prompt, place // 2) for place, prompt in enumerate(written)]  # the built-in ones take turns
    sides = [[prompt for prompt, couple in kinds if couple % 2 == side] for side in (0, 1)]
    first, second = sides if all(sides) else (written[::2], written[1::2])

    def enough(side: list[str], number: int) -> list[str]:
        return whole(watched(prompts_like(pair, side, args.each, args.seed + 1000 * number), "prompts"))

    return enough(first, 1), enough(second, 2)


def _speedup(
    pair: Pair,
    builder: StaticBuilder | None,
    verifier: Verifier,
    config: RunConfig,
    sides: tuple[list[str], list[str]],
    sizes: list[int],
) -> tuple[tuple[SpeedupPrediction, ...], bool]:
    """Predicted and timed speedups, and whether Ctrl-C ended the timing early."""
    calibration, prompts = sides
    known = whole(watched(predictor(pair, verifier, config, calibration), "prompts"))
    costing = replace(config, prompt=PROMPT, verifier=verifier)
    largest = 2 * max(sizes)
    costs = [n for n in COSTED if n <= largest] + [largest]
    cost = whole(watched(measure_cost(pair, costing, costs, rounds=12, seconds=60.0), "bursts"))
    builders = {format_strategy(builder): builder} if builder else trees_of(sizes, known, cost)
    last, stopped = until_stopped(speedup_predictions(pair, builders, verifier, config, known, cost, prompts), "runs")
    return last.known, stopped


def _print_agreement(row: Agreement, first: bool, as_json: bool) -> None:
    if as_json:
        print(dumps(plain(row) | {"holds": row.holds}), flush=True)
        return
    if first:
        print(
            f"{row.builder}, {row.nodes} nodes; {row.prompts[0]} prompts for calibration, {row.prompts[1]} for "
            f"measurement"
        )
        print("tokens per target pass; a deviation in parentheses exceeds 5 % and the 95 % CI")
        print(f"{'T':>5}  {'rule':14}{'one vector':>18}{'by level':>18}{'along texts':>18}{'measured':>16}  steps")
    cells = "".join(f"{_deviation(row, value):>18}" for value in (row.by_vector, row.by_level, row.by_text))
    measured = f"{row.measured:.3f}{plus_minus(row.margin, 3)}"
    print(f"{row.temperature:5g}  {row.verifier:14}{cells}{measured:>16}{row.steps:7}", flush=True)


def _deviation(row: Agreement, value: float | None) -> str:
    if value is None:
        return "–"
    deviation = f"{value / row.measured - 1:+.1%}"
    return f"{value:.3f} {deviation if row.close(value) else f'({deviation})'}"


def _print_timings(checked: tuple[SpeedupPrediction, ...], verifier: str, temperature: float, as_json: bool) -> None:
    if as_json:
        rows = [plain(row) | {"ratio": row.ratio, "holds": row.holds} for row in checked]
        print(dumps({"verifier": verifier, "temperature": temperature, "rows": rows}), flush=True)
        return
    print(f"{verifier} at temperature {temperature:g}; plain decoding is 1")
    print(f"{'':18}{'tokens per pass':>18}{'ms per step':>18}{'speedup':>26}   measured")
    print(f"{'tree':18}{'forecast':>9}{'timed':>9}{'forecast':>9}{'timed':>9}{'forecast':>9}{'timed':>17}   / forecast")
    for row in checked:
        predicted, timed = row.predicted, row.measured
        print(
            f"{row.name:18}{predicted.tokens_per_pass:9.2f}{timed.tokens_per_pass:9.2f}"
            f"{1000 * predicted.step_s:9.2f}{1000 * timed.step_s:9.2f}{predicted.speedup:9.2f}"
            f"{f'{timed.speedup:.2f}{plus_minus(timed.margin)}':>17}{row.ratio:9.2f}"
            f"{'' if row.holds else '  beyond 15 %'}",
            flush=True,
        )
