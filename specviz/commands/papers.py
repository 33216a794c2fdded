"""`papers`: the five sources, entry by entry, beside what was measured here; `--measure` measures and stores it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from .. import papers
from ..papers import Result

EXAMPLE = "--json"
MARKS = {papers.REPRODUCED: "=", papers.DIFFERS: "≠", papers.IMPOSSIBLE: "–"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(papers.SOURCES)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"sources ({names}) or entries such as svip-table-1")
    parser.add_argument(
        "--measure", action="store_true",
        help="measure entries with the embedded pair and store them; entries already measured with these weights "
        "are skipped",
    )  # fmt: skip
    parser.add_argument("--again", action="store_true", help="with --measure: measure them again")
    parser.add_argument("--json", action="store_true", help="print the entries as JSON")


def run(args: argparse.Namespace) -> None:
    chosen = [(source, one) for source, one in papers.entries() if _named(args.names, source, one.name)]
    if args.again and not args.measure:
        raise ValueError("--again needs --measure.")
    if unknown := [name for name in args.names if not any(_named([name], s, one.name) for s, one in papers.entries())]:
        raise ValueError(f"unknown source or entry {unknown[0]!r}. python -m specviz papers lists them.")
    if args.measure:
        from ..models.pair import load_pair

        count = papers.measure_all(load_pair(), args.names, args.again, _tell)
        print(f"{count} entries measured", file=sys.stderr)
    results = [papers.look(source, one) for source, one in chosen]
    print(json.dumps(as_dict(results), indent=1, ensure_ascii=False) if args.json else "\n".join(lines(results)))


def _named(names: Sequence[str], source: str, name: str) -> bool:
    return not names or source in names or f"{source}-{name}" in names


def _tell(sentence: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{sentence[:110]}", end="", file=sys.stderr, flush=True)
    elif sentence.count(":") == 1 and " of " in sentence.partition(",")[0]:
        print(sentence, file=sys.stderr, flush=True)


def lines(results: Sequence[Result]) -> list[str]:
    """The entries as lines of text, the counts first."""
    counts = papers.counts(results)
    shown = [", ".join(f"{counts[state]} {state}" for state in papers.STATES)]
    for one in results:
        shown.append(f"{MARKS[one.verdict.status]} {one.source}-{one.entry.name}: {one.entry.place}, {one.entry.title}")
        shown.append(f"    {one.verdict.sentence}")
    return shown


def as_dict(results: Sequence[Result]) -> dict:
    """The entries as plain JSON data."""
    return {
        "counts": papers.counts(results),
        "entries": [
            {
                "name": f"{one.source}-{one.entry.name}", "place": one.entry.place, "title": one.entry.title,
                "says": one.entry.says, "quoted": one.entry.quoted and one.entry.quoted._asdict(),
                "status": one.verdict.status, "sentence": one.verdict.sentence, "made": one.made, "data": one.data,
                "opens": [link.query for link in one.entry.opens],
            }
            for one in results
        ],
    }  # fmt: skip
