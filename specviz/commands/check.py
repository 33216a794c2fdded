"""`check`: prove by enumeration which builder and rule are lossless together."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from ..builders import BUILDERS
from ..check import table
from ..protocols import compatible
from ..verifiers import VERIFIERS

HELP = "Prove by enumeration which builder and rule are lossless together (exit code 1 if one is declared wrongly)."
EXAMPLE = "--builder sequoia --verifier specinfer --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--builder", choices=BUILDERS, help="only this builder")
    parser.add_argument("--verifier", choices=VERIFIERS, help="only this rule")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument(
        "--table", action="store_true", help="print what is declared as a Markdown table, without proof"
    )


def run(args: argparse.Namespace) -> int:
    if args.table:
        print(markdown())
        return 0
    rows, right = [], True
    for row in table(
        builders=[args.builder] if args.builder else None, verifiers=[args.verifier] if args.verifier else None
    ):
        rows.append(asdict(row) | {"holds": row.holds})
        right &= row.holds
        if not args.json:
            found = "equal texts" if row.error is None else f"{row.error:8.1e}"
            claim = "lossless" if row.lossless else "lossy"
            mark = "" if row.holds else "   DECLARED WRONGLY"
            print(f"{row.builder:18} {row.verifier:22} {row.law:9} {claim:9} {found}{mark}", flush=True)
    if args.json:
        print(json.dumps(rows, indent=1))
    return 0 if right else 1


def markdown() -> str:
    """What `compatible` declares of each builder and rule above temperature 0, as a Markdown table."""
    marks = {(True, True): "lossless", (True, False): "lossy", (False, False): "–"}
    lines = ["| | " + " | ".join(VERIFIERS) + " |", "| --- |" + " --- |" * len(VERIFIERS)]
    for name, builder in BUILDERS.items():
        matches = [compatible(builder(), rule(), temperature=1.0) for rule in VERIFIERS.values()]
        lines.append(f"| **{name}** | " + " | ".join(marks[m.possible, m.lossless] for m in matches) + " |")
    return "\n".join(lines)
