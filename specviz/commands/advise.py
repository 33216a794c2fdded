"""`advise`: whether speculation pays for a target, with which drafter and tree, and the nearest
flags of engines."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..base.files import __version__
from ..config.run_config import RunConfig
from ..doctor.engine_flags import EngineSettings, Predicted, engine_flags
from ..drafters import DRAFTERS
from ..measure.advice import Advice, Option, advise, reason
from ..measure.choose import Candidate
from ..measure.engine_ways import CHAIN, SAMPLED, EngineWay
from ..measure.machine_profile import machine as this_machine
from ..measure.machines import MACHINES, machine
from ..measure.profile import read_profile
from ..measure.quiet import Watch
from ..models.base import Pair
from . import options
from .advice_tables import print_advice
from .display import until_stopped

EXAMPLE = "--target org/target --draft org/small --draft early-exit:3 --prompts mine.txt"
CALIBRATED = 16  # prompts at most; the others are timed
ENOUGH = 8  # timed texts that usually give a narrow interval


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_temperature(parser)
    options.add_strategy(parser, "drafter", "none besides the drafts", several=True)
    options.add_prompts(parser)
    options.add_pair(parser, drafts=True)
    add, count = parser.add_argument, options.within(int, 1, 256)
    add(
        "--each",
        type=options.within(int, 2),
        default=12,
        metavar="N",
        help="prompts that are timed at most, from 2",
    )
    add("--no-timing", action="store_true", help="only predict")
    add(
        "--profile",
        metavar="FILE",
        help="acceptance and costs from `calibrate --out` (default: measure both now)",
    )
    add(
        "--machine",
        metavar="NAME",
        help=f"predict for {', '.join(MACHINES)}, flat:N (N nodes cost as much as "
        "one), or moe:K/N (K of N experts active)",
    )
    add(
        "--texts",
        type=lambda text: [*map(count, text.split(","))],
        default=[],
        metavar="N,N",
        help="also predict for so many texts decoded together, as in 1,4,16, from 1 to 256",
    )
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
    advice, stopped = until_stopped(
        advise(choices, config, first, timed, profile, costs, args.texts), "parts"
    )
    pair, _ = next(iter(choices.values()))
    data = data_of(advice) | {
        "failed": failed | advice.failed,
        "target": pair.info.get("target", {}).get("name"),
        "temperature": config.temperature,
        "machine": this_machine(),
        "dtype": pair.info.get("dtype"),
        "version": __version__,
        "busy_cores": 0.0
        if args.machine
        else max([watch.cores, *(one.busy for one in advice.options)]),
    }
    if args.json:
        print(json.dumps(data))
    else:
        print_advice(data, options.source_of(args))
    return 130 if stopped else 0


def choices_of(args: argparse.Namespace) -> tuple[dict[str, tuple[Pair, Any]], dict[str, str]]:
    """The drafters to try, each with its pair, and those that cannot be loaded."""
    drafters, drafts = options.strategies(args, "drafter"), list(dict.fromkeys(args.draft or ()))
    model, base = DRAFTERS["model"](), None if args.target or not drafts else drafts[0]
    trials = [(draft, draft, model) for draft in drafts]
    trials += [(str(drafter), base, drafter) for drafter in drafters]
    choices: dict[str, tuple[Pair, Any]] = {}
    failed: dict[str, str] = {}
    own = "the target's own draft" if args.target else "embedded draft"
    for name, draft, drafter in trials or [(own, None, model)]:
        try:
            like = next((pair for pair, _ in choices.values()), None)
            pair = options.load(args, draft=draft, like=like)
            choices[name] = pair, RunConfig(drafter=drafter).for_pair(pair).drafter
        except ValueError as error:
            failed[name] = str(error)
    if not choices:
        raise ValueError(f"no draft could be loaded: {next(iter(failed.values()))}")
    return choices, failed


def sentence_of(best: Option) -> str:
    """The answer in one sentence."""
    speedup, low, high = best.speedup
    interval = "" if low is None else f" [{low:.2f}, {high:.2f}]"
    what = (
        f"{speedup:.2f} x{interval}, {best.tree.name}, {best.tree.predicted.size} nodes, with "
        f"{best.name}"
    )
    if best.timing is None:
        return f"predicted, not timed: {what}"
    if best.verdict != "undecided":
        return f"pays: {what}" if best.verdict == "pays" else f"does not pay: the best is {what}"
    margin, distance, why = best.timing.margin, abs(speedup - 1), "the interval contains 1"
    if margin is None:
        why, more = (
            "one text gives no interval",
            f"Give at least {2 * ENOUGH} prompts: half are timed.",
        )
    elif distance < 0.02:
        more = "It is as fast as plain decoding."
    else:  # a half-width falls with the root of the number of prompts
        prompts = 2 * ENOUGH * max(1, round((margin / distance) ** 2))
        more = f"About {prompts} prompts would decide it (--prompts, --each)."
    return f"undecided, {why}: the best is {what}. {more}"


def data_of(advice: Advice) -> dict[str, Any]:
    """The options, the answer with its reason, and the nearest flags of other engines as plain
    data."""
    rows = [row_of(one) for one in advice.options]
    if not advice.options:
        return {
            "verdict": "undecided",
            "sentence": "undecided: no drafter could be used.",
            "interval": None,
            "best": None,
            "why": None,
            "options": rows,
            "engine_ways": {},
            "faster": None,
            "engines": [],
        }
    best = advice.options[0]
    return {
        "verdict": best.verdict,
        "sentence": sentence_of(best),
        "interval": None if best.speedup[1] is None else best.speedup[1:],
        "best": rows[0],
        "why": reason(best),
        "options": rows,
        "engine_ways": {way: way_of(one) for way, one in best.engines.items()},
        "faster": faster_way(best.engines),
        "engines": [one._asdict() for one in settings_of(best)],
    }


def settings_of(best: Option) -> tuple[EngineSettings, ...]:
    """The flags of engines that do what was predicted for them."""
    drafter = "early-exit" if best.name.startswith("early-exit") else best.config.drafter.name
    # Without the engines' rules in a profile the shape is the best of another rule.
    predicted = {CHAIN: Predicted(best.chain.builder.shape)}
    for way, one in best.engines.items():
        predicted[way] = Predicted(one.tree.builder.shape, *prediction_of(one.tree))
    by_batch = {way: one.by_batch for way, one in best.engines.items()}
    return engine_flags(drafter, best.name, predicted, by_batch)


def prediction_of(tree: Candidate) -> tuple[float, float]:
    """Tokens per pass and speedup."""
    return tree.predicted.tokens_per_pass, tree.predicted.speedup


def way_of(one: EngineWay) -> dict[str, Any]:
    """A way to draft and verify as plain data."""
    tokens, speedup = prediction_of(one.tree)
    timing = one.timing
    return {
        "verifier": one.config.verifier.name,
        "tree": one.tree.name,
        "predicted_tokens_per_pass": tokens,
        "predicted": speedup,
        "tokens_per_pass": timing and timing.counts.tokens_per_pass,
        "speedup": timing and timing.speedup,
        "margin": timing and timing.margin,
    }


def faster_way(ways: Mapping[str, EngineWay]) -> str | None:
    """Which of an engine's own rule and the switch is faster here for a chain, as a sentence."""
    if not {CHAIN, SAMPLED} <= ways.keys():
        return None
    timed = all(ways[way].timing for way in (CHAIN, SAMPLED))
    speedups = {}
    for way in (CHAIN, SAMPLED):
        timing = ways[way].timing
        speedups[way] = timing.speedup if timed and timing else prediction_of(ways[way].tree)[1]
    own, switch = speedups[CHAIN], speedups[SAMPLED]
    how = "timed" if timed else "predicted"
    if abs(own - switch) < 0.02:
        return f"engines' own rule and the switch are equally fast here ({how}: {own:.2f} x)."
    if own > switch:
        return f"engines' own rule is faster here: {own:.2f} x, the switch {switch:.2f} x ({how})."
    return f"the switch is faster here: {switch:.2f} x, engines' own rule {own:.2f} x ({how})."


def row_of(option: Option) -> dict[str, Any]:
    """An option as plain data."""
    timing = option.timing
    measured = timing and {
        "speedup": timing.speedup,
        "margin": timing.margin,
        "tokens_per_pass": timing.counts.tokens_per_pass,
        "tokens_margin": timing.tokens_margin,
        "step_s": timing.counts.seconds_per_step,
        "step_price": timing.step_price,
        "parts": timing.counts.step_parts,
        "steps": timing.counts.passes,
        "categories": {
            category: {"speedup": one.speedup, "tokens_per_pass": one.counts.tokens_per_pass}
            for category, one in timing.categories.items()
        },
    }
    return {
        "draft": option.name,
        "drafter": option.config.drafter.name,
        "verifier": option.config.verifier.name,
        "tree": option.tree.name,
        "nodes": option.tree.predicted.size,
        "first_child": option.first,
        "predicted": option.predicted,
        "predicted_tokens_per_pass": option.tokens,
        "predicted_price": option.tree.predicted.price,
        "texts": option.texts,
        "by_texts": option.by_texts,
        "batches": {texts: asdict(one) for texts, one in option.batches.items()},
        "busy_cores": option.busy,
        "measured": measured,
    }
