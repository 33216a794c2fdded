"""Section 5.3.2: what the speed depends on; Leviathan's formula beside runs."""

from ...builders import BUILDERS
from ...theory.bounds import chain_tokens
from ...verifiers import VERIFIERS
from ..bench import tokens_per_pass
from ..entry import Entry, Lines, Series, judge, live

TEMPERATURE, LENGTHS = 0.6, (1, 2, 4, 8)


def measure(bench):
    alpha = bench.vector(TEMPERATURE)[0]
    counted = [
        [n, tokens_per_pass(bench.runs(BUILDERS["chain"](depth=n), TEMPERATURE, VERIFIERS["speculative-sampling"]()))]
        for n in LENGTHS
    ]
    return {"alpha": alpha, "formula": [[n, chain_tokens(alpha, n)] for n in LENGTHS], "counted": counted}


def verdict(data):
    off = max(abs(c[1] / f[1] - 1) for c, f in zip(data["counted"], data["formula"], strict=True))
    return judge(
        off < 0.1,
        f"With an acceptance of {data['alpha']:.3f} the formula (1 - a^(n + 1)) / (1 - a) foretells chains of up to "
        f"{LENGTHS[-1]} drafts to within {100 * off:.0f} %.",
        f"With an acceptance of {data['alpha']:.3f} the formula misses chains of up to {LENGTHS[-1]} drafts by up to "
        f"{100 * off:.0f} %: it takes every token for equally hard, and texts are not.",
    )


ENTRY = Entry(
    "speed-formula",
    "Section 5.3.2",
    "What the speed depends on: length, cost and acceptance",
    "The speedup depends on the draft's size and length, its latency, and the acceptance rate; n drafts of cost D "
    "pay if n D is well below (m - 1) T for m accepted.",
    verdict,
    measure=measure,
    opens=(live(BUILDERS["chain"](depth=4), VERIFIERS["speculative-sampling"](), TEMPERATURE),),
    shown=lambda data: [
        Lines(
            "drafts",
            "tokens a pass",
            [Series("formula", data["formula"], "dashes"), Series("counted", data["counted"])],
        )
    ],
)
