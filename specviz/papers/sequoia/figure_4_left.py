"""Figure 4, left: Sequoia's trees against k sequences, one rule for both."""

from ...acceptance.along_text import path_shares, tokens_on_texts
from ...acceptance.vectors import expected_tokens
from ...builders import BUILDERS
from ...builders.filling import grow_shape
from ...builders.sequoia import best_tree
from ...verifiers import VERIFIERS
from ..entry import Entry, Lines, Series, compare, judge

SIZES, TEMPERATURE, DEPTH = (4, 8, 16, 32, 64, 128, 256, 512), 0.6, 16


def measure(bench):
    vector = bench.vector(TEMPERATURE)
    texts = [text for text, _ in bench.texts(TEMPERATURE)]
    shares = tuple(path_shares(bench.pair, VERIFIERS["sequoia"](), texts, bench.config(TEMPERATURE), 32))
    ours, others = [], []
    for size in SIZES:
        bench.report(f"Trees of {size} nodes along the texts.")
        ours.append([size, tokens_on_texts(best_tree(vector, size, DEPTH, 32)[0], shares)[0]])
        shapes = [
            grow_shape([k] + [1] * ((size - 1) // k - 1)) for k in (1, 2, 4, 8, 16) if 1 <= (size - 1) // k <= DEPTH
        ]
        best = max(shapes, key=lambda shape: expected_tokens(shape, vector), default=None)
        if best is not None:
            others.append([size, tokens_on_texts(best, shares)[0]])
    return {"sequoia": ours, "sequences": others}


def verdict(data):
    known = {n: value for n, value in data["sequences"] if value}
    gains = {n: value / known[n] - 1 for n, value in data["sequoia"] if n in known and value}
    largest = max(gains, key=gains.get)
    return judge(
        max(gains.values()) > 0 and gains[max(gains)] > 0,
        f"Along texts of the target Sequoia's tree brings up to {100 * gains[largest]:.0f} % more tokens than the "
        f"best number of sequences of equal size (at {largest} nodes; the paper has up to 33 % with its pair, up to "
        "512 nodes).",
        f"Sequoia's tree brings at most {100 * gains[largest]:.0f} % more than sequences: the texts are short against "
        "its depth.",
    )


ENTRY = Entry(
    "figure-4-left",
    "Figure 4, left",
    "The tree brings more than sequences of the same size",
    "Sequoia's trees bring up to 33 % more tokens a pass than k independent sequences (size up to 512), with "
    "Sequoia's rule for both; Llama2-13B, 68 M draft, temperature 0.6, CNN.",
    verdict,
    measure=measure,
    opens=(
        compare(
            (BUILDERS["sequoia"](size=33, depth=8), VERIFIERS["sequoia"]()),
            (BUILDERS["k-sequences"](width=4, depth=8), VERIFIERS["sequoia"]()),
            temperature=0.6,
        ),
    ),
    shown=lambda data: [
        Lines(
            "nodes",
            "tokens a pass",
            [
                Series("Sequoia", data["sequoia"]),
                Series("best k sequences", data["sequences"]),
            ],
            log_x=True,
        )
    ],
)
