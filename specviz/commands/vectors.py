"""Which acceptance vectors `optimize` predicts with: a file's, the stored ones of the pair, or some measured now."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import codec
from ..acceptance.on_text import Acceptance, own_texts
from ..acceptance.progress import whole
from ..acceptance.text_units import limited
from ..acceptance.vectors import elsewhere, find_row, read_acceptance, stored
from ..builders import BUILDERS
from ..compatibility import compatible
from ..config import RunConfig
from ..drafters.base import Drafter
from ..files import __version__, printable, read_text
from ..strategy import format_strategy, split_strategy
from ..verifiers import VERIFIERS
from .bench import built_in_prompts, read_prompts
from .calibrate import OWN, every_rule, first_child
from .options import strategy
from .watching import watched

POSITIONS, TOKENS, WIDTH = 1500, 64, 16  # of a vector that is measured now: at most, of each text, and children


def rules_for(args: argparse.Namespace, drafter: Drafter) -> list[str]:
    """The rules that come into question."""
    RunConfig(temperature=args.temperature)  # raises on a bad one
    if args.verifier:
        return [format_strategy(strategy(args, "verifier", args.verifier))]
    greedy = "exact-match" if args.temperature == 0 else None
    if args.acceptance:
        read_acceptance(args.acceptance)
        return [_rule_of(args.acceptance) or greedy or "sequoia"]
    if greedy:
        return [greedy]
    known = {row["verifier"] for row in (stored(drafter.name) or stored() or {"vectors": ()})["vectors"]}
    tree = RunConfig(builder=BUILDERS["sequoia"](), temperature=args.temperature, drafter=drafter)
    fit = [name for name, rule in VERIFIERS.items() if compatible(replace(tree, verifier=rule())).lossless]
    return [name for name in fit if name in known] or fit[:1]


def vectors_for(
    args: argparse.Namespace, rules: list[str], drafter: Drafter, pair: Callable[[], Any], loads: bool
) -> dict[str, Acceptance]:
    """Rule -> acceptance vector, each of the pair and the drafter that are asked for.

    Args:
        args: the options.
        rules: from `rules_for`.
        drafter: the drafter.
        pair: loads the pair, or returns it.
        loads: whether the pair is needed in any case.
    """
    if args.acceptance:
        return {rules[0]: _from_file(args, rules[0], drafter, pair().info if loads else {})}
    kept = None if args.prompts or args.target or args.draft or rules[0] not in VERIFIERS else stored(drafter.name)
    if kept and kept["drafter"]["parameters"] == drafter.parameters:
        says = {"pair": kept["pair"]["name"], "dtype": kept["pair"]["dtype"], "texts": OWN}
        rows = {name: find_row(kept, name, args.temperature) for name in rules}
        return {name: codec.read(Acceptance, says | row, "vector") for name, row in rows.items()}
    return _measured_now(args, rules, drafter, pair())


def named(vector: Acceptance) -> str:
    """What a vector was measured on, in words."""
    of = f" of {vector.pair} with {vector.drafter}" if vector.pair else ""
    return f"acceptance{of} at temperature {vector.temperature:g}, measured on {vector.texts or 'unnamed texts'}"


def _measured_now(args: argparse.Namespace, rules: list[str], drafter: Drafter, pair: Any) -> dict[str, Acceptance]:
    """Vectors on the target's own continuations of --prompts or the built-in ones, each prompt once."""
    prompts = read_prompts(args.prompts) if args.prompts else built_in_prompts()
    config = RunConfig(temperature=args.temperature, max_new_tokens=TOKENS, drafter=drafter)
    most = min(POSITIONS, TOKENS * len(prompts))
    texts = limited(own_texts(pair, prompts, config), POSITIONS)
    asked = [strategy(args, "verifier", name) for name in rules]
    news = every_rule(pair, asked, texts, config, min(WIDTH, pair.vocab_size), most)
    shown = watched(news, "positions", lambda one: first_child(one.known[0]))
    found = whole(shown)
    where = f"continuations of {Path(args.prompts).name}" if args.prompts else OWN
    return {name: replace(vector, texts=where) for name, vector in zip(rules, found, strict=True)}


def _from_file(args: argparse.Namespace, rule: str, drafter: Drafter, info: dict[str, Any]) -> Acceptance:
    """The vector of --acceptance; one of another pair, drafter, rule or temperature is rejected."""
    here = {
        "pair": info.get("name"), "drafter": drafter.name, "parameters": drafter.parameters,
        "verifier": split_strategy("verifier", rule)[0], "temperature": args.temperature,
    }  # fmt: skip
    if sentence := elsewhere(args.acceptance, here):
        raise ValueError(f"{sentence}. Use the same options, or omit --acceptance to measure a vector.")
    if sentence := elsewhere(args.acceptance, {"dtype": info.get("dtype"), "version": __version__}):
        print(printable(sentence), file=sys.stderr)
    plan = read_acceptance(args.acceptance)
    data = json.loads(read_text(args.acceptance, "acceptance file"))
    if "positions" in data:
        return codec.read(Acceptance, data, "measurement")
    levels = plan if isinstance(plan[0], tuple) else ()
    first = levels[0] if levels else plan
    none = (None,) * len(first)
    vector = Acceptance(first, none, none, 1, "expected", rule, "", args.temperature, None, drafter.name, levels)
    return replace(vector, texts=str(data.get("source", "")))


def _rule_of(path: str) -> str | None:
    """The rule that an acceptance file was measured with, where it says so."""
    name = json.loads(read_text(path, "acceptance file")).get("verifier")
    return name if isinstance(name, str) and name in VERIFIERS else None
