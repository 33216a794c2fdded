"""`calibrate`: measure acceptance vectors and costs of a pair, as one profile that other commands
read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..base.codec import JsonObject, pretty_json
from ..base.files import check_output, read_text, write_text
from ..config.run_config import RunConfig, compatible
from ..measure.advice import calibrate
from ..measure.cost_table import CostTable
from ..measure.processor import machine
from ..measure.profile import Profile
from ..measure.texts import Text, continuations, limited, windows
from ..measure.this_machine import PROMPT
from ..record.chain_rates import to_profile
from ..record.vectors import MAX_RANKS, AcceptanceVector, Plan, by_level, places_of
from ..verifiers import VERIFIERS
from ..verifiers.base import Verifier
from ..view.terminal import text_table
from . import options
from .arguments import Arguments, Parser, option, within
from .display import say, until_stopped, warn_if_busy

EXAMPLE = (
    "--target org/target --draft org/small --temperature 0 --temperature 0.8 --out profile.json"
)
RANKS = 4  # that are printed
CHAIN = 5  # positions of a speculation profile at least
TOKENS = 96  # of each continuation
ROUNDS = 50  # of the prompts, each with seeds of its own, where they are too few


def add_arguments(parser: Parser) -> None:
    options.add_strategy(
        parser, "verifier", "every rule that suits the temperature and the drafter", several=True
    )
    options.add_strategy(parser, "drafter", "model")
    options.add_sampling(parser, several="0 and 0.8")
    texts = parser.add_mutually_exclusive_group()
    costs = parser.add_mutually_exclusive_group()
    options.add_prompts(parser, texts)
    option(
        texts,
        "--text FILE",
        "measure on this text in place of the target's continuations of --prompts",
    )
    positive = within(float, 0, above=True)
    ranks = within(int, 1, MAX_RANKS)
    option(parser, "--positions N", "number of positions, from 1", within(int, 1), 2000)
    option(parser, "--width K", f"children per position, 1 to {MAX_RANKS}", ranks, 32)
    option(costs, "--seconds S", "time limit of the costs, above 0", positive, 45.0)
    option(costs, "--no-costs", "measure acceptance only")
    options.add_pair(parser)
    option(parser, "--out FILE", "write the profile to this file")
    option(
        parser,
        "--speculation-profile FILE",
        "write how often a chain is accepted by position in the form that travels with a "
        "checkpoint, of the first rule that is measured",
    )
    option(parser, "--json", "print the profile as JSON")


def run(args: Arguments) -> int:
    drafter = options.strategy(args, "drafter", args.drafter)
    config = RunConfig(PROMPT, max_new_tokens=TOKENS, drafter=drafter, **options.sampling(args))
    named = options.strategies(args, "verifier")
    # At temperature 0 all rules accept the same tokens, so another set is measured there.
    rules = {}
    for temperature in dict.fromkeys(args.temperature or (0.0, 0.8)):
        heated = replace(config, temperature=temperature)
        rules[heated] = rules_for(named, heated)
    for output in filter(None, (args.out, args.speculation_profile)):
        check_output(output, args.text, args.prompts)
    # Files before models: a misspelt name costs no loading.
    text = args.text and read_text(args.text, "--text")
    prompts = options.prompts_of(args)
    pair = options.load(args)
    drafter = config.for_pair(pair).drafter
    name = f"the target's continuations of {options.source_of(args)}"
    if args.text:
        name = f"windows of {Path(args.text).name}"
    source = f"specviz calibrate, {args.positions} positions, {name}"
    blank = Profile(source, pair.info, drafter.to_dict(), (), None, tuple(machine()))

    def texts_of(heated: RunConfig) -> Iterator[Text]:
        """What the target writes, again with other seeds where a seed changes anything; or the
        text."""
        if text is None:
            # Without chance a second continuation of a prompt would be the first one again.
            repeated = prompts * (1 if heated.temperature == 0 else ROUNDS)
            return limited(continuations(pair, repeated, heated), args.positions)
        return limited(windows(pair, text, name), args.positions)

    seconds = args.seconds
    if args.no_costs:
        seconds = 0
    updates = calibrate(pair, rules, texts_of, blank, args.width, args.positions, seconds)
    profile, stopped = until_stopped(updates, "positions")
    profile = replace(profile, vectors=tuple(replace(one, texts=name) for one in profile.vectors))
    if args.out:
        write_text(args.out, profile.to_json())
    if args.speculation_profile:
        write_text(args.speculation_profile, rates_of(profile.vectors[0], drafter.name))
    if args.json:
        print(profile.to_json(), end="")
    else:
        print_profile(profile)
    if stopped:
        return 130
    return 0


def rates_of(vector: AcceptanceVector, drafter: str) -> str:
    """The rates of a chain by position as JSON text; what is below the last level is alike."""
    conditional = vector.conditional
    # Engines want a number of positions; below the last one that is distinguished all are alike.
    conditional += conditional[-1:] * (CHAIN - len(conditional))
    conditions = {"dataset": vector.texts, "osl": TOKENS, "temperature": vector.temperature}
    samples = len(vector.by_text)
    profile = to_profile(conditional, drafter, samples, rule=vector.verifier, **conditions)
    return pretty_json(profile, all_digits=True) + "\n"


def rules_for(named: Sequence[Verifier], config: RunConfig) -> list[Verifier]:
    """The rules that are measured at a temperature: those of the option, or every one that goes
    with it."""
    rules = []
    for rule in named or [rule() for rule in VERIFIERS.values()]:
        match = compatible(replace(config, builder="chain", verifier=rule))
        # A rule whose acceptance depends on the number of siblings has no vector.
        suits = rule.greedy_only == (config.temperature == 0) and not rule.depends_on_siblings
        if named:
            match.required()
        if named or (match.possible and suits):
            rules.append(rule)
    return rules


def print_profile(profile: Profile) -> None:
    """The vectors and the costs as tables."""
    first = profile.vectors[0]
    say(f"{first.pair}, {first.dtype or 'exact'}, drafter {first.drafter}, {first.texts}")
    print(f"{first.positions} positions of {len(first.by_text)} texts; P[k] ± 95 % over texts\n")
    rows = []
    for vector in profile.vectors:
        # Half of the interval of the first child: the number that decides what a chain is worth.
        margin = None
        if vector.low[0] is not None:
            margin = vector.acceptance[0] - vector.low[0]
        rows.append(_row(vector.verifier, f"{vector.temperature:g}", vector.plan, margin))
        for category, places in places_of(vector.categories).items():
            rows.append(_row(f"  {category or 'no category'}", "", vector.over(places), None))
    print(text_table(rows, digits=3))
    if profile.costs:
        print_costs(profile.costs)


def print_costs(table: CostTable) -> None:
    """Costs as two tables."""
    print(
        f"\none plain step: {1000 * table.plain_s:.2f} ms; pass of the target over n "
        "nodes, rest of the step"
    )
    rows = []
    for size, target, rest in zip(table.sizes, table.target_s, table.overhead_s, strict=True):
        times = {"pass ms": 1000 * target, "rest ms": 1000 * rest}
        rows.append({"nodes": size} | times | {"of a plain step": target / table.plain_s})
    print(text_table(rows))
    print("\npass of the draft over n nodes")
    drafts = zip(table.widths, table.draft_s, strict=True)
    print(text_table([{"nodes": width, "ms": 1000 * seconds} for width, seconds in drafts]))
    costs = ",".join(f"{cost:g}" for cost in table.size_costs)
    draft_cost = ",".join(f"{cost:g}" for cost in table.draft_cost)
    print(f"\nfor builders of size auto: costs={costs},draft_cost={draft_cost}")
    warn_if_busy(table.settings.get("busy_cores", 0.0))


def _row(rule: str, temperature: str, plan: Plan, margin: float | None) -> JsonObject:
    levels = by_level(plan)
    row: JsonObject = {"rule": rule, "T": temperature}
    for rank in range(RANKS):
        row[f"P[{rank + 1}]"] = levels[0][rank] if rank < len(levels[0]) else None
    sums = [f"{sum(level):.2f}" for level in levels]
    return row | {
        "± of P[1]": margin,
        "any": sum(levels[0]),
        "any, by level": ", ".join(sums) if len(sums) > 1 else "all alike",
    }
