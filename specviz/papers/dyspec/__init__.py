"""DySpec: its entries, in the order of the paper."""

from . import (
    algorithm_1,
    algorithm_2,
    algorithm_3,
    appendix_d,
    attention_time,
    block_counts,
    figure_2,
    figure_4,
    figure_5,
    figure_9,
    section_4_3,
    table_1,
    table_3,
    table_4,
)  # fmt: skip

SHORT = "DySpec"
TITLE = "DySpec: Faster Speculative Decoding with Dynamic Token Tree Structure"
CITE = "Xiong, Zhang, Li, Wu and others, 2024, arXiv 2410.11744."
URL = "https://arxiv.org/abs/2410.11744"
ABOUT = (
    "The tree grows while the draft reads: always at the slot that the draft thinks likeliest to be reached, decided "
    "before its token is drawn; or level by level, wherever that chance exceeds a threshold."
)
ENTRIES = (
    figure_2, algorithm_1, algorithm_2, algorithm_3, appendix_d, section_4_3, figure_4, table_1, table_3, table_4,
    figure_5, block_counts, attention_time, figure_9,
)  # fmt: skip
