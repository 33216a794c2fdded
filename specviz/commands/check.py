"""`check`: prove which builder and rule are lossless together, by enumeration of small trees and on large nodes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from ..builders import BUILDERS
from ..codec import dumps, plain
from ..compatibility import compatible
from ..config import RunConfig
from ..errors import UnknownName
from ..plugins.load import PluginError
from ..proof import large_node
from ..proof.counterexample import Counterexample, smallest
from ..proof.lossless import Row, cases, checked, few
from ..proof.search import search
from ..proof.stored_proofs import proven
from ..strategy import built_in
from ..verifiers import VERIFIERS

EXAMPLE = "--builder sequoia --verifier specinfer --json"
WITH_OTHERS = ("chain", "sequoia", "dyspec", "eagle2")  # a chain, a static, a dynamic and a re-ranked tree
ADDRESS = "http://127.0.0.1:7860"  # of the page, unless its port is taken
HEAD = """\
error: largest deviation of the exact output distribution, over two steps or one large node, from the target's; 0 is
lossless drafter          builder                  rule                   children  sampling     declared  error"""
LINE = "{drafter:16} {builder:24} {verifier:22} {scheme:9} {sampling:12} {declared:9} {found}"


def _names() -> dict[str, Collection[str]]:
    return {"builder": BUILDERS, "verifier": VERIFIERS, "drafter": checked()}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for kind, names in _names().items():
        parser.add_argument(
            f"--{kind}", action="append", metavar="NAME",
            help=f"only this one; repeat for several: {', '.join(names)} (default: all)",
        )  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="number of processes, from 1 (default 1)")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    only = parser.add_mutually_exclusive_group()
    only.add_argument(
        "--quick",
        action="store_true",
        help="prove a few configurations that cover every builder, rule and drafter; a minute",
    )
    only.add_argument(
        "--search", type=int, metavar="N",
        help="try N random configurations instead, from 1, and print those with wrong declarations (default: none)",
    )  # fmt: skip
    only.add_argument("--table", action="store_true", help="print what is declared as a Markdown table, without proof")


def run(args: argparse.Namespace) -> int:
    if args.table:
        print(markdown())
        return 0
    for name in ("jobs", "search"):
        if getattr(args, name) is not None and getattr(args, name) < 1:
            raise ValueError(f"--{name} must be a whole number from 1; got {getattr(args, name)}.")
    for kind, names in _names().items():
        if unknown := [name for name in getattr(args, kind) or () if name not in names]:
            raise UnknownName(f"--{kind}", unknown[0], names)
    if args.search is not None:
        return searched(args.search)
    if not args.json:
        print(HEAD)
    right, number = True, 0
    drifts: dict[tuple[str, ...], bool] = {}
    wrong: dict[str, Counterexample | None] = {}  # by the rule of a refuted row
    largest = 0.0
    for number, row in enumerate(_until_failure(args, wrong), 1):
        right &= not row.refuted
        largest = max(largest, (row.lossless and row.error) or 0.0)
        if row.refuted and row.verifier not in wrong:
            wrong[row.verifier] = smallest(VERIFIERS[row.verifier]()) if row.drafter == "model" else None
        if not row.lossless:  # the row of one sampling, or of one builder, must show it
            group = (row.verifier,) if args.quick else (row.verifier, row.scheme, row.builder, row.drafter)
            drifts[group] = drifts.get(group, False) or row.holds
        if args.json:
            shown = {"counterexample": (found := wrong[row.verifier]) and found.to_dict()} if row.refuted else {}
            print("," if number > 1 else "[", dumps(plain(row) | {"holds": row.holds} | shown), flush=True)
        else:
            print(line_of(row), flush=True)
        if args.verifier == [row.verifier] and wrong.get(row.verifier):
            break  # it is refuted; further rows say nothing new
    if args.json:
        print("]" if number else "[]")
    for name, found in wrong.items():
        print(told(name, found, args.plugin), file=sys.stderr if args.json else sys.stdout)
    hidden = [", ".join(group) for group, seen in drifts.items() if not seen]
    for names in hidden:
        print(f"declared lossy, but no proof shows it: {names}", file=sys.stderr)
    right = right and not hidden and not wrong
    if right and not args.json:
        print(f"{number} rows, all as declared; the largest error of a lossless one is {largest:.1e}")
    return 0 if right else 1


def _until_failure(args: argparse.Namespace, wrong: dict[str, Counterexample | None]) -> Iterator[Row]:
    """The rows, up to one in which a plugin fails; the smallest node where a rule does is then put into `wrong`."""
    try:
        yield from proven(tasks_of(args), args.jobs)
    except PluginError:
        found = {name: smallest(VERIFIERS[name]()) for name in args.verifier or () if not built_in(VERIFIERS[name])}
        if not any(found.values()):
            raise
        wrong.update(found)


def tasks_of(args: argparse.Namespace) -> Sequence[Any]:
    """What is to be proven: every builder and rule with the draft model, with other drafters a few builders."""
    first = args.drafter or ["model"]
    small = [*cases(args.builder, args.verifier, first)]
    if not args.drafter and (some := [name for name in args.builder or BUILDERS if name in WITH_OTHERS]):
        small += cases(some, args.verifier, [name for name in checked() if name not in first])
    if args.quick:
        return [*few(small)]
    return small if args.builder else [*small, *large_node.cases(args.verifier)]


def told(rule: str, found: Counterexample | None, plugins: Sequence[str]) -> str:
    """What is said about a rule with a refuted row, with a link to where it can be seen."""
    if found is None:
        return (
            f"\n{rule}: no single node with small fractions shows it. The mistake needs several levels or steps, or is "
            "the builder's or the drafter's."
        )
    if VERIFIERS[rule].greedy_only:  # which the page's lab, at temperature 1, does not have
        return f"\n{found}"
    given = "".join(f" --plugin {name}" for name in plugins)
    return f"\n{found}\nTo see it, run `python -m specviz demo{given}` and open\n  {ADDRESS}{found.link}"


def line_of(row: Row) -> str:
    """A row of the table as it is printed."""
    found = "equal texts" if row.error is None else f"{row.error:8.1e}   {row.proof}"
    asked = (("T draft {:g}", row.draft_temperature), ("top-k {}", row.top_k), ("top-p {:g}", row.top_p % 1 or None))
    mark = "   DECLARED WRONGLY" if row.refuted else "" if row.holds else ", no deviation here"
    return LINE.format(
        drafter=row.drafter, builder=row.builder, verifier=row.verifier, scheme=row.scheme,
        sampling=", ".join(says.format(value) for says, value in asked if value is not None),
        declared="lossless" if row.lossless else "lossy", found=found + mark,
    )  # fmt: skip


def searched(count: int) -> int:
    """Try random configurations and print those that are declared lossless and are not."""
    wrong = tried = 0
    for one in search(count):
        tried += one.error is not None
        if not one.holds:
            wrong += 1
            print(
                f"number {one.number}: declared lossless, error {one.error:.1e}, children {one.scheme}: {one.config}",
                flush=True,
            )
    print(
        f"{count} configurations, {tried} of them possible and small enough; {wrong} are declared lossless but are not."
    )
    return 1 if wrong else 0


def markdown() -> str:
    """What `compatible` declares of each builder and rule above temperature 0, as a Markdown table."""
    marks = {(True, True): "lossless", (True, False): "lossy", (False, False): "–"}
    rules, builders = ({name: cls for name, cls in menu.items() if not cls.alone} for menu in (VERIFIERS, BUILDERS))
    lines = ["| | " + " | ".join(rules) + " |", "| --- |" + " --- |" * len(rules)]
    for name, builder in builders.items():
        matches = [
            compatible(RunConfig(builder=builder(), verifier=rule(), temperature=1.0)) for rule in rules.values()
        ]
        lines.append(f"| **{name}** | " + " | ".join(marks[m.possible, m.lossless] for m in matches) + " |")
    return "\n".join(lines)
