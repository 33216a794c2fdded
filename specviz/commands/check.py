"""`check`: prove which builder and rule are lossless together, by enumeration of small trees."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from operator import methodcaller

from ..base.codec import JsonObject, json_data, pretty_json
from ..base.progress import Progress
from ..builders import BUILDERS
from ..config.plugins import load_known, sources
from ..config.run_config import RunConfig, compatible
from ..proof.best_possible import Gap, gaps
from ..proof.counterexample import Counterexample
from ..proof.cover import cover
from ..proof.lossless import Case, Row, cases, drafter_cases
from ..proof.search import SearchCase
from ..verifiers import VERIFIERS
from ..view.terminal import text_table
from .arguments import SEVERAL, Arguments, Parser, option, within
from .display import until_stopped, warn

EXAMPLE = "--builder sequoia --verifier specinfer --json"
# A chain, a static, a dynamic and a re-ranked tree.
WITH_OTHERS = ("chain", "sequoia", "dyspec", "eagle2")
Refuted = dict[str, Counterexample | None]  # the smallest counterexample by rule
MEANING = (
    "error: largest deviation of the exact output distribution over two steps from the "
    "target's; 0 is lossless"
)


def add_arguments(parser: Parser) -> None:
    menus = {"builder": BUILDERS, "verifier": VERIFIERS, "drafter": drafter_cases()}
    for kind, names in menus.items():
        listed = f"only this one{SEVERAL}: {', '.join(names)} (default: all)"
        option(parser, f"--{kind} NAME", listed, several=True)
    option(parser, "--jobs N", "number of processes, from 1", within(int, 1), 1)
    option(parser, "--json", "print the rows as JSON")
    only = parser.add_mutually_exclusive_group()
    option(only, "--quick", "prove a few that cover every builder, rule and drafter")
    option(
        only, "--bound", "print what each rule accepts at a node, beside the most that is possible"
    )
    option(only, "--table", "print what is declared as a Markdown table, without proof")


def run(args: Arguments) -> int:
    if args.table:
        print(text_table(declared(), markdown=True))
        return 0
    if args.bound:
        print(text_table(map(gap_row, gaps())))
        return 0
    # Ctrl-C keeps the rows that were proven so far; they are printed like whole results.
    (rows, refuted), stopped = until_stopped(prove(args), "rows")
    if args.json:
        print(pretty_json([record_of(row, refuted) for row in rows]))
    else:
        print(MEANING)
        print(text_table(map(table_row, rows)))
    for name, example in refuted.items():
        print(report(name, example, args.plugin), file=sys.stderr if args.json else sys.stdout)
    if refuted:
        return 1
    if stopped:
        return 130
    # A rule that is declared lossy must be shown to be, by one row of each group.
    group_by = ["verifier"]
    if not args.quick:
        group_by += ["scheme", "builder", "drafter"]
    has_proof: dict[str, bool] = {}
    for row in rows:
        if not row.lossless:
            group = ", ".join(getattr(row, name) for name in group_by)
            has_proof[group] = has_proof.get(group, False) or row.holds
    # A lossy rule need not show it on every tree, but somewhere it must, or the word is wrong.
    hidden = sorted(group for group in has_proof if not has_proof[group])
    for group in hidden:
        warn(f"declared lossy, but no proof shows it: {group}")
    if not (hidden or args.json):
        # As a check on the check: rounding alone may be in it.
        largest = max((row.error or 0.0 for row in rows if row.lossless), default=0.0)
        print(
            f"{len(rows)} rows, all as declared; the largest error of a lossless one is "
            f"{largest:.1e}"
        )
    return int(bool(hidden))


def record_of(row: Row, refuted: Refuted) -> JsonObject:
    """A row as plain data; a refuted one has the smallest counterexample of its rule."""
    record = json_data(replace(row, counterexample=None)) | {"holds": row.holds}
    del record["counterexample"]
    if row.refuted:
        example = refuted[row.verifier]
        record["counterexample"] = example and example.to_dict()
    return record


def prove(args: Arguments) -> Iterator[Progress[tuple[list[Row], Refuted]]]:
    """The rows of all cases, and the smallest counterexample of each rule that they refute.

    The search for a counterexample comes first; a rule that it refutes is not looked at again.
    """
    rules = [name for name, cls in VERIFIERS.items() if not cls.autoregressive]
    searches = []
    for name in dict.fromkeys(args.verifier or rules):
        for greedy in (False, True):
            searches.append(SearchCase(name, greedy))
    candidates = cases_of(args)
    done = 0
    total = len(searches) + len(candidates)
    rows = list[Row]()
    refuted = Refuted()
    yield Progress(done, total, result=(rows, refuted))
    for stage in (searches, candidates):
        # A rule that is refuted once is not proven further: one counterexample is enough.
        left = [case for case in stage if _rule(case) not in refuted]
        done += len(stage) - len(left)
        for row in _proven(left, args.jobs):
            done += 1
            if row.runs or stage is candidates:
                rows.append(row)
            if row.counterexample or (row.refuted and stage is candidates):
                refuted.setdefault(row.verifier, row.counterexample)
            yield Progress(done, total, result=(rows, refuted))


def _rule(case: Case | SearchCase) -> str:
    if isinstance(case, SearchCase):
        return case.verifier
    return case.config.verifier.name


def cases_of(args: Arguments) -> Sequence[Case]:
    """What is to be proven: every builder and rule with the draft model, with other drafters a few
    builders."""
    candidates = [*cases(args.builder, args.verifier, args.drafter or ["model"])]
    # All drafters with all builders would take hours and meet nothing new.
    some = [name for name in args.builder or BUILDERS if name in WITH_OTHERS]
    if some and not args.drafter:
        others = [name for name in drafter_cases() if name != "model"]
        candidates += cases(some, args.verifier, others)
    if args.quick:
        return cover(candidates)
    return candidates


def _proven(candidates: Sequence[Case | SearchCase], jobs: int) -> Iterator[Row]:
    """The rows of cases in their order, proven by so many processes."""
    prove_case = methodcaller("prove")
    if jobs == 1:
        yield from map(prove_case, candidates)
        return
    # New processes and no forks: a fork copies locks that threads of torch may hold.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _prepare_process, (sources(),))
    try:
        # In the order of the cases, however long each takes, so that two runs print the same.
        yield from pool.map(prove_case, candidates)
    finally:
        pool.shutdown(cancel_futures=True)


def _prepare_process(plugins: list[str]) -> None:
    # Ctrl-C is for the parent, which ends its children.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load_known(plugins)


def report(rule: str, example: Counterexample | None, plugins: Sequence[str]) -> str:
    """What is printed of a refuted rule, with a link to its counterexample on the page, unless its
    port is taken."""
    if example is None:
        return (
            f"\n{rule}: no small tree with small fractions shows it. The mistake needs "
            "several steps or several "
            "drafters (see SequentialProposal in docs/strategies.md), or is the builder's "
            "or the drafter's."
        )
    if not example.link:
        return f"\n{example}"
    # A plugin is unknown to the page unless it is started with it.
    options = "".join(f" --plugin {name}" for name in plugins)
    return (
        f"\n{example}\nTo see it, run `python -m specviz demo{options}` and open\n  "
        f"http://127.0.0.1:7860{example.link}"
    )


def table_row(row: Row) -> dict[str, str]:
    """A row as it is printed."""
    error = row.difference or "equal texts"
    if row.error is not None:
        error = f"{row.error:8.1e}   {row.proof}"
    if row.refuted:
        error += "   DECLARED WRONGLY"
    elif not row.holds:
        error += ", no deviation here"
    values = {"T": None if row.temperature else 0.0}
    values |= {"T draft": row.draft_temperature, "top-k": row.top_k, "top-p": row.top_p % 1 or None}
    return {
        "drafter": row.drafter,
        "builder": row.builder,
        "rule": row.verifier,
        "children": row.scheme,
        "sampling": ", ".join(
            f"{name} {value:g}" for name, value in values.items() if value is not None
        ),
        "declared": "lossless" if row.lossless else "lossy",
        "error": error,
    }


def gap_row(gap: Gap) -> dict[str, str]:
    """A rule at one node as it is printed."""
    return {
        "rule": gap.rule,
        "children": f"{gap.children} {gap.scheme}",
        "accepted": f"{gap.acceptance:.4f}",
        "best possible": f"{gap.best:.4f}",
        "share": f"{gap.acceptance / gap.best:.1%}",
    }


def declared() -> Iterator[JsonObject]:
    """What `compatible` declares of each builder and rule above temperature 0, a row a builder."""
    # (possible, lossless) -> its word; what is impossible is never lossless.
    marks = {(True, True): "lossless", (True, False): "lossy", (False, False): "–"}
    for name, builder in BUILDERS.items():
        if builder.autoregressive:
            continue
        # The rule plain goes with no tree, and the builder plain with no other rule.
        row = {"builder": f"**{name}**"}
        for rule, cls in VERIFIERS.items():
            if not cls.autoregressive:
                match = compatible(RunConfig(builder=name, verifier=rule, temperature=1.0))
                row[rule] = marks[match.possible, match.lossless]
        yield row
