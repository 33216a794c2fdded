"""`calibrate`: measure an acceptance vector on text."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from .. import codec
from ..acceptance.calibration import to_text
from ..acceptance.on_text import Acceptance, acceptance_so_far, acceptance_vector, own_texts, together
from ..acceptance.positions import ReadOnce
from ..acceptance.progress import SoFar, whole
from ..acceptance.text_units import Written, limited
from ..acceptance.vectors import EMBEDDED, MOST, STORED, stored
from ..compatibility import compatible
from ..config import RunConfig
from ..files import printable, read_text, write_text
from ..models.base import Pair
from ..verifiers import VERIFIERS
from ..verifiers.base import Verifier
from .bench import built_in_prompts
from .options import add_pair, add_rows, add_strategy, add_temperature, load, sampling, strategy
from .watching import until_stopped, watched

EXAMPLE = "--verifier sequoia --temperature 1 --json"
OWN = "the target's continuations of the built-in prompts"
ROUNDS = 50  # of the built-in prompts, each with seeds of its own
STORED_TEMPERATURES = {"model": (0.3, 0.6, 0.8, 1.0)}
FEWER_TEMPERATURES = (0.8, 1.0)  # of every other drafter: most of them are asked level by level
STORED_POSITIONS, STORED_WIDTH = 1000, 16  # at least


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--text", metavar="FILE", help="measure on this text (default: the target's own continuations)")
    add_strategy(parser, "verifier", "sequoia")
    add_strategy(parser, "drafter", "model")
    add_temperature(parser)
    add_rows(parser)
    parser.add_argument(
        "--positions", type=int, default=2000, metavar="N", help="number of positions, from 1 (default 2000)"
    )
    parser.add_argument(
        "--width", type=int, default=32, metavar="K", help=f"children per position, 1 to {MOST} (default 32)"
    )
    add_pair(parser)
    parser.add_argument("--json", action="store_true", help="print the vector with its intervals and settings")
    parser.add_argument(
        "--store",
        action="store_true",
        help="measure every rule and temperature on the embedded pair and store the vectors of --drafter",
    )


def run(args: argparse.Namespace) -> int:
    verifier = strategy(args, "verifier", args.verifier)
    if args.positions < 1 or not 1 <= args.width <= MOST:
        raise ValueError(f"--positions must be at least 1 and --width from 1 to {MOST}.")
    if args.store:
        check_store(args)
    config = RunConfig(
        builder="chain", verifier=verifier, temperature=args.temperature, max_new_tokens=96,
        drafter=strategy(args, "drafter", args.drafter), **sampling(args),
    )  # fmt: skip
    compatible(config).required()  # at least with the one child at a time that every rule can decide
    args.text = None if args.text is None else read_text(args.text, "--text")
    pair = load(args)
    if args.store:
        store(pair, config, args)
        return 0
    last, stopped = until_stopped(
        measured(pair, verifier, config, args), "positions", lambda one: first_child(one.known)
    )
    found = last.known
    if args.json:
        print(to_text([found]), end="")
    else:
        by = f"{verifier.title} with {config.drafter.spoken}"
        print(f"{by} at temperature {args.temperature:g}: {found.positions} positions, {found.method}")
        print(printable(f"{found.pair}, {found.dtype or 'exact'}, {len(found.by_text)} texts: {found.texts}"))
        print("child  accepted with this chance, given that its parent is  [95 % interval over texts]")
        for k, (p, low, high) in enumerate(zip(found.acceptance, found.low, found.high, strict=True), 1):
            print(f"{k:5}  {p:.4f}" + ("" if low is None else f"  [{low:.4f}, {high:.4f}]"))
        if found.levels:
            print("\nany child, by level: " + "  ".join(f"{sum(level):.4f}" for level in found.levels))
    return 130 if stopped else 0


def first_child(found: Acceptance | None) -> str:
    """What a line of progress says of a vector."""
    return f"; first child {found.acceptance[0]:.3f}, any {sum(found.acceptance):.3f}" if found else ""


def measured(
    pair: Pair, verifier: Verifier, config: RunConfig, args: argparse.Namespace
) -> Iterator[SoFar[Acceptance | None]]:
    """Positions done, of how many, and what they say; texts are written and measured in turn."""
    found = None
    where = f"windows of {Path(args.text).name}" if args.text else OWN
    for found in acceptance_so_far(pair, verifier, texts_for(pair, config, args), config, args.width):
        found = found and replace(found, texts=where)
        yield SoFar(found.positions if found else 0, args.positions, found)
    if found is None:
        raise ValueError("text to calibrate on must have at least two tokens. Use a longer text.")


def texts_for(pair: Pair, config: RunConfig, args: argparse.Namespace) -> Iterator[list[int]]:
    """Token ids with --positions positions: windows of a file, or what the target writes after the built-in prompts."""
    return limited(_windows(pair, args) if args.text is not None else _continuations(pair, config), args.positions)


def _windows(pair: Pair, args: argparse.Namespace) -> Iterator[list[int]]:
    window = min(256, pair.max_positions)
    tokens = pair.encode(args.text)
    yield from (Written(tokens[i : i + window], 1, "--text") for i in range(0, len(tokens), window))


def _continuations(pair: Pair, config: RunConfig) -> Iterator[list[int]]:
    rounds = 1 if config.temperature == 0 else ROUNDS  # there a seed changes nothing
    for turn, prompt in enumerate(rounds * built_in_prompts()):
        yield from own_texts(pair, [prompt], replace(config, seed=config.seed + turn))


def check_store(args: argparse.Namespace) -> None:
    """Raise for what must not become the vectors that every tree of the embedded pair is planned with."""
    drafter = strategy(args, "drafter", args.drafter)
    if drafter != type(drafter)():
        raise ValueError("--store needs a drafter with default parameters. Omit its parameters.")
    fixed = {"text": None, "target": None, "draft": None, "draft_temperature": None, "top_p": 1.0, "top_k": None}
    if other := [name for name, usual in fixed.items() if getattr(args, name) != usual]:
        raise ValueError(
            f"--store is for the embedded pair on its own texts. Omit --{other[0].replace('_', '-')}. "
            "For another pair use --json > vector.json."
        )
    if args.positions < STORED_POSITIONS or args.width < STORED_WIDTH:
        raise ValueError(
            f"--store needs --positions of at least {STORED_POSITIONS:,} and --width of at least {STORED_WIDTH}, for "
            f"planning trees; got {args.positions:,} and {args.width}."
        )


def store(pair: Pair, config: RunConfig, args: argparse.Namespace) -> None:
    """Measure all rules that use a draft's rows or its order at several temperatures; write assets/acceptance."""
    vectors = []
    drafter = config.drafter
    for temperature in (0.0, *STORED_TEMPERATURES.get(drafter.name, FEWER_TEMPERATURES)):
        asked = replace(config, temperature=temperature)
        rules = [
            rule()
            for rule in VERIFIERS.values()
            if rule.greedy_only == (temperature == 0) and not (rule.shares or rule.alone)
        ]
        news = every_rule(pair, rules, texts_for(pair, asked, args), asked, args.width, args.positions)
        for found in whole(watched(news, f"positions at temperature {temperature:g}")):
            vectors.append(replace(found, texts=OWN))
            print(f"{found.verifier:22} {temperature:3g}  {[round(p, 3) for p in found.acceptance[:6]]}", flush=True)
    data = {
        "source": f"python -m specviz calibrate --store --drafter {drafter.name} --positions {args.positions} "
        f"--width {args.width} on {pair.info['name']}",
        "pair": pair.info,
        "drafter": drafter.to_dict(),
        "vectors": vectors,
    }
    STORED[EMBEDDED].mkdir(parents=True, exist_ok=True)
    write_text(STORED[EMBEDDED] / f"{drafter.name}.json", codec.lines(data) + "\n")
    stored.cache_clear()


def every_rule(
    pair: Pair, rules: Sequence[Verifier], texts: Iterable[list[int]], config: RunConfig, width: int, positions: int
) -> Iterator[SoFar[list[Acceptance]]]:
    """The acceptance of several rules, in their order; every text is read once for all of them.

    Args:
        pair, texts, config, width: as for `acceptance_so_far`.
        rules: the rules.
        positions: how many are expected in all, for `of`.
    """
    parts: list[list[Acceptance]] = [[] for _ in rules]
    measured: list[list[int]] = []
    for number, text in enumerate(texts):
        once, own = ReadOnce(), replace(config, seed=config.seed + number)
        measured.append(text)
        for rule, found in zip(rules, parts, strict=True):
            found.append(acceptance_vector(pair, rule, [text], own, width, read=once))
        known = [together(found, measured) for found in parts]
        yield SoFar(known[0].positions, positions, known)
