"""`advise`: whether speculation pays for a target, with which drafter and tree, and the nearest flags of engines."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import Any

from ..benchmarks.advice import Advice, Option, advise, engines_for, reason
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
from . import options
from .display import print_table, until_stopped, warn_if_busy

EXAMPLE = "--target org/target --draft org/small --draft early-exit:3 --prompts mine.txt"
CALIBRATED = 16  # prompts at most; the others are timed
ENOUGH = 8  # timed texts that usually give a narrow interval


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_temperature(parser)
    options.add_strategy(parser, "drafter", "none besides the drafts", several=True)
    options.add_prompts(parser)
    options.add_pair(parser, drafts=True)
    add, count = parser.add_argument, options.within(int, 1, 256)
    add("--each", type=options.within(int, 2), default=12, metavar="N", help="prompts that are timed at most, from 2")
    add("--no-timing", action="store_true", help="only predict")
    add("--profile", metavar="FILE", help="acceptance and costs from `calibrate --out` (default: measure both now)")
    add("--machine", metavar="NAME", help=f"predict for {', '.join(MACHINES)}, or flat:N (N nodes cost as much as one)")
    add(
        "--texts", type=lambda text: [*map(count, text.split(","))], default=[], metavar="N,N",
        help="also predict for so many texts decoded together, as in 1,4,16, from 1 to 256",
    )  # fmt: skip
    add("--json", action="store_true", help="print the advice as JSON")


def run(args: argparse.Namespace) -> int:
    config = RunConfig(temperature=args.temperature, max_new_tokens=64, seed=1)
    costs = machine(args.machine) if args.machine else None
    profile = read_profile(args.profile) if args.profile else None
    prompts = options.prompts_of(args)
    if profile and args.no_timing and args.prompts:
        raise ValueError("--prompts is not used with --profile and --no-timing. Omit it.")
    choices, failed = choices_of(args)
    first, second = prompts[0::2][:CALIBRATED], (prompts[1::2] or prompts)[: args.each]
    timed = [] if args.no_timing or args.machine else second
    watch = Watch()
    advice, stopped = until_stopped(advise(choices, config, first, timed, profile, costs, args.texts), "parts")
    advice = replace(advice, failed=failed | advice.failed)
    busy = max([watch.cores, *(one.busy for one in advice.options)]) if not args.machine else 0.0
    if args.json:
        print(json.dumps(whole_advice(advice, next(iter(choices.values()))[0], config, busy)))
    else:
        print_advice(advice, options.source_of(args))
        warn_if_busy(busy)
    return 130 if stopped else 0


def choices_of(args: argparse.Namespace) -> tuple[dict[str, tuple[Pair, Any]], dict[str, str]]:
    """The drafters to try, each with its pair, and those that cannot be loaded."""
    drafters, drafts = options.strategies(args, "drafter"), list(dict.fromkeys(args.draft or ()))
    model, base = DRAFTERS["model"](), None if args.target or not drafts else drafts[0]
    trials = [(draft, draft, model) for draft in drafts]
    trials += [(format_strategy(drafter), base, drafter) for drafter in drafters]
    choices: dict[str, tuple[Pair, Any]] = {}
    failed: dict[str, str] = {}
    for name, draft, drafter in trials or [("embedded draft", None, model)]:
        try:
            like = next((pair for pair, _ in choices.values()), None)
            choices[name] = options.load(args, draft=draft, like=like), drafter
        except ValueError as error:
            failed[name] = str(error)
    if not choices:
        raise ValueError(f"no draft could be loaded: {next(iter(failed.values()))}")
    return choices, failed


def sentence_of(advice: Advice) -> str:
    """The answer in one sentence."""
    best = advice.best
    if best is None:
        return "undecided: no drafter could be used."
    speedup, low, high = best.speedup
    between = "" if low is None else f" [{low:.2f}, {high:.2f}]"
    what = f"{speedup:.2f} x{between}, {best.tree.name}, {best.tree.predicted.size} nodes, with {best.name}"
    if best.timing is None:
        return f"predicted, not timed: {what}"
    if best.verdict != "undecided":
        return f"pays: {what}" if best.verdict == "pays" else f"does not pay: the best is {what}"
    margin, distance = best.timing.margin, abs(speedup - 1)
    if margin is None:
        why, more = "one text gives no interval", f"Give at least {2 * ENOUGH} prompts: half are timed."
    elif distance < 0.02:
        why, more = "the interval contains 1", "It is as fast as plain decoding."
    else:  # a half-width falls with the root of the number of prompts
        prompts = 2 * ENOUGH * max(1, round((margin / distance) ** 2))
        why, more = "the interval contains 1", f"About {prompts} prompts would decide it (--prompts, --each)."
    return f"undecided, {why}: the best is {what}. {more}"


def whole_advice(advice: Advice, pair: Pair, config: RunConfig, busy: float) -> dict[str, Any]:
    """The advice as plain data."""
    best = advice.best
    rows = [data_of(one) for one in advice.options]
    return {
        "verdict": best.verdict if best else "undecided", "sentence": sentence_of(advice),
        "interval": best.speedup[1:] if best and best.speedup[1] is not None else None,
        "best": rows[0] if best else None, "why": reason(best) if best else None,
        "options": rows, "failed": advice.failed,
        "engines": [one._asdict() for one in engines_for(best)] if best else [],
        "target": pair.info.get("target", {}).get("name"), "temperature": config.temperature, "busy_cores": busy,
        "machine": this_machine(), "dtype": pair.info.get("dtype"), "version": __version__,
    }  # fmt: skip


def data_of(option: Option) -> dict[str, Any]:
    """An option as plain data."""
    timing = option.timing
    measured = timing and {
        "speedup": timing.speedup, "margin": timing.margin, "tokens_per_pass": timing.counts.tokens_per_pass,
        "tokens_margin": timing.tokens_margin, "step_s": timing.counts.seconds_per_step,
        "step_price": timing.step_price, "parts": timing.counts.step_parts, "steps": timing.counts.passes,
    }  # fmt: skip
    return {
        "draft": option.name, "drafter": option.config.drafter.name, "verifier": option.config.verifier.name,
        "tree": option.tree.name, "nodes": option.tree.predicted.size, "first_child": option.first,
        "predicted": option.predicted, "predicted_tokens_per_pass": option.tokens,
        "predicted_price": option.tree.predicted.price, "texts": option.texts, "by_texts": option.by_texts,
        "busy_cores": option.busy, "measured": measured,
    }  # fmt: skip


def print_advice(advice: Advice, prompts: str) -> None:
    """The options, the answer with its reason, and the nearest flags of other engines."""
    print(f"tokens per pass and speedup over plain decoding, 95 % intervals over texts; texts: {prompts}")
    print_table([row_of(one) for one in advice.options])
    for name, error in advice.failed.items():
        print(printable(f"{name}: not available: {error}"))
    print(printable(f"\n{sentence_of(advice)}"))
    best = advice.best
    if best is None:
        return
    print(reason(best))
    if together := best.by_texts.items():
        print("\nseveral texts decoded together, predicted:")
        print_table([{"texts": texts, "best tree": tree, "speedup": speedup} for texts, (tree, speedup) in together])
    print("\nnearest settings of other engines, whose own costs differ from those measured here:")
    for engine in engines_for(best):
        print(printable(f"  {engine.engine:10} {engine.flags or '-'}{f'  ({engine.note})' if engine.note else ''}"))


def row_of(one: Option) -> dict[str, Any]:
    row = {"draft": one.name, "tree": one.tree.name, "price": one.tree.predicted.price}
    for name, (value, low, high) in (("tokens", one.tokens), ("speedup", one.predicted)):
        row[f"{name}, predicted"] = f"{value:.2f}" if low is None else f"{value:.2f} [{low:.2f}, {high:.2f}]"
    if timing := one.timing:
        row["tokens, timed"] = f"{timing.counts.tokens_per_pass:.2f}{plus_minus(timing.tokens_margin)}"
        row["speedup, timed"] = f"{timing.speedup:.2f}{plus_minus(timing.margin)}"
    return row
