"""SVIP: its entries, in the order of the paper."""

from . import (
    algorithm_1,
    appendix_b,
    correct,
    equation_2,
    equation_5,
    figure_2,
    figure_3,
    figure_4,
    figure_5,
    figure_8,
    table_1,
    table_2,
    table_3,
    table_4,
    table_5,
    table_6,
    threshold,
)  # fmt: skip

SHORT = "SVIP"
TITLE = "Draft Model Knows When to Stop: A Self-Verification Length Policy for Speculative Decoding"
CITE = "Zhang, Xu, Liang, Chen, He, Wang and Tu, 2024, arXiv 2411.18462v1."
URL = "https://arxiv.org/abs/2411.18462v1"
ABOUT = (
    "A chain ends with the first token drawn from a row of high entropy. The printed threshold h multiplies no "
    "constant, so c is 1 here. Note that the paper prints the residual as max(q - p, 0), in section 2.1 and in its "
    "algorithm 4; that is a misprint for max(p - q, 0), as its code has it."
)
ENTRIES = (
    equation_2, equation_5, figure_2, figure_3, figure_4, algorithm_1, correct, threshold, table_1, figure_5, table_2,
    table_3, table_4, appendix_b, table_5, table_6, figure_8,
)  # fmt: skip
