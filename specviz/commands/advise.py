"""`advise`: whether speculation pays for a target, with which drafter and tree, and the nearest flags of engines."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..benchmarks.advice import Advice, Option, advise, engines_for, reason, to_dict, verdict_of
from ..benchmarks.quiet import Watch
from ..config import RunConfig
from ..drafters import DRAFTERS
from ..files import __version__, printable
from ..metrics import plus_minus
from ..models.base import Pair
from ..planning.cost_table import MACHINES, machine
from ..planning.machine_profile import machine as this_machine
from ..planning.profile import read_profile
from ..strategy import format_strategy
from .display import print_table, until_stopped, warn_if_busy
from .options import add_pair, add_strategy, add_temperature, load, strategies
from .prompts import add_prompts, prompts_of, source_of

EXAMPLE = "--target org/target --draft org/small --draft early-exit:3 --prompts mine.txt"
CALIBRATED = 16  # prompts at most; the others are timed
ENOUGH = 8  # timed texts that usually give a narrow interval


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_temperature(parser)
    add_strategy(parser, "drafter", "none besides the drafts", several=True)
    add_prompts(parser)
    add_pair(parser, drafts=True)
    add = parser.add_argument
    add("--each", type=int, default=12, metavar="N", help="prompts that are timed at most, from 2")
    add("--no-timing", action="store_true", help="only predict")
    add("--profile", metavar="FILE", help="acceptance and costs from `calibrate --out` (default: measure both now)")
    add("--machine", metavar="NAME", help=f"predict for {', '.join(MACHINES)}, or flat:N (N nodes cost as much as one)")
    add("--texts", metavar="N,N", help="also predict for so many texts decoded together, as in 1,4,16, from 1 to 256")
    add("--json", action="store_true", help="print the advice as JSON")


def run(args: argparse.Namespace) -> int:
    if args.each < 2:
        raise ValueError(f"--each must be at least 2; got {args.each}.")
    config = RunConfig(temperature=args.temperature, max_new_tokens=64, seed=1)
    costs = machine(args.machine) if args.machine else None
    profile = read_profile(args.profile) if args.profile else None
    texts = [] if args.texts is None else args.texts.split(",")
    if not all(text.isdecimal() and 1 <= int(text) <= 256 for text in texts):
        raise ValueError(f"--texts must be whole numbers from 1 to 256 like 1,4,16; got {args.texts!r:.60}.")
    prompts = prompts_of(args)
    if profile and args.no_timing and args.prompts:
        raise ValueError("--prompts is not used with --profile and --no-timing. Omit it.")
    choices, failed = choices_of(args)
    pair = next(iter(choices.values()))[0]
    first, second = prompts[0::2][:CALIBRATED], (prompts[1::2] or prompts)[: args.each]
    timed = [] if args.no_timing or args.machine else second
    watch = Watch()
    advice, stopped = until_stopped(advise(choices, config, first, timed, profile, costs, [*map(int, texts)]), "parts")
    busy = max([watch.cores, *(one.busy for one in advice.options)]) if not args.machine else 0.0
    failed += advice.failed
    if args.json:
        print(json.dumps(whole_advice(advice, failed, pair, config, busy)))
    else:
        print_advice(advice, failed, source_of(args))
        warn_if_busy(busy)
    return 130 if stopped else 0


def choices_of(args: argparse.Namespace) -> tuple[dict[str, tuple[Pair, Any]], list[tuple[str, str]]]:
    """The drafters to try, each with its pair, and those that cannot be loaded."""
    drafters, drafts = strategies(args, "drafter"), list(dict.fromkeys(args.draft or ()))
    if args.target and not drafts and not drafters:
        raise ValueError("--target needs a draft. Add --draft, such as early-exit:3, or --drafter ngram.")
    base = load(args, draft=None if args.target or not drafts else drafts[0]) if drafters or not drafts else None
    choices: dict[str, tuple[Pair, Any]] = {}
    failed: list[tuple[str, str]] = []
    if not drafts and base is not None and base.draft is not None and not drafters:
        choices["embedded draft"] = base, DRAFTERS["model"]()
    for draft in drafts:
        try:
            like = next((pair for pair, _ in choices.values()), base)
            choices[draft] = load(args, draft=draft, like=like), DRAFTERS["model"]()
        except ValueError as error:
            failed.append((draft, str(error)))
    choices |= {format_strategy(drafter): (base, drafter) for drafter in drafters if base is not None}
    if not choices:
        raise ValueError(f"no draft could be loaded: {failed[0][1]}")
    return choices, failed


def sentence_of(advice: Advice) -> str:
    """The answer in one sentence."""
    best = advice.best
    if best is None:
        return "undecided: no drafter could be used."
    verdict, interval = verdict_of(best)
    speedup = best.timing.speedup if best.timing else best.speedup[0]
    between = "" if interval is None else f" [{interval[0]:.2f}, {interval[1]:.2f}]"
    what = f"{speedup:.2f} x{between}, {best.tree.name}, {best.tree.predicted.size} nodes, with {best.name}"
    if best.timing is None:
        return f"predicted, not timed: {what}"
    if verdict == "pays":
        return f"pays: {what}"
    if verdict == "does-not-pay":
        return f"does not pay: the best is {what}"
    why = "one text gives no interval" if interval is None else "the interval contains 1"
    return f"undecided, {why}: the best is {what}. {more_prompts(best)}"


def more_prompts(best: Option) -> str:
    """How many prompts would decide: a half-width falls with the root of their number."""
    timing = best.timing
    if timing is None or timing.margin is None:
        return f"Give at least {2 * ENOUGH} prompts: half are timed."
    distance = abs(timing.speedup - 1)
    if distance < 0.02:
        return "It is as fast as plain decoding."
    factor = (timing.margin / distance) ** 2
    return f"About {2 * ENOUGH * max(1, round(factor))} prompts would decide it (--prompts, --each)."


def whole_advice(
    advice: Advice, failed: list[tuple[str, str]], pair: Pair, config: RunConfig, busy: float
) -> dict[str, Any]:
    """The advice as plain data."""
    best = advice.best
    verdict, interval = verdict_of(best)
    return {
        "verdict": verdict, "sentence": sentence_of(advice), "interval": interval,
        "best": best and to_dict(best), "why": reason(best) if best else None,
        "options": [to_dict(one) for one in advice.options], "failed": dict(failed),
        "engines": [one._asdict() for one in engines_for(best)] if best else [],
        "target": pair.info.get("target", {}).get("name"), "temperature": config.temperature, "busy_cores": busy,
        "machine": this_machine(), "dtype": pair.info.get("dtype"), "version": __version__,
    }  # fmt: skip


def print_advice(advice: Advice, failed: list[tuple[str, str]], prompts: str) -> None:
    """The options, the answer with its reason, and the nearest flags of other engines."""
    print(f"tokens per pass and speedup over plain decoding, 95 % intervals over texts; texts: {prompts}")
    print_table([row_of(one) for one in advice.options])
    for name, error in failed:
        print(printable(f"{name}: not available: {error}"))
    print(printable(f"\n{sentence_of(advice)}"))
    best = advice.best
    if best is None:
        return
    print(reason(best))
    if best.by_texts:
        print("\nseveral texts decoded together, predicted:")
        together = best.by_texts.items()
        print_table([{"texts": texts, "best tree": tree, "speedup": speedup} for texts, (tree, speedup) in together])
    print("\nnearest settings of other engines, whose own costs differ from those measured here:")
    for engine in engines_for(best):
        print(printable(f"  {engine.engine:10} {engine.flags or '-'}{f'  ({engine.note})' if engine.note else ''}"))


def row_of(one: Option) -> dict[str, Any]:
    """One drafter and tree."""
    timing = one.timing

    def between(value: float, low: float | None, high: float | None) -> str:
        return f"{value:.2f}" if low is None else f"{value:.2f} [{low:.2f}, {high:.2f}]"

    return {
        "draft": one.name, "tree": one.tree.name, "tokens, predicted": between(*one.tokens),
        "price": one.tree.predicted.price, "speedup, predicted": between(*one.speedup),
        "tokens, timed": f"{timing.counts.tokens_per_pass:.2f}{plus_minus(timing.tokens_margin)}" if timing else "",
        "speedup, timed": f"{timing.speedup:.2f}{plus_minus(timing.margin)}" if timing else "",
    }  # fmt: skip
