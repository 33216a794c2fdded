"""`papers`: the claims of the sources with what was measured here; `--measure` measures and
stores it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from .. import papers
from .arguments import Arguments, Parser, option, within
from .display import until_stopped

EXAMPLE = "svip --json"
MARKS = dict(zip(papers.VERDICTS, "=∎?≠–", strict=True))


def add_arguments(parser: Parser) -> None:
    names = ", ".join(papers.SOURCES)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"sources ({names}) or entries such as svip-table-1",
    )
    option(
        parser,
        "--measure",
        "measure with the embedded pair and store the results; what was measured with these "
        "weights is skipped",
    )
    option(parser, "--timed", "with --measure: only what is timed, on an idle machine")
    option(parser, "--again", "with --measure: measure everything again")
    option(
        parser,
        "--texts N",
        f"texts of each of two kinds and each seed, from 1 to {papers.MAX_TEXTS}",
        within(int, 1, papers.MAX_TEXTS),
        papers.TEXTS,
    )
    option(
        parser,
        "--store DIR",
        "folder of the stored measurements, default the package's own",
        Path,
    )
    form = parser.add_mutually_exclusive_group()
    option(form, "--json", "print the claims as JSON")
    option(form, "--markdown", "print the claims as docs/papers.md has them")


def run(args: Arguments) -> None:
    # Names before models: a misspelt one costs no loading.
    entries = papers.entries(args.names)
    if (args.again or args.timed) and not args.measure:
        raise ValueError(f"--{'again' if args.again else 'timed'} needs --measure.")
    store = papers.Store(args.store)
    if args.measure:
        from ..models.pair import load_pair

        pair = load_pair()
        updates = papers.measure(pair, args.names, args.timed, args.again, store, args.texts)
        until_stopped(updates, "measurements")
    decided = []
    for source, entry in entries:
        for finding in papers.decide(entry, store):
            decided.append((source, finding))
    if args.json:
        rows = []
        for source, finding in decided:
            named = {"entry": finding.entry.name, "claim": finding.claim.model_dump()}
            rows.append({"source": source} | vars(finding) | named)
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    # How many claims hold comes before the claims themselves.
    counts = Counter(finding.verdict for _, finding in decided)
    count = ", ".join(f"{counts[verdict]} {verdict}" for verdict in papers.VERDICTS)
    if args.markdown:
        print(markdown(count, decided))
        return
    print(count)
    for (source, entry), findings in groupby(decided, lambda pair: (pair[0], pair[1].entry)):
        print(f"{source}-{entry.name}: {entry.place}, {entry.title}")
        for _, finding in findings:
            line = (
                f"  {MARKS[finding.verdict]} {finding.claim.text}: {finding.measured}, published "
                f"{finding.published}. {finding.reason}"
            )
            print(line.rstrip())


def markdown(count: str, decided: Sequence[tuple[str, papers.Finding]]) -> str:
    """The claims as a page of the documentation, a table for each source.

    Args:
        count: how many there are of each verdict, in words.
        decided: source and finding, those of a source together.
    """
    lines = [PAGE.format(count=count)]
    for source, findings in groupby(decided, lambda pair: pair[0]):
        about = papers.SOURCES[source]
        lines += ["", f"## {about.title}", "", f"[{about.cite}]({about.url})", ""]
        lines.append("| claim | where | published | measured here | verdict |")
        lines.append("| --- | --- | --- | --- | --- |")
        for _, row in findings:
            verdict = row.verdict
            if row.reason:
                verdict = f"{row.verdict}. {row.reason}"
            if row.check:
                verdict += f": `{row.check}`"
            cells = (row.claim.text, row.place, row.published, row.measured, verdict)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


PAGE = """\
# The claims of the sources

What the sources published, what the embedded pair of models gives here, and the verdict: {count}.
Models of 28 and 2 million parameters are far from those of the sources, so what depends on them may
differ; what follows from the mathematics must not.

`specviz papers` prints the same, `specviz papers --measure` measures it again, and
`specviz papers --markdown` writes this page."""
