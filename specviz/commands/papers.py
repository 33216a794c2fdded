"""`papers`: the claims of the five sources with what was measured here; `--measure` measures and
stores it."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from .. import papers

EXAMPLE = "svip --json"
MARKS = dict(zip(papers.VERDICTS, "=∎?≠–", strict=True))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(papers.SOURCES)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"sources ({names}) or entries such as svip-table-1",
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help=(
            "measure with the embedded pair and store the results; what was measured with these "
            "weights is skipped"
        ),
    )
    parser.add_argument(
        "--timed",
        action="store_true",
        help="with --measure: only what is timed, on an idle machine",
    )
    parser.add_argument(
        "--again", action="store_true", help="with --measure: measure everything again"
    )
    parser.add_argument(
        "--texts",
        type=int,
        default=papers.TEXTS,
        choices=range(1, papers.MAX_TEXTS + 1),
        metavar="N",
        help=(
            f"texts of each of two kinds and each seed, up to {papers.MAX_TEXTS}; default "
            f"{papers.TEXTS}"
        ),
    )
    parser.add_argument(
        "--store", type=Path, help="folder of the stored measurements, default the package's own"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the claims as JSON")
    form.add_argument(
        "--markdown", action="store_true", help="print the claims as docs/papers.md has them"
    )


def run(args: argparse.Namespace) -> None:
    entries = papers.entries(args.names)
    if (args.again or args.timed) and not args.measure:
        raise ValueError(f"--{'again' if args.again else 'timed'} needs --measure.")
    store = papers.Store(args.store)
    if args.measure:
        from ..models.pair import load_pair

        with tqdm(unit=" measurements") as bar:
            for update in papers.measure(
                load_pair(), args.names, args.timed, args.again, store, args.texts
            ):
                bar.n, bar.total = update.done, update.total
                bar.set_description_str(update.stage[:80])
    decided = [
        (source, entry, papers.decide(claim, store))
        for source, entry in entries
        for claim in entry.claim
    ]
    if args.json:
        rows = [
            {
                "source": source,
                "entry": entry.name,
                **asdict(one),
                "claim": one.claim.model_dump(exclude={"broken"}),
            }
            for source, entry, one in decided
        ]
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    counts = Counter(one.verdict for *_, one in decided)
    count = ", ".join(f"{counts[verdict]} {verdict}" for verdict in papers.VERDICTS)
    if args.markdown:
        print(markdown(count, entries, store))
        return
    print(count)
    for source, entry in entries:
        print(f"{source}-{entry.name}: {entry.place}, {entry.title}")
        for row in papers.rows(entry, store):
            print(
                (
                    f"  {MARKS[row.verdict]} {row.claim}: {row.measured}, published "
                    f"{row.published}. {row.reason}"
                ).rstrip()
            )


def markdown(
    count: str, entries: Sequence[tuple[str, papers.Entry]], store: papers.Store | None = None
) -> str:
    """The claims as a page of the documentation, a table for each source.

    Args:
        count: how many there are of each verdict, in words.
        entries: source and entry, the entries of a source together.
        store: what was measured; None means what is shipped.
    """
    lines, shown = [PAGE.format(count=count)], ""
    for source, entry in entries:
        if source != shown:
            shown, about = source, papers.SOURCES[source]
            lines += ["", f"## {about.title}", "", f"[{about.cite}]({about.url})", ""]
            lines.append("| claim | where | published | measured here | verdict |")
            lines.append("| --- | --- | --- | --- | --- |")
        for row in papers.rows(entry, store):
            verdict = f"{row.verdict}. {row.reason}" if row.reason else row.verdict
            cells = (row.claim, row.place, row.published, row.measured, verdict)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


PAGE = """\
# The claims of the sources

What five sources published, what the embedded pair of models gives here, and the verdict: {count}.
Models of 28 and 2 million parameters are far from those of the sources, so what depends on them may
differ; what follows from the mathematics must not.

`specviz papers` prints the same, `specviz papers --measure` measures it again, and
`specviz papers --markdown` writes this page."""
