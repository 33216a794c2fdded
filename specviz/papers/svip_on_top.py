"""SVIP: what it adds to other methods, and other stops of a draft."""

from __future__ import annotations

from .claim import claim, missing, proof
from .entry import Entry, Table, compare, figure
from .in_runs import counted, speeds
from .numbers import faster, less, per_pass, share, times
from .proofs import lossless

EAGLE = ("eagle2:depth=6 | target-match | eagle", "eagle2:depth=6,h=0.5 | target-match | eagle")
DEPTHS = (EAGLE[0], "ddd:depth=6 | target-match | eagle")
CHAIN, STOP, CAPE = (f"{way} | exact-match | eagle" for way in ("chain:depth=5", "svip:h=0.5", "cape:depth=5"))
LAYER = speeds(ways=(CHAIN, STOP, CAPE), temperature=0.0)


ON_TOP = (
    Entry(
        "table-3", "Table 3", "On top of GliDe and CaPE",
        "CaPE adds candidates at positions of low top-1 confidence (section 5). With h = 0.5 SVIP adds "
        "about 5 % for Vicuna 7B and 33B with GliDe.",
        (
            missing("GliDe with SVIP over GliDe alone, Vicuna 7B", ">", 1,
                "GliDe's draft, which attends to the target's states, and the Vicuna models are not available here."),
            claim("EAGLE's layer in place of GliDe: SVIP over a constant length of 5, speed", LAYER,
                faster(STOP, CHAIN), ">", 1),
            claim("EAGLE's layer in place of GliDe: a larger share of SVIP's drafts is accepted",
                (counted(STOP, 0.0), counted(CHAIN, 0.0)), less(share("accepted", "nodes")), ">", 0),
            claim("EAGLE's layer with CaPE over EAGLE's layer alone, tokens per pass",
                (counted(CAPE, 0.0), counted(CHAIN, 0.0)), times(per_pass()), ">", 1),
            claim("EAGLE's layer with CaPE over EAGLE's layer alone, speed", LAYER, faster(CAPE, CHAIN), ">", 1),
            proof("CaPE's tree writes the target's exact distribution under Sequoia's rule",
                lossless(builder="cape", rule="sequoia"), {"rule": "typical"}),
        ),
        (figure(lambda *all_: Table(("Way, drafts of EAGLE's layer", "Nodes a step", "Accepted of them",
            "Tokens per pass"), [[way, s["nodes"] / s["passes"], s["accepted"] / s["nodes"], per_pass()(s)]
                for way, s in zip(("chain of 5", "SVIP", "CaPE"), all_, strict=True)]),
            counted(CHAIN, 0.0), counted(STOP, 0.0), counted(CAPE, 0.0)),),
        (compare(("chain:depth=5", "exact-match", "eagle"), ("cape", "exact-match", "eagle"), temperature=0.0),),
        quoted=Table(("Vicuna", "GliDe", "+ SVIP", "GliDe + CaPE", "+ SVIP"),
            (("7B", 1.95, 2.02, 2.40, 2.52), ("13B", 2.24, 2.28, 2.73, 2.76), ("33B", 2.18, 2.30, 2.03, 2.08))),
    ),
    Entry(
        "table-4", "Table 4", "On top of EAGLE-2",
        "SVIP adds about 5 % for Vicuna 7B and 13B and 2 % for LLaMA-2 with EAGLE-2 at temperature 1, testing the "
        "entropy after every two draft tokens instead of after each. Here the layer that was trained for this target "
        "drafts, with h = 0.5.",
        (
            claim("EAGLE-2 with SVIP over EAGLE-2 alone, speed", speeds(ways=EAGLE, temperature=1.0),
                faster(EAGLE[1], EAGLE[0]), ">", 1),
            claim("The stop saves passes of the layer: a step with it over one without",
                  tuple(counted(way, 1.0) for way in reversed(EAGLE)),
                  times(share("draft passes", "passes")), "<", 1),
        ),
        opens=(compare(("eagle2:depth=6", "target-match", "eagle"), ("eagle2:depth=6,h=1", "target-match", "eagle"),
            temperature=1.0),),
        quoted=Table(("Target", "EAGLE-2", "+ SVIP"), (("LLaMA-2 7B", 3.10, 3.16), ("LLaMA-2 13B", 3.41, 3.46),
            ("Vicuna 7B", 2.58, 2.73), ("Vicuna 13B", 2.83, 2.98))),
    ),
    Entry(
        "section-5", "Section 5, draft length", "Dynamic depth: stop where a level is unlikely",
        "Dynamic depth decoding, on top of EAGLE-2, “uses the sum of all tokens' confidences in one level of its draft "
        "tree as an indicator to predict whether or not to continue draft generation”; SpecDec++ trains a head for it.",
        (
            proof("Its tree writes the target's exact distribution under matching with the target's draw",
                lossless(builder="ddd", rule="target-match"), {"rule": "typical"}),
            claim("It saves passes of EAGLE's layer: those of a step over EAGLE-2's",
                tuple(counted(way, 1.0) for way in reversed(DEPTHS)), times(share("draft passes", "passes")), "<", 1),
            claim("It keeps the tokens per pass: over EAGLE-2's, counted from 0.95",
                tuple(counted(way, 1.0) for way in reversed(DEPTHS)), times(per_pass()), ">", 0.95),
            claim("Dynamic depth over EAGLE-2, speed", speeds(ways=DEPTHS, temperature=1.0),
                faster(DEPTHS[1], DEPTHS[0]), ">", 1),
            missing("SpecDec++ over a constant length, speed", ">", 1,
                "SpecDec++'s head, which predicts acceptance, was not trained for this pair."),
        ),
        (), (compare(("eagle2:depth=6", "target-match", "eagle"), ("ddd:depth=6", "target-match", "eagle"),
            temperature=1.0),),
    ),
)  # fmt: skip
