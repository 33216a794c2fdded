"""`check`: prove which builder and rule are lossless together, by enumeration of small trees and on large nodes."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from itertools import chain

from ..builders import BUILDERS
from ..compatibility import compatible
from ..config import RunConfig
from ..proof import large_node
from ..proof.lossless import CHECKED, table
from ..verifiers import VERIFIERS

EXAMPLE = "--builder sequoia --verifier specinfer --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for kind, names in (("builder", BUILDERS), ("verifier", VERIFIERS), ("drafter", CHECKED)):
        parser.add_argument(
            f"--{kind}", choices=names, action="append", metavar="NAME",
            help=f"only this one, or several times for several: {', '.join(names)} (default: all)",
        )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument(
        "--table", action="store_true", help="print what is declared as a Markdown table, without proof"
    )


def run(args: argparse.Namespace) -> int:
    if args.table:
        print(markdown())
        return 0
    rows, right = [], True
    if not args.json:
        print("error: how far the exact law of the text over two steps, or of one large node, is from the target's at")
        print(f"most; 0 is lossless\n{'drafter':16} {'builder':18} {'rule':22} {'children':9} {'declared':9} error")
    # Every builder and rule with the draft model; with the other drafters a chain, a static and a dynamic tree.
    first = args.drafter or ["model"]
    small = table(builders=args.builder, verifiers=args.verifier, drafters=first)
    if not args.drafter:
        others = [name for name in CHECKED if name not in first]
        few = [name for name in args.builder or BUILDERS if name in ("chain", "sequoia", "dyspec")]
        small = chain(small, table(builders=few, verifiers=args.verifier, drafters=others) if few else ())
    for row in chain(small, () if args.builder else large_node.table(args.verifier)):
        rows.append(asdict(row) | {"holds": row.holds})
        right &= row.holds
        if not args.json:
            found = "equal texts" if row.error is None else f"{row.error:8.1e}   {row.proof}"
            claim = "lossless" if row.lossless else "lossy"
            mark = "" if row.holds else "   DECLARED WRONGLY"
            print(
                f"{row.drafter:16} {row.builder:18} {row.verifier:22} {row.law:9} {claim:9} {found}{mark}", flush=True
            )
    if args.json:
        print(json.dumps(rows, indent=1))
    return 0 if right else 1


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
