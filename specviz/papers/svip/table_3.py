"""Table 3: on GliDe and CaPE."""

from ..entry import Entry, Table, impossible

ENTRY = Entry(
    "table-3",
    "Table 3",
    "On top of GliDe and CaPE",
    "With h = 0.5 SVIP adds about 5 % for Vicuna 7B and 33B with GliDe.",
    impossible("GliDe's draft, which attends to the target's states, and the Vicuna models are not to be had here."),
    quoted=Table(
        ("Vicuna", "GliDe", "+ SVIP", "GliDe + CaPE", "+ SVIP"),
        (("7B", 1.95, 2.02, 2.40, 2.52), ("13B", 2.24, 2.28, 2.73, 2.76), ("33B", 2.18, 2.30, 2.03, 2.08)),
    ),
)
