"""`advise`: whether speculation pays for a target, with which drafter and tree, and the nearest flags of engines."""

from __future__ import annotations

import argparse
import json
from collections import deque
from typing import Any

from ..acceptance.progress import SoFar, whole
from ..benchmarks.agreement import prompts_like
from ..benchmarks.drafter_advice import Advice, Option, advise, as_dict, engines_for, reason, verdict_of
from ..config import RunConfig
from ..drafters import DRAFTERS
from ..files import __version__, printable
from ..metrics import plus_minus
from ..models.base import Pair
from ..planning.machine_profile import machine
from ..strategy import format_strategy
from .bench import PROMPTS_HELP, built_in_prompts, read_prompts
from .options import add_pair, add_strategy, add_temperature, load, strategies
from .watching import watched

EXAMPLE = "--target org/target --draft org/small --draft early-exit:3 --prompts mine.txt"
CALIBRATED = 8  # prompts at most; the others are timed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_temperature(parser)
    add_strategy(parser, "drafter", "none besides the drafts", several=True)
    parser.add_argument("--prompts", metavar="FILE", help=PROMPTS_HELP)
    parser.add_argument(
        "--each", type=int, default=12, metavar="N", help="prompts that are timed, from 2; if there are fewer, windows "
        "of the target's continuations are added (default 12)",
    )  # fmt: skip
    add_pair(parser, drafts=True)
    parser.add_argument("--json", action="store_true", help="print the advice as JSON")


def run(args: argparse.Namespace) -> int:
    if args.each < 2:
        raise ValueError(f"--each must be at least 2; got {args.each}.")
    config = RunConfig(temperature=args.temperature, max_new_tokens=64, seed=1)
    drafters = strategies(args, "drafter")
    given = read_prompts(args.prompts) if args.prompts else built_in_prompts()
    drafts = list(dict.fromkeys(args.draft or ()))
    if args.target and not drafts and not drafters:
        raise ValueError("--target needs a draft. Add --draft, such as early-exit:3, or --drafter ngram.")
    base = load(args, draft=None)
    ways: dict[str, tuple[Pair, Any]] = {}
    failed: list[tuple[str, str]] = []
    if base.draft is not None and not drafts:
        ways["embedded draft"] = base, DRAFTERS["model"]()
    for draft in drafts:
        try:
            ways[draft] = load(args, draft=draft, like=base), DRAFTERS["model"]()
        except ValueError as error:
            failed.append((draft, str(error)))
    ways |= {format_strategy(drafter): (base, drafter) for drafter in drafters}
    if not ways:
        raise ValueError(f"no draft could be loaded: {failed[0][1]}")
    first, second = given[0::2][:CALIBRATED], given[1::2] or given
    others = whole(watched(prompts_like(base, second, args.each, seed=1), "prompts"))
    last: deque[SoFar[Advice]] = deque(maxlen=1)
    stopped = False
    try:
        last.extend(watched(advise(ways, config, first, others), "pieces", lambda one: f"; {one.known.doing}"))
    except KeyboardInterrupt:
        if not last or not last[0].known.best:
            raise
        stopped = True
    advice = last[0].known
    failed += advice.failed
    if args.json:
        print(json.dumps(whole_advice(advice, failed, base, config)))
    else:
        print_advice(advice, failed)
    return 130 if stopped else 0


def sentence_of(advice: Advice) -> str:
    """The answer in one sentence."""
    best = advice.best
    if best is None or best.trial is None:
        return "undecided: nothing could be timed."
    verdict, interval = verdict_of(best)
    between = "" if interval is None else f" [{interval[0]:.2f}, {interval[1]:.2f}]"
    what = f"{best.trial.speedup:.2f} x{between}, {best.tree.name}, {best.tree.predicted.size} nodes, with {best.name}"
    if verdict == "pays":
        return f"pays: {what}"
    if verdict == "does-not-pay":
        return f"does not pay: the best is {what}"
    why = "one text gives no interval" if interval is None else "the interval holds 1"
    return f"undecided, {why}: the best is {what}. Give more prompts, or increase --each."


def whole_advice(advice: Advice, failed: list[tuple[str, str]], pair: Pair, config: RunConfig) -> dict[str, Any]:
    """The advice as plain data."""
    best = advice.best
    verdict, interval = verdict_of(best)
    return {
        "verdict": verdict, "sentence": sentence_of(advice), "interval": interval,
        "best": best and as_dict(best), "why": reason(best) if best else None,
        "options": [as_dict(one) for one in advice.options], "failed": dict(failed),
        "engines": [one._asdict() for one in engines_for(best)] if best else [],
        "target": pair.info.get("target", {}).get("name"), "temperature": config.temperature,
        "machine": machine(), "dtype": pair.info.get("dtype"), "version": __version__,
    }  # fmt: skip


def print_advice(advice: Advice, failed: list[tuple[str, str]]) -> None:
    """The options, the answer with its reason, and the nearest flags of other engines."""
    print(f"{'draft':24} {'tree':40} {'tokens/pass':>11} {'predicted':>9}  measured")
    for one in advice.options:
        print(printable(line_of(one)))
    for name, error in failed:
        print(printable(f"{name}: not available: {error}"))
    print(printable(f"\n{sentence_of(advice)}"))
    if advice.best is None:
        return
    print(reason(advice.best))
    print("\nnearest settings of other engines, whose own costs differ from those measured here:")
    for engine in engines_for(advice.best):
        print(printable(f"  {engine.engine:10} {engine.flags or '-'}{f'  ({engine.note})' if engine.note else ''}"))


def line_of(one: Option) -> str:
    """One drafter and tree."""
    trial = one.trial
    tokens = trial.tokens_per_pass if trial else one.tree.predicted.tokens_per_pass
    measured = f"{trial.speedup:.2f}{plus_minus(trial.margin)}" if trial else "-"
    return f"{one.name:24} {one.tree.name:40} {tokens:11.2f} {one.tree.predicted.speedup:9.2f}  {measured}"
