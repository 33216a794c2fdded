"""Appendix B: with many texts at once trees shrink; batch size as an axis of the optimiser, from timed batches."""

import itertools
from dataclasses import replace

from ...benchmarks.batches import random_pass, seconds_in_turns
from ...builders import BUILDERS
from ...planning.forecast import forecast
from ...randomness import Seeded
from ..entry import Entry, Lines, Series, Table, judge, tab

TEMPERATURE, BATCHES, SIZES, WIDTHS, PREFIX = 0.8, (1, 2, 4, 8, 16), (1, 4, 16, 48), (1, 4, 16), 64


def measure(bench):
    vector, cost = bench.vector(TEMPERATURE), bench.cost()
    took = timed(bench, vector)
    rows = []
    for texts in BATCHES:
        best = forecast(vector, many(cost, took, texts)).best
        rows.append([texts, best.size, best.depth, best.speedup])
    passes = [[texts, *(took["target", texts, n] for n in SIZES)] for texts in BATCHES]
    return {"rows": rows, "passes": passes, "sizes": SIZES, "prefix": PREFIX}


def timed(bench, vector):
    """Seconds of batched passes over random rows: the target's over trees, the draft's over as many tokens."""
    pair, rng, passes = bench.pair, Seeded(7), {}
    for texts in BATCHES:
        bench.report(f"Reading {texts} texts at once.")
        for n in SIZES:
            shape = BUILDERS["sequoia"](size=n, depth=10, acceptance=vector).shape if n > 1 else 1
            passes["target", texts, n] = random_pass(pair.target, rng, pair.vocab_size, texts, PREFIX, shape)
        for w in WIDTHS:
            passes["draft", texts, w] = random_pass(pair.draft, rng, pair.vocab_size, texts, PREFIX, w)
    for news in seconds_in_turns(passes):
        bench.report(f"Timing batched passes: {news.done} of {news.of} rounds.")
    return news.known


def many(cost, took, texts):
    """The costs of a step for several texts at once: batched passes, and all the rest for each text by itself."""
    return replace(
        cost,
        plain_s=took["target", texts, 1] + texts * cost.overhead_s[0],
        sizes=SIZES,
        target_s=tuple(took["target", texts, n] for n in SIZES),
        overhead_s=tuple(texts * cost.overhead(n) for n in SIZES),
        row_s=texts * cost.row_s,
        widths=WIDTHS,
        draft_s=tuple(took["draft", texts, w] for w in WIDTHS),
    )


def verdict(data):
    sizes = [row[1] for row in data["rows"]]
    last, one, many = data["rows"][-1], data["passes"][0], data["passes"][-1]
    wide = data["sizes"][-1]
    times = (
        f"Passes timed over random rows, each behind {data['prefix']} tokens of its own: {wide} nodes take "
        f"{one[-1] / one[1]:.1f} times as long as one for a single text, and {many[-1] / many[1]:.1f} times for "
        f"{last[0]} texts at once."
    )
    return judge(
        all(b <= a for a, b in itertools.pairwise(sizes)) and sizes[-1] < sizes[0],
        f"{times} With these t(b n) the best tree shrinks from {sizes[0]} nodes for one text to {sizes[-1]} for "
        f"{last[0]}, and its foretold speedup from {data['rows'][0][3]:.2f} to {last[3]:.2f}. Only the passes are "
        "batched; what the rules take is counted once a text.",
        f"{times} The best sizes for {', '.join(str(row[0]) for row in data['rows'])} texts are "
        f"{', '.join(map(str, sizes))}: passes grow with every node on this machine, so even one text's best tree is "
        "small and there is little left to shrink.",
    )


ENTRY = Entry(
    "batch-size",
    "Appendix B",
    "When many users arrive, trees shrink",
    "“The optimal tree also depends on the batch size, which can be considered by the hardware-aware optimizer”; "
    "for b texts at once the speedup of section 4.1 is then G(n, d) t(b) / (t(b n) + d c(b)), which the paper leaves "
    "to the reader.",
    verdict,
    measure=measure,
    how="timed",
    opens=(tab("speedup"),),
    shown=lambda data: [
        Lines(
            "texts at once",
            "nodes of the best tree",
            [Series("foretold from timed batches of random rows", [row[:2] for row in data["rows"]])],
            log_x=True,
        ),
        Table(("Texts at once", "Nodes", "Levels", "Foretold speedup"), data["rows"]),
        Table(
            ("Texts at once, random rows", *(f"{n} node{'s' if n > 1 else ''} each, ms" for n in data["sizes"])),
            [[row[0], *(1000 * s for s in row[1:])] for row in data["passes"]],
        ),
    ],
)
