"""`calibrate`: measure an acceptance vector on text."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..acceptance import ASSETS, measured
from ..builders import BUILDERS
from ..config import RunConfig
from ..measure import acceptance_so_far, acceptance_vector, own_texts
from ..protocols import compatible
from ..verifiers import VERIFIERS
from .bench import built_in_prompts
from .options import add_pair, loading, strategy, write_file

HELP = "Measure how often the k-th child is accepted, on a text or on the target's own continuations."
EXAMPLE = "--verifier sequoia --temperature 1 --json"
ROUNDS = 50  # of the built-in prompts, each with seeds of its own
STORED_TEMPERATURES = (0.3, 0.6, 0.8, 1.0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--text", metavar="FILE", help="measure on this text (default: the target's own continuations)")
    parser.add_argument("--verifier", default="sequoia", help=f"verification rule: {', '.join(VERIFIERS)}")
    parser.add_argument("--temperature", type=float, default=1.0, metavar="T", help="the target's (default 1)")
    parser.add_argument("--draft-temperature", type=float, metavar="T", help="the draft's (default: the target's)")
    parser.add_argument("--top-p", type=float, default=1.0, metavar="P", help="keep the most probable mass P")
    parser.add_argument("--top-k", type=int, metavar="K", help="keep the K most probable tokens")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the texts and of the children")
    parser.add_argument("--positions", type=int, default=2000, metavar="N", help="how many to measure (default 2000)")
    parser.add_argument("--width", type=int, default=32, metavar="K", help="children at each position (default 32)")
    add_pair(parser)
    parser.add_argument("--json", action="store_true", help="print the vector with its intervals and settings")
    parser.add_argument(
        "--store", action="store_true", help="measure every rule and temperature and store them for Sequoia's trees"
    )


def run(args: argparse.Namespace) -> int:
    verifier = strategy(args, "verifier", args.verifier)
    if args.positions < 1 or not 1 <= args.width <= 256:
        raise ValueError("--positions must be at least 1 and --width from 1 to 256.")
    config = RunConfig(
        temperature=args.temperature, draft_temperature=args.draft_temperature, top_p=args.top_p, top_k=args.top_k,
        seed=args.seed, max_new_tokens=96,
    )  # fmt: skip
    match = compatible(BUILDERS["chain"](), verifier, config.temperature, config.draft_temperature)
    if not match.possible:  # not even with the one child at a time that every rule can decide
        raise ValueError(match.reason)
    from ..models.pair import load_pair

    pair = load_pair(args.target, args.draft, **loading(args))
    if args.store:
        store(pair, config, args)
        return 0
    found, stopped = measured_until_stopped(pair, verifier, config, args)
    if args.json:
        print(json.dumps(asdict(found)))
    else:
        print(f"{verifier.title} at temperature {args.temperature:g}: {found.positions} positions, {found.method}")
        for k, (p, low, high) in enumerate(zip(found.acceptance, found.low, found.high, strict=True), 1):
            print(f"{k:4}  {p:.4f}  [{low:.4f}, {high:.4f}]")
    return 130 if stopped else 0


def measured_until_stopped(pair: Any, verifier: Any, config: RunConfig, args: argparse.Namespace) -> tuple:
    """What was measured, and whether Ctrl-C ended it early; texts are written and measured in turn."""
    found = None
    try:
        for found in acceptance_so_far(pair, verifier, texts_for(pair, config, args), config, args.width):
            _progress(found.positions if found else 0, args.positions)
    except KeyboardInterrupt:
        if found is None:
            raise
        print(f"\nstopped: what follows is from the {found.positions} positions measured so far", file=sys.stderr)
        return found, True
    if found is None:
        raise ValueError("text to calibrate on must have at least two tokens. Give a longer one.")
    return found, False


def texts_for(pair: Any, config: RunConfig, args: argparse.Namespace) -> Iterator[list[int]]:
    """Token ids with --positions positions: windows of a file, or what the target writes after the built-in prompts."""
    left = args.positions
    for text in _windows(pair, args) if args.text else _continuations(pair, config):
        if left <= 0:
            return
        yield text[: left + 1]
        left -= max(0, len(text[: left + 1]) - 1)


def _windows(pair: Any, args: argparse.Namespace) -> Iterator[list[int]]:
    try:
        text = Path(args.text).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--text: {args.text!r} cannot be read: {getattr(error, 'strerror', 'not UTF-8')}.") from None
    window = min(256, pair.max_positions)
    tokens = pair.encode(text)
    yield from (tokens[i : i + window] for i in range(0, len(tokens), window))


def _continuations(pair: Any, config: RunConfig) -> Iterator[list[int]]:
    rounds = 1 if config.temperature == 0 else ROUNDS  # there a seed changes nothing
    for turn, prompt in enumerate(rounds * built_in_prompts()):
        yield from own_texts(pair, [prompt], replace(config, seed=config.seed + turn))


def store(pair: Any, config: RunConfig, args: argparse.Namespace) -> None:
    """Measure all rules that use a draft's rows or its order at several temperatures; write assets/acceptance."""
    vectors = []
    for temperature in (0.0, *STORED_TEMPERATURES):
        heated = replace(config, temperature=temperature)
        texts = list(texts_for(pair, heated, args))
        for name, rule in VERIFIERS.items():
            if rule.greedy_only == (temperature == 0) and not rule.shares:
                found = acceptance_vector(pair, rule(), texts, heated, args.width)
                vectors.append(_stored(asdict(found)))
                print(f"{name:22} {temperature:3g}  {[round(p, 3) for p in found.acceptance[:6]]}", flush=True)
    data = {
        "source": f"python -m specviz calibrate --store --positions {args.positions} on {pair.info['name']}",
        "pair": pair.info,
        "vectors": vectors,
    }
    write_file(str(ASSETS / "acceptance" / "embedded.json"), json.dumps(data, indent=1) + "\n")
    measured.cache_clear()


def _stored(found: dict[str, Any]) -> dict[str, Any]:
    return {key: [round(x, 5) for x in value] if isinstance(value, tuple) else value for key, value in found.items()}


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {of} positions", end="" if done < of else "\n", file=sys.stderr, flush=True)
