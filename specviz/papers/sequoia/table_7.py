"""Table 7: configurations of SpecInfer with offloading."""

from ..entry import Entry, Table, impossible, lab

ENTRY = Entry(
    "table-7",
    "Table 7",
    "SpecInfer's trees with offloading",
    "With Llama2-70B-chat offloaded on an L40, 16 x 48, 24 x 32 and 32 x 24 give 5.2, 5.3 and 5.5 times; Sequoia "
    "gives 8.4.",
    impossible(
        "The target of 70 B parameters and the L40 are not to be had here; the shapes themselves are in the Tree lab."
    ),
    quoted=Table(("Tree", "Speedup"), (("(16, 48)", 5.2), ("(24, 32)", 5.3), ("(32, 24)", 5.5))),
    opens=(lab("tree", preset="tables"),),
)
