"""Table 5: the time of the attention kernels."""

from ..entry import Entry, Table, impossible, lab

ENTRY = Entry(
    "attention-time",
    "Table 5, times",
    "A kernel that skips empty blocks",
    "A Triton kernel for masks of any shape takes 1.026 instead of 2.271 at 2048 tokens once the nodes are "
    "reordered, 2.2 times less (2.1 by the text); end to end the gain is “not significant”, as attention is a small "
    "part and the prompt dilutes it.",
    impossible(
        "Kernels that skip blocks need a GPU, and the attention of these models is dense on a CPU; the counts that "
        "the times follow are reproduced above."
    ),
    quoted=Table(
        ("Nodes", "Reordered", "Custom kernel", "Manual attention", "xFormers"),
        (
            (256, "no", 0.07548, 0.14089, 0.17559),
            (256, "yes", 0.05406, 0.14124, 0.16721),
            (1024, "no", 0.63368, 2.08612, 0.49049),
            (1024, "yes", 0.31801, 2.08142, 0.48922),
            (2048, "no", 2.27148, 9.20739, 1.87807),
            (2048, "yes", 1.02645, 9.13469, 1.87753),
        ),
    ),
    opens=(lab("tree", preset="table-5"),),
)
