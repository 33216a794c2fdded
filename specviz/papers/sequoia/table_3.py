"""Tables 3 and 4: more models on an A100 and an L40."""

from ..entry import Entry, Table, impossible, tab

ENTRY = Entry(
    "table-3",
    "Tables 3 and 4",
    "Larger targets on two GPUs",
    "On an A100 Llama2-13B runs 3.73 times as fast and Vicuna-33B 2.27 times (C4, temperature 0); on an L40 "
    "Llama2-7B 3.95 times and Llama2-13B 3.15 times.",
    impossible(
        "These targets of 7 to 33 B parameters and these GPUs are not to be had here; table 1 asks the same question "
        "of the embedded pair."
    ),
    quoted=Table(
        ("Machine", "Target", "Tree (size, depth with root)", "Sequoia", "SpecInfer 5 x 8"),
        (
            ("A100", "Llama2-13B", "(64, 9)", "3.73 x (4.20)", "3.30 x (3.64)"),
            ("A100", "Vicuna-33B", "(64, 6)", "2.27 x (4.28)", "1.83 x (3.86)"),
            ("L40", "Llama2-7B", "(64, 10)", "3.95 x (4.68)", "3.50 x (3.98)"),
            ("L40", "Llama2-13B", "(64, 10)", "3.15 x (4.25)", "2.76 x (3.61)"),
        ),
    ),
    opens=(tab("speedup"),),
)
