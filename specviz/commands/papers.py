"""`papers`: the claims of the five sources beside what was measured here; `--measure` measures and stores it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import papers
from ..papers import Finding, Result

EXAMPLE = "--json"
MARKS = dict(zip(papers.VERDICTS, "=∎?≠–", strict=True))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(papers.SOURCES)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"sources ({names}) or entries such as svip-table-1")
    parser.add_argument(
        "--measure", action="store_true",
        help="measure with the embedded pair and store the results, without what is timed; what was measured with "
        "these weights is skipped",
    )  # fmt: skip
    parser.add_argument("--timed", action="store_true", help="with --measure: only what is timed, on an idle machine")
    parser.add_argument("--again", action="store_true", help="with --measure: measure everything again")
    parser.add_argument(
        "--seeds", nargs="+", type=int, default=papers.SEEDS, help="seeds of the texts, from 0; default 1 2 3"
    )
    parser.add_argument(
        "--texts", type=int, default=papers.TEXTS, choices=range(1, papers.MOST_TEXTS + 1), metavar="N",
        help=f"texts of each of two kinds and each seed, up to {papers.MOST_TEXTS}; default {papers.TEXTS}",
    )  # fmt: skip
    parser.add_argument("--store", type=Path, help="folder of the stored measurements, default the package's own")
    parser.add_argument(
        "--beside", nargs="+", type=Path, default=(), metavar="STORE",
        help="folders measured with other seeds: count their verdicts too; default none",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the claims as JSON")


def run(args: argparse.Namespace) -> None:
    chosen = [(source, one) for source, one in papers.entries() if _named(args.names, source, one.name)]
    if (args.again or args.timed) and not args.measure:
        raise ValueError(f"--{'again' if args.again else 'timed'} needs --measure.")
    if tuple(args.seeds) != papers.SEEDS and not args.store:
        raise ValueError("--seeds needs --store, because the package keeps the figures of the seeds 1, 2 and 3.")
    if unknown := [name for name in args.names if not any(_named([name], s, one.name) for s, one in papers.entries())]:
        raise ValueError(f"unknown source or entry {unknown[0]!r}. python -m specviz papers lists them.")
    store = papers.Store(args.store)
    if args.measure:
        from ..models.pair import load_pair

        how = args.timed, args.again, store, args.seeds, args.texts
        count = papers.measure_all(load_pair(), args.names, *how, _report)
        print(f"\n{count} measurements stored", file=sys.stderr)
    results = [papers.look(source, one, store) for source, one in chosen]
    if args.beside:
        others = [[papers.look(source, one, papers.Store(folder)) for source, one in chosen] for folder in args.beside]
        print("\n".join(side_by_side([results, *others])))
        return
    print(json.dumps(as_list(results), indent=1, ensure_ascii=False) if args.json else "\n".join(lines(results)))


def _named(names: Sequence[str], source: str, name: str) -> bool:
    return not names or source in names or f"{source}-{name}" in names


def _report(sentence: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{sentence[:110]}", end="", file=sys.stderr, flush=True)
    elif "text " not in sentence or "text 1 of" in sentence:
        print(sentence, file=sys.stderr, flush=True)


def lines(results: Sequence[Result]) -> list[str]:
    """The claims as lines of text, the counts first."""
    counts = papers.counts(one for result in results for one in result.findings)
    shown = [", ".join(f"{count} {verdict}" for verdict, count in counts.items())]
    for one in results:
        shown.append(f"{one.source}-{one.entry.name}: {one.entry.place}, {one.entry.title}")
        shown += [f"  {MARKS[found.verdict]} {found.claim.says}{_numbers(found)}" for found in one.findings]
    return shown


def side_by_side(stores: Sequence[Sequence[Result]]) -> list[str]:
    """Verdicts of the counted claims that every store decides, and the claims that some reproduce and some do not."""
    each = zip(*([found for one in results for found in one.findings] for results in stores), strict=True)
    rows = [row for row in each if row[0].claim.how == "counted" and all(found.seeds for found in row)]
    shown = [f"Counted claims that all {len(stores)} stores decide: {len(rows)}"]
    for place in range(len(stores)):
        counts = papers.counts(row[place] for row in rows)
        shown.append(f"store {place + 1}: " + ", ".join(f"{count} {name}" for name, count in counts.items() if count))
    changed = [row for row in rows if {"reproduced", "differs"} <= {found.verdict for found in row}]
    shown.append(f"Reproduced with some seeds and different with others: {len(changed)}")
    return shown + [
        f"  {row[0].claim.says}: " + "; ".join(f"{one.estimate:.3g} ({one.low:.3g} to {one.high:.3g})" for one in row)
        for row in changed
    ]


def _numbers(found: Finding) -> str:
    number = "" if found.estimate is None else f"{found.estimate:.3g}"
    if found.seeds is not None:
        number += f" ({found.low:.3g} to {found.high:.3g})"
    bound = found.claim.bound
    wanted = f"within {bound[0]:g} to {bound[1]:g}" if isinstance(bound, tuple) else f"{found.claim.relation} {bound:g}"
    return f": {number}{', ' if number else ''}claimed {wanted}. {found.sentence}".rstrip()


def as_list(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The claims as plain JSON data."""
    return [
        {
            "source": one.source, "entry": one.entry.name, "claim": found.claim.says,
            "place": found.claim.place or one.entry.place, "estimate": found.estimate, "low": found.low,
            "high": found.high, "relation": found.claim.relation, "bound": found.claim.bound, "seeds": found.seeds,
            "texts": found.texts, "verdict": found.verdict,
        }
        for one in results
        for found in one.findings
    ]  # fmt: skip
