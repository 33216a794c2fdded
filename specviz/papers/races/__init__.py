"""Exponential races: its entries, in the order of the paper."""

from . import (
    algorithm_1,
    algorithm_2,
    algorithm_3,
    algorithm_5,
    appendix_c,
    equation_6,
    equation_7,
    equation_8,
    figure_3,
    figure_4,
    lemma_3_1,
    lemma_4_2,
    memory,
    section_5,
    theorem_4_1,
)  # fmt: skip

SHORT = "Exponential races"
TITLE = "Speculative Decoding via Exponential Races"
CITE = "Kobus and Gündüz, 2025, arXiv 2504.15475."
URL = "https://arxiv.org/abs/2504.15475"
ABOUT = (
    "Draft and target run the same race with their own rows; what arrives first under the target is written. "
    "Rejection sampling (GSD) and races (ERSD) are seen as channel simulation: the entropy of which draft is "
    "accepted bounds what any tree can bring."
)
ENTRIES = (
    algorithm_1, algorithm_2, lemma_3_1, algorithm_5, algorithm_3, theorem_4_1, equation_6, equation_7, equation_8,
    lemma_4_2, figure_3, figure_4, section_5, memory, appendix_c,
)  # fmt: skip
