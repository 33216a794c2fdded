"""Section 5: text has memory that a vector of order 0 has not; by level, and along texts."""

from ...acceptance.along_text import path_shares, tokens_on_texts
from ...acceptance.in_traces import depth_acceptance
from ...acceptance.vectors import expected_tokens
from ...builders import BUILDERS
from ...builders.filling import grow_shape
from ...verifiers import VERIFIERS
from ..entry import Entry, Lines, Series, Table, judge, tab

TEMPERATURE, LENGTHS = 1.0, (1, 2, 4, 8, 12, 16)


def measure(bench):
    vector = bench.vector(TEMPERATURE)
    texts = [text for text, _ in bench.texts(TEMPERATURE)]
    shares = tuple(path_shares(bench.pair, VERIFIERS["sequoia"](), texts, bench.config(TEMPERATURE), 8))
    traces = bench.runs(BUILDERS["chain"](depth=16), TEMPERATURE, VERIFIERS["speculative-sampling"](), bench.prompts)
    by_level = depth_acceptance(traces, levels=6, ranks=1)
    return {
        "flat": [[n, expected_tokens(grow_shape([1] * n), vector)] for n in LENGTHS],
        "along": [[n, tokens_on_texts(grow_shape([1] * n), shares)[0]] for n in LENGTHS],
        "levels": [
            [level + 1, rate[0], tried[0]]
            for level, (rate, tried) in enumerate(zip(by_level.rates, by_level.tried, strict=True))
            if rate[0] is not None
        ],
    }


def verdict(data):
    read = [n for n, value in data["along"] if value is not None]
    if not read:
        return judge(False, "No text is long enough for even the shortest chain, so nothing can be said.")
    length = read[-1]
    flat, along = dict(data["flat"])[length], dict(data["along"])[length]
    first, later = data["levels"][0][1], [rate for _, rate, tried in data["levels"][1:] if tried >= 20]
    rise = (sum(later) / len(later) if later else first) - first
    return judge(
        along > flat * 1.005,
        f"A chain of {length} drafts should bring {flat:.2f} tokens by a vector without memory and brings {along:.2f} "
        f"along texts: easy stretches come together. Once a draft was accepted the next one is accepted with "
        f"{rise:+.3f} to the first level's {first:.3f}.",
        f"Along texts a chain of {length} brings {along:.2f} tokens where a vector without memory says {flat:.2f}: "
        "steps begin where a draft was refused, and on these short texts that outweighs the easy stretches.",
    )


ENTRY = Entry(
    "memory",
    "Section 5, order 0",
    "Text has memory: more is accepted than order 0 predicts",
    "“The empirical performance plateaus at a higher level than predicted by the measured [acceptance], indicating "
    "higher-order Markov dependencies”: regions where target and draft agree.",
    verdict,
    measure=measure,
    opens=(tab("acceptance"),),
    shown=lambda data: [
        Lines(
            "drafts of a chain",
            "tokens a pass",
            [Series("order 0", data["flat"], "dashes"), Series("along the texts", data["along"])],
        ),
        Table(("Level", "Accepted once the level above was", "Tried"), data["levels"]),
    ],
)
