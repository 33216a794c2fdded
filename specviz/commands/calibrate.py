"""`calibrate`: measure acceptance vectors and costs of a pair, as one profile that other commands read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..acceptance.on_text import Acceptance, measure_acceptance
from ..acceptance.progress import Progress
from ..acceptance.texts import Text, continuations, limited, seed_of, windows
from ..acceptance.vectors import MAX_RANKS, stored
from ..benchmarks.measure_cost import PROMPT, measure_cost
from ..benchmarks.quiet import MAX_CORES
from ..builders import BUILDERS
from ..compatibility import compatible
from ..config import RunConfig
from ..files import check_output, printable, read_text, write_text
from ..models.base import Pair
from ..planning.machine_profile import MachineProfile, about, machine, store_profile
from ..planning.profile import Profile
from ..verifiers import VERIFIERS
from .display import print_table, until_stopped, warn_if_busy
from .options import add_pair, add_rows, add_strategy, add_temperature, load, sampling, strategies, strategy
from .prompts import add_prompts, prompts_of, source_of

EXAMPLE = "--target org/target --draft org/small --temperature 0 --temperature 0.8 --out profile.json"
TOKENS = 96  # of each continuation
SHARE = 1000  # of the progress, for each temperature and for the costs
ROUNDS = 50  # of the prompts, each with seeds of its own, where they are too few


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_strategy(parser, "verifier", "every rule that suits the temperature and the drafter", several=True)
    add_strategy(parser, "drafter", "model")
    add_temperature(parser, several="0 and 0.8")
    add_rows(parser)
    add_prompts(parser)
    add = parser.add_argument
    add("--text", metavar="FILE", help="measure on this text in place of the target's continuations of --prompts")
    add("--positions", type=int, default=2000, metavar="N", help="number of positions, from 1")
    add("--width", type=int, default=32, metavar="K", help=f"children per position, 1 to {MAX_RANKS}")
    costs = parser.add_mutually_exclusive_group()
    costs.add_argument("--seconds", type=float, default=45.0, metavar="S", help="time limit of the costs, above 0")
    costs.add_argument("--no-costs", action="store_true", help="measure acceptance only")
    add_pair(parser)
    add("--out", metavar="FILE", help="write the profile to this file")
    add("--json", action="store_true", help="print the profile as JSON")


def run(args: argparse.Namespace) -> int:
    if args.positions < 1 or not 1 <= args.width <= MAX_RANKS:
        raise ValueError(f"--positions must be at least 1 and --width from 1 to {MAX_RANKS}.")
    if not 0 < args.seconds < float("inf"):
        raise ValueError(f"--seconds must be a number above 0; got {args.seconds:g}.")
    if args.text and args.prompts:
        raise ValueError("--text and --prompts cannot be combined. Omit one of them.")
    drafter = strategy(args, "drafter", args.drafter)
    config = RunConfig(PROMPT, max_new_tokens=TOKENS, drafter=drafter, **sampling(args))
    configs = {value: replace(config, temperature=value) for value in dict.fromkeys(args.temperature or (0.0, 0.8))}
    rules = {value: rules_for(strategies(args, "verifier"), one) for value, one in configs.items()}
    if args.out:
        check_output(args.out, args.text, args.prompts)
    text = None if args.text is None else read_text(args.text, "--text")
    prompts = prompts_of(args)
    pair = load(args)
    name = f"windows of {Path(args.text).name}" if args.text else f"the target's continuations of {source_of(args)}"
    source = f"specviz calibrate, {args.positions} positions, {name}"
    blank = Profile(source, pair.info, drafter.to_dict(), (), None, tuple(machine()))

    def texts(one: RunConfig) -> Iterator[Text]:
        """What the target writes, again with other seeds where a seed changes anything; or the text."""
        if text is not None:
            yield from windows(pair, text, name)
            return
        for turn in range(1 if one.temperature == 0 else ROUNDS):
            yield from continuations(pair, prompts, replace(one, seed=seed_of(one, turn * len(prompts))))

    profile, stopped = until_stopped(measure(blank, pair, configs, rules, texts, name, args), "parts")
    if profile.costs and profile.costs.settings.get("busy_cores", 0.0) <= MAX_CORES and not stopped:
        store_profile(MachineProfile(about(pair.info), profile.costs))  # a busy machine is not stored
    if args.out:
        write_text(args.out, profile.to_json())
        stored.cache_clear()
    if args.json:
        print(profile.to_json(), end="")
    else:
        print_profile(profile)
    return 130 if stopped else 0


def rules_for(named: Sequence[Any], config: RunConfig) -> list[Any]:
    """The rules that are measured at a temperature: those of the option that go with it, or every one that does."""
    options = named or [rule() for rule in VERIFIERS.values() if not (rule.shares or rule.alone)]
    matches = {rule: compatible(replace(config, builder=BUILDERS["chain"](), verifier=rule)) for rule in options}
    usable = [rule for rule, match in matches.items() if match.possible]
    if not usable or (named and len(usable) < len(named)):
        raise ValueError(next(match.reason for match in matches.values() if not match.possible))
    greedy = config.temperature == 0
    return usable if named else [rule for rule in usable if rule.greedy_only == greedy]


def measure(
    profile: Profile, pair: Pair, configs: dict[float, RunConfig], rules: dict[float, list[Any]],
    texts: Callable[[RunConfig], Iterator[Text]], name: str, args: argparse.Namespace,
) -> Iterator[Progress[Profile | None]]:  # fmt: skip
    """The profile with more and more in it: vectors at each temperature, then the costs at the first one."""
    total = (len(configs) + (not args.no_costs)) * SHARE
    width = min(args.width, pair.vocab_size)
    for place, (temperature, config) in enumerate(configs.items()):
        before, some = profile.vectors, limited(texts(config), args.positions)
        for update in measure_acceptance(pair, rules[temperature], some, config, width, positions=args.positions):
            vectors = (replace(one, texts=name) for one in update.result)
            profile = replace(profile, vectors=(*before, *vectors))
            done = place * SHARE + SHARE * update.done // update.total
            yield Progress(done, total, f"acceptance at temperature {temperature:g}", profile)
    if not args.no_costs:
        temperature, config = next(iter(configs.items()))
        rule = next((one for one in rules[temperature] if not one.chain_only), rules[temperature][0])
        for costs in measure_cost(pair, replace(config, verifier=rule), seconds=args.seconds):
            profile = replace(profile, costs=costs.result)
            yield Progress(total - SHARE + SHARE * costs.done // costs.total, total, costs.stage, profile)


def print_profile(profile: Profile) -> None:
    """The vectors and the costs as tables."""
    first = profile.vectors[0]
    print(printable(f"{first.pair}, {first.dtype or 'exact'}, drafter {first.drafter}, {first.texts}"))
    print(f"{first.positions} positions of {len(first.by_text)} texts; P[k] ± 95 % over texts\n")
    print_table([vector_row(one) for one in profile.vectors], digits=3)
    if table := profile.costs:
        print(f"\none plain step: {1000 * table.plain_s:.2f} ms; pass of the target over n nodes, rest of the step")
        rows = zip(table.sizes, table.target_s, table.overhead_s, strict=True)
        print_table([
            {"nodes": size, "pass ms": 1000 * target, "rest ms": 1000 * rest, "of a plain step": target / table.plain_s}
            for size, target, rest in rows
        ])  # fmt: skip
        print("\npass of the draft over n nodes")
        widths = zip(table.widths, table.draft_s, strict=True)
        print_table([{"nodes": width, "ms": 1000 * seconds} for width, seconds in widths])
        warn_if_busy(table.settings.get("busy_cores", 0.0))


def vector_row(one: Acceptance) -> dict[str, Any]:
    ranks = {f"P[{k}]": (one.acceptance[k - 1] if k <= len(one.acceptance) else None) for k in (1, 2, 3, 4)}
    margin = None if one.low[0] is None else one.acceptance[0] - one.low[0]
    levels = ", ".join(f"{sum(level):.2f}" for level in one.levels) or "all alike"
    return {
        "rule": one.verifier, "T": f"{one.temperature:g}", **ranks, "± of P[1]": margin, "any": sum(one.acceptance),
        "any, by level": levels,
    }  # fmt: skip
