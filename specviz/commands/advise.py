"""`advise`: whether speculation pays for a target, with which drafter and tree, and the nearest
flags of engines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from ..base.codec import JsonObject
from ..base.files import __version__
from ..config.run_config import RunConfig
from ..doctor.engine_flags import EngineSettings, Predicted, engine_flags
from ..drafters import DRAFTERS
from ..drafters.base import Drafter
from ..measure.advice import Advice, Option, advise, reason
from ..measure.engine_ways import CHAIN, SAMPLED, EngineWay
from ..measure.machines import MACHINES, machine
from ..measure.processor import machine as this_machine
from ..measure.profile import read_profile
from ..measure.quiet import Watch
from ..models.base import Pair
from ..models.catalogue import default_draft
from . import options
from .advice_tables import print_advice, with_interval
from .arguments import Arguments, Parser, option, within
from .display import until_stopped

EXAMPLE = "--target org/target --draft org/small --draft early-exit:3 --prompts mine.txt"
# What drafts where no draft is named: an engine's flags cannot name it either.
OWN = "the target's own draft"
EMBEDDED = "embedded draft"
PUBLISHED = "the profile's draft"
UNNAMED = (OWN, EMBEDDED, PUBLISHED)
CALIBRATED = 16  # prompts at most; the others are timed
ENOUGH = 8  # timed texts that usually give a narrow interval


def add_arguments(parser: Parser) -> None:
    options.add_temperature(parser)
    options.add_strategy(parser, "drafter", "none besides the drafts", several=True)
    options.add_prompts(parser)
    options.add_pair(parser, drafts=True)
    count = within(int, 1, 256)
    option(parser, "--each N", "prompts that are timed at most, from 2", within(int, 2), 12)
    option(parser, "--no-timing", "only predict")
    option(
        parser,
        "--profile FILE",
        "acceptance and costs from `calibrate --out` (default: measure both now)",
    )
    option(
        parser,
        "--machine NAME",
        f"predict for {', '.join(MACHINES)}, flat:N (N nodes cost as much as "
        "one), or moe:K/N (K of N experts active)",
    )
    option(
        parser,
        "--texts N,N",
        "also predict for so many texts decoded together, as in 1,4,16, from 1 to 256",
        lambda text: [*map(count, text.split(","))],
        [],
    )
    option(parser, "--json", "print the advice as JSON")


def run(args: Arguments) -> int:
    config = RunConfig(temperature=args.temperature, max_new_tokens=64, seed=1)
    costs = None
    if args.machine:
        costs = machine(args.machine)
    profile = None
    if args.profile:
        profile = read_profile(args.profile)
    prompts = options.prompts_of(args)
    if profile and args.no_timing and args.prompts:
        raise ValueError("--prompts is not used with --profile and --no-timing. Omit it.")
    # Rates that travel with a checkpoint name neither a pair nor a drafter.
    is_published = profile is not None and not profile.pair
    choices, failed = choices_of(args, is_published)
    # Calibrated on every second prompt, timed on the others.
    calibrated = prompts[0::2][:CALIBRATED]
    # What was measured on must not decide how good it is; a single prompt has to do for both.
    timed = (prompts[1::2] or prompts)[: args.each]
    if args.no_timing or args.machine:
        timed = []
    watch = Watch()
    updates = advise(choices, config, calibrated, timed, profile, costs, args.texts)
    advice, stopped = until_stopped(updates, "parts")
    # The busiest moment counts: one disturbed part is enough to doubt the whole.
    busy = [watch.cores, *(option.busy for option in advice.options)]
    pair, _ = next(iter(choices.values()))
    data = data_of(advice, heads_of(args, choices)) | {
        "failed": failed | advice.failed,
        "target": pair.info.get("target", {}).get("name"),
        "temperature": config.temperature,
        "machine": this_machine(),
        "dtype": pair.info.get("dtype"),
        "version": __version__,
        "busy_cores": 0.0 if args.machine else max(busy),
    }
    if args.json:
        print(json.dumps(data))
    else:
        print_advice(data, "the profile's" if profile and not timed else options.source_of(args))
    if stopped:
        return 130
    return 0


def choices_of(
    args: Arguments, is_published: bool = False
) -> tuple[dict[str, tuple[Pair, Drafter]], dict[str, str]]:
    """The drafters to try, each with its pair, and those that cannot be loaded.

    Args:
        args: the options.
        is_published: whether their profile came with a checkpoint that is not loaded.
    """
    drafts = list(dict.fromkeys(args.draft or ()))
    model: Drafter = DRAFTERS["model"]()
    trials: list[tuple[str, str | None, Drafter]] = [(draft, draft, model) for draft in drafts]
    for drafter in options.strategies(args, "drafter"):
        # A target needs no other draft, but a head is what "eagle" reads with.
        needs_draft = drafter.name == "eagle" or not args.target
        trials.append((str(drafter), drafts[0] if drafts and needs_draft else None, drafter))
    own = EMBEDDED
    if args.target:
        own = OWN
    if is_published:
        own = PUBLISHED
    choices: dict[str, tuple[Pair, Drafter]] = {}
    failed: dict[str, str] = {}
    tried: list[tuple[str | None, Drafter]] = []
    # Engines draft with a target's head, also where the pair has a better drafter here.
    has_head = args.target and default_draft(args.target)
    own_drafter = model
    if has_head:
        own_drafter = DRAFTERS["eagle"]()
    for name, draft, drafter in trials or [(own, None, own_drafter)]:
        try:
            # The first pair's target serves all: weights are loaded once.
            like = next((pair for pair, _ in choices.values()), None)
            pair = options.load(args, draft=draft, like=like)
            # A pair may stand for "model" with a drafter of its own, such as a head.
            drafter = RunConfig(drafter=drafter).for_pair(pair).drafter
            # A head that is named as the draft and as the drafter is tried once.
            if (draft, drafter) not in tried:
                choices[name] = pair, drafter
                tried.append((draft, drafter))
        except ValueError as error:
            failed[name] = str(error)
    if not choices:
        raise ValueError(f"no draft could be loaded: {next(iter(failed.values()))}")
    return choices, failed


def heads_of(args: Arguments, choices: Mapping[str, tuple[Pair, Drafter]]) -> dict[str, str]:
    """The folder of the EAGLE-3 head of each drafter that reads with one."""
    heads = {}
    for name, (pair, drafter) in choices.items():
        draft = pair.info.get("draft") or {}
        if drafter.name == "eagle" and draft.get("architecture") == "EAGLE-3":
            folders = args.draft or [str(default_draft(args.target))]
            heads[name] = name if name in folders else folders[0]
    return heads


def sentence_of(best: Option) -> str:
    """The answer in one sentence."""
    size = best.tree.predicted.size
    what = f"{with_interval(best.speedup, ' x')}, {best.tree.name}, {size} nodes, with {best.name}"
    if best.timing is None:
        return f"predicted, not timed: {what}"
    if best.verdict == "pays":
        return f"pays: {what}"
    if best.verdict == "does-not-pay":
        return f"does not pay: the best is {what}"
    margin = best.timing.margin
    distance = abs(best.timing.speedup - 1)
    why = "the interval contains 1"
    if margin is None:
        why = "one text gives no interval"
        more = f"Give at least {2 * ENOUGH} prompts: half are timed."
    elif distance < 0.02:
        more = "It is as fast as plain decoding."
    else:  # a half-width falls with the root of the number of prompts
        prompts = 2 * ENOUGH * max(1, round((margin / distance) ** 2))
        more = f"About {prompts} prompts would decide it (--prompts, --each)."
    return f"undecided, {why}: the best is {what}. {more}"


def data_of(advice: Advice, heads: Mapping[str, str] | None = None) -> JsonObject:
    """The options, the answer with its reason, and the nearest flags of other engines as plain
    data.

    Args:
        advice: the options.
        heads: as `heads_of` returns them.
    """
    rows = list(map(row_of, advice.options))
    if not rows:
        return {
            "verdict": "undecided",
            "sentence": "undecided: no drafter could be used.",
            "options": rows,
            "engine_ways": {},
            "engines": [],
            **dict.fromkeys(("interval", "best", "why", "faster")),
        }
    best = advice.options[0]
    _, *interval = best.speedup
    return {
        "verdict": best.verdict,
        "sentence": sentence_of(best),
        "interval": None if None in interval else interval,
        "best": rows[0],
        "why": reason(best),
        "options": rows,
        "engine_ways": {way: way_of(engine) for way, engine in best.engines.items()},
        "faster": faster_way(best.engines),
        "engines": [settings._asdict() for settings in settings_of(best, heads or {})],
    }


def settings_of(best: Option, heads: Mapping[str, str]) -> tuple[EngineSettings, ...]:
    """The flags of engines that do what was predicted for them."""
    drafter = best.config.drafter.name
    if best.name in heads:
        drafter = "eagle3"
    elif best.name.startswith("early-exit"):
        drafter = "early-exit"
    # Without the engines' rules in a profile the shape is the best of another rule.
    predicted = {CHAIN: Predicted(best.chain.builder.shape)}
    by_batch = {}
    for way, engine in best.engines.items():
        cell = engine.tree.predicted
        predicted[way] = Predicted(engine.tree.builder.shape, cell.tokens_per_pass, cell.speedup)
        by_batch[way] = engine.by_batch
    draft = best.name
    if best.name in UNNAMED:
        draft = ""
    return engine_flags(drafter, heads.get(best.name, draft), predicted, by_batch)


def way_of(engine: EngineWay) -> JsonObject:
    """A way to draft and verify as plain data."""
    return {
        "verifier": engine.config.verifier.name,
        "tree": engine.tree.name,
        "predicted_tokens_per_pass": engine.tree.predicted.tokens_per_pass,
        "predicted": engine.predicted,
        "measured": engine.timing and engine.timing.to_dict(),
    }


def faster_way(ways: Mapping[str, EngineWay]) -> str | None:
    """Which of an engine's own rule and the switch is faster here for a chain, as a sentence; only
    where their intervals are apart."""
    if not {CHAIN, SAMPLED} <= ways.keys():
        return None
    own = ways[CHAIN]
    switch = ways[SAMPLED]
    how = "predicted"
    if own.timing and switch.timing:
        how = "timed"
    figures = f"{with_interval(own.speedup)} x, the switch {with_interval(switch.speedup)} x"
    for faster, other, name in ((own, switch, "engines' own rule"), (switch, own, "the switch")):
        # Only where the slower one's best is below the faster one's worst.
        low = faster.speedup[1]
        high = other.speedup[2]
        if low is not None and high is not None and low > high:
            return f"{name} is faster here ({how}): own rule {figures}."
    return f"engines' own rule and the switch are not apart here ({how}): own rule {figures}."


def row_of(option: Option) -> JsonObject:
    """An option as plain data."""
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
        "batches": {texts: asdict(batch) for texts, batch in option.batches.items()},
        "busy_cores": option.busy,
        "measured": option.timing and option.timing.to_dict(),
    }
