"""The survey: its entries, in its order."""

from . import (
    acceptance_rules,
    batched_paths,
    blockwise,
    distribution,
    families,
    nine_passes,
    parallel_cost,
    speed_formula,
    termination,
)

SHORT = "Survey"
TITLE = "Exploring the Transformer Series (30): Decoding Speculation"
CITE = "A survey of methods in the order of their appearance; it reports hardly any measurements of its own."
URL = None
ABOUT = (
    "What to draft with, when to stop drafting, how to verify, and what to accept: a map of the families, and the "
    "claims of the survey that can be measured."
)
ENTRIES = (
    blockwise, families, termination, batched_paths, acceptance_rules, nine_passes, parallel_cost, speed_formula,
    distribution,
)  # fmt: skip
