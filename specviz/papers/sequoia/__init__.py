"""Sequoia: its entries, in the order of the paper."""

from . import (
    algorithm_1,
    algorithm_2,
    batch_size,
    figure_1,
    figure_2,
    figure_3,
    figure_4_left,
    figure_4_right,
    figure_7,
    figure_8,
    proposition_3_4,
    section_4_1,
    table_1,
    table_2,
    table_3,
    table_5,
    table_7,
    table_8,
    theorem_3_6,
    theorem_3_7,
)  # fmt: skip

SHORT = "Sequoia"
TITLE = "Sequoia: Scalable and Robust Speculative Decoding"
CITE = "Chen, May, Svirschevski, Huang, Ryabinin, Jia and Chen, 2024, arXiv 2402.12374v3."
URL = "https://arxiv.org/html/2402.12374"
ABOUT = (
    "A tree is planned before decoding by dynamic programming over an acceptance vector, children are drawn without "
    "replacement, and size and depth are chosen for the machine. The paper counts the root's level as depth 1; this "
    "project counts the levels below the root, so the paper's depth D is D - 1 here."
)
ENTRIES = (
    algorithm_1, proposition_3_4, theorem_3_6, figure_1, figure_2, algorithm_2, theorem_3_7, figure_3, section_4_1,
    table_1, table_2, figure_4_left, figure_4_right, table_3, table_5, table_7, table_8, figure_7, figure_8,
    batch_size,
)  # fmt: skip
