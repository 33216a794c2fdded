"""Table 6: long texts, greedy decoding, timed as far as the window goes."""

from ...builders import BUILDERS
from ...verifiers import VERIFIERS
from ..entry import Entry, compare, judge
from .long_form import measured, sentence, shown

TEMPERATURE = 0.0


def verdict(data):
    words, best = sentence(data)
    reach = next(iter(data["points"].values()))[-1][0]
    return judge(
        best == "SVIP",
        f"Over {reach} tokens, of a window of {data['window']} positions: {words} times plain decoding; SVIP is "
        "first, as in the paper. Its lengths from 1K to 8K do not fit into this pair's window.",
        f"Over {reach} tokens, of a window of {data['window']} positions: {words} times plain decoding; {best} is "
        "first here. The paper's lengths from 1K to 8K, where its gains are largest, do not fit into this pair's "
        "window.",
    )


ENTRY = Entry(
    "table-6",
    "Table 6",
    "Long texts, greedy decoding",
    "Greedy texts repeat themselves, so speedups are higher than in table 2 (appendix D): LLaMA-3 2.31 at 128 to 4.33 "
    "at 8K tokens with SVIP.",
    verdict,
    measure=lambda bench: measured(bench, TEMPERATURE),
    how="timed",
    shown=shown,
    opens=(
        compare(
            (BUILDERS["svip"](), VERIFIERS["block"]()),
            (BUILDERS["chain"](depth=5), VERIFIERS["block"]()),
            temperature=TEMPERATURE,
            max_new_tokens=256,
        ),
    ),
)
