"""Table 2: offloading."""

from ..entry import Entry, Table, impossible, tab

ENTRY = Entry(
    "table-2",
    "Table 2",
    "Weights in main memory: 768 nodes pay",
    "With 70 B targets offloaded on an L40, where plain decoding takes 5.7 s a token, trees of 768 nodes are chosen, "
    "18 levels deep with the root.",
    impossible(
        "The models of 70 B parameters and the L40 are not to be had here. The Speedup tab projects this machine "
        "from the table's own times, and marks it as a projection; the tree itself is in the Tree lab."
    ),
    quoted=Table(
        ("Target", "T", "Tree (size, depth with root)", "Sequoia", "s a token", "SpecInfer 16 x 48"),
        (
            ("Llama2-70B-chat", 0, "(768, 18)", "8.6 x (10.30)", 0.66, "5.7 x (7.63)"),
            ("Llama2-70B-chat", 0.6, "(768, 18)", "8.4 x (9.91)", 0.68, "5.2 x (7.03)"),
            ("Llama3-70B-Instruct", 0, "(768, 18)", "9.5 x (11.68)", 0.60, "7.0 x (9.07)"),
            ("Llama3-70B-Instruct", 0.6, "(768, 18)", "9.3 x (11.37)", 0.61, "6.1 x (8.29)"),
        ),
    ),
    opens=(tab("speedup"),),
)
