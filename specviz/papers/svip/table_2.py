"""Table 2: long texts, sampling, timed as far as the window goes."""

from ...builders import BUILDERS
from ...verifiers import VERIFIERS
from ..entry import Entry, compare, judge
from .long_form import measured, sentence, shown

TEMPERATURE = 1.0


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
    "table-2",
    "Table 2",
    "Long texts, sampling",
    "At temperature 1 SVIP speeds up Pythia 1.07 to 1.44 times and Qwen2.5 1.29 to 1.35 times from 128 to 8K tokens, "
    "where the others slow down or stay level, but for the heuristic on Pythia from 4K on (up to 1.25); LLaMA-3 1.69 "
    "to 2.02.",
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
