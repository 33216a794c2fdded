"""`calibrate`: measure acceptance vectors and costs of a pair, as one profile that other commands read."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any

from ..acceptance.on_text import Acceptance, measure_acceptance
from ..acceptance.texts import Text, continuations, limited, seed_of, windows
from ..acceptance.vectors import MAX_RANKS, stored
from ..benchmarks.measure_cost import PROMPT, measure_cost
from ..benchmarks.quiet import MAX_CORES
from ..builders import BUILDERS
from ..compatibility import compatible
from ..config import RunConfig
from ..files import check_output, printable, read_text, write_text
from ..models.base import Pair
from ..planning.cost_table import CostTable
from ..planning.machine_profile import MachineProfile, about, machine, store_profile
from ..planning.profile import Profile
from ..progress import Progress
from ..verifiers import VERIFIERS
from .display import print_table, until_stopped
from .options import add_pair, add_rows, add_strategy, load, sampling, strategies, strategy
from .prompts import add_prompts, prompts_of, source_of

EXAMPLE = "--target org/target --draft org/small --temperature 0 --temperature 0.8 --out profile.json"
TOKENS = 96  # of each continuation
ROUNDS = 50  # of the prompts, each with seeds of its own, where they are too few


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_strategy(parser, "verifier", "every rule that suits the temperature and the drafter", several=True)
    add_strategy(parser, "drafter", "model")
    parser.add_argument(
        "--temperature", type=float, action="append", metavar="T",
        help="temperature of the target, repeat for several: 0, or from 0.001 (default 0 and 0.8)",
    )  # fmt: skip
    add_rows(parser)
    add_prompts(parser)
    parser.add_argument(
        "--text", metavar="FILE", help="measure on this text in place of the target's continuations of --prompts; it "
        "shows what would be accepted if the target had written it (default: none)",
    )  # fmt: skip
    parser.add_argument(
        "--positions", type=int, default=2000, metavar="N", help="number of positions, from 1 (default 2000)"
    )
    parser.add_argument(
        "--width", type=int, default=32, metavar="K", help=f"children per position, 1 to {MAX_RANKS} (default 32)"
    )
    costs = parser.add_mutually_exclusive_group()
    costs.add_argument(
        "--seconds", type=float, default=45.0, metavar="S", help="time limit of the costs, above 0 (default 45)"
    )
    costs.add_argument("--no-costs", action="store_true", help="measure acceptance only")
    add_pair(parser)
    parser.add_argument("--out", metavar="FILE", help="write the profile to this file (default: print it only)")
    parser.add_argument("--json", action="store_true", help="print the profile as JSON")


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
    profile = Profile(
        f"specviz calibrate, {args.positions} positions, {name}", pair.info, drafter.to_dict(), (), None,
        tuple(machine()),
    )  # fmt: skip

    def texts(one: RunConfig) -> Iterator[Text]:
        every = continued(pair, prompts, one) if text is None else windows(pair, text, name)
        return limited(every, args.positions)

    stages = [acceptance(pair, rules[value], texts(one), one, name, args) for value, one in configs.items()]
    if not args.no_costs:
        stages.append(costs(pair, next(iter(configs.values())), rules, args.seconds))
    profile, stopped = until_stopped(collect(profile, stages), "parts")
    if profile.costs and profile.costs.settings.get("busy_cores", 0.0) <= MAX_CORES and not stopped:
        store_profile(MachineProfile(about(pair.info), profile.costs, (), time()))  # a busy machine is not stored
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


def continued(pair: Pair, prompts: Sequence[str], config: RunConfig) -> Iterator[Text]:
    """What the target writes after the prompts, again with other seeds where a seed changes anything."""
    for turn in range(1 if config.temperature == 0 else ROUNDS):
        yield from continuations(pair, prompts, replace(config, seed=seed_of(config, turn * len(prompts))))


def acceptance(
    pair: Pair, rules: Sequence[Any], texts: Iterable[Text], config: RunConfig, name: str, args: argparse.Namespace
) -> Iterator[Progress[Any]]:
    """The vectors of some rules at one temperature."""
    stage = f"acceptance at temperature {config.temperature:g}"
    width = min(args.width, pair.vocab_size)
    for update in measure_acceptance(pair, rules, texts, config, width, positions=args.positions):
        vectors = tuple(replace(one, texts=name) for one in update.result)
        yield Progress(update.done, update.total, stage, vectors)


def costs(pair: Pair, config: RunConfig, rules: dict[float, list[Any]], seconds: float) -> Iterator[Progress[Any]]:
    """The costs with the first rule that takes trees."""
    rule = next((one for one in rules[config.temperature] if not one.chain_only), rules[config.temperature][0])
    yield from measure_cost(pair, replace(config, verifier=rule), seconds=seconds)


def collect(profile: Profile, stages: Sequence[Iterator[Progress[Any]]]) -> Iterator[Progress[Profile | None]]:
    """The profile after every update of a stage, each stage counted alike."""
    for place, stage in enumerate(stages):
        before, share = profile.vectors, 1000
        for update in stage:
            if isinstance(update.result, CostTable):
                profile = replace(profile, costs=update.result)
            elif update.result:
                profile = replace(profile, vectors=(*before, *update.result))
            done = place * share + min(share, share * update.done // max(1, update.total))
            yield Progress(done, len(stages) * share, update.stage, profile if profile.vectors else None)


def print_profile(profile: Profile) -> None:
    """The vectors and the costs as tables."""
    first = profile.vectors[0]
    print(printable(f"{first.pair}, {first.dtype or 'exact'}, drafter {first.drafter}, {first.texts}"))
    print(f"{first.positions} positions of {len(first.by_text)} texts; P[k] ± 95 % over texts\n")
    print_table([vector_row(one) for one in profile.vectors], digits=3)
    if table := profile.costs:
        busy = table.settings.get("busy_cores", 0.0)
        print(f"\none plain step: {1000 * table.plain_s:.2f} ms; pass of the target over n nodes, rest of the step")
        rows = zip(table.sizes, table.target_s, table.overhead_s, strict=True)
        print_table([
            {"nodes": size, "pass ms": 1000 * target, "rest ms": 1000 * rest, "of a plain step": target / table.plain_s}
            for size, target, rest in rows
        ])  # fmt: skip
        print("\npass of the draft over n nodes")
        widths = zip(table.widths, table.draft_s, strict=True)
        print_table([{"nodes": width, "ms": 1000 * seconds} for width, seconds in widths])
        if busy > MAX_CORES:
            print(
                f"The machine was busy: other processes used {busy:.1f} cores. Measure again when it is idle.",
                file=sys.stderr,
            )


def vector_row(one: Acceptance) -> dict[str, Any]:
    ranks = {f"P[{k}]": (one.acceptance[k - 1] if k <= len(one.acceptance) else None) for k in (1, 2, 3, 4)}
    margin = None if one.low[0] is None else one.acceptance[0] - one.low[0]
    levels = ", ".join(f"{sum(level):.2f}" for level in one.levels) or "all alike"
    return {
        "rule": one.verifier, "T": f"{one.temperature:g}", **ranks, "± of P[1]": margin, "any": sum(one.acceptance),
        "any, by level": levels,
    }  # fmt: skip
