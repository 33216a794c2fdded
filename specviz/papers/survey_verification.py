"""The survey: how drafts are verified, and what is accepted."""

from __future__ import annotations

from .claim import claim, proof
from .entry import Entry, Table, compare, figure, lab, lesson, live
from .in_runs import counted, drafted_blocks, merged, speeds
from .numbers import faster, less, per_pass, share
from .proofs import lossless, same_text
from .svip import SVIP

LENGTHS = (1, 2, 4, 8, 16)
FIXED = tuple(f"chain:depth={n}" for n in LENGTHS)
STOPS = speeds(ways=(*FIXED, "heuristic", SVIP), temperature=0.6)
MERGED, TRIE = drafted_blocks(temperature=0.6, size=256), merged(width=8, depth=4, temperature=0.6)
NAMES = {
    "target-match": "Exact match with the target's draw",
    "speculative-sampling": "Rejection sampling",
    "typical": "Typical acceptance",
}


RULES = (
    Entry(
        "processor", "Sections 4.1.2 and 4.3", "Speculative execution, as in a processor",
        "A processor that meets a branch executes what it predicts; if the prediction was wrong it rolls back. The "
        "draft is the prediction, the target's pass the check, and the first rejected token is where it rolls back.",
        (
            proof("Rolled back, nothing is left of a rejected draft: 24 toy runs with one seed write plain decoding's "
                "text", same_text(builder="chain"), {"rule": "sequoia"}),
            claim("Executing in advance “increases concurrency and performance”: chains of 4 over plain decoding, "
                "speed", STOPS, faster("chain:depth=4"), ">", 1),
        ),
        opens=(lesson(0), live("chain:depth=4", "speculative-sampling", 0.6)),
    ),
    Entry(
        "batched-paths", "Sections 4.4.2 and 7.1.2", "A batch of paths reads shared tokens again and again",
        "Verifying sequences one by one results in “redundant computation”, and in a batch what they share “cannot be "
        "reused”; merged into a prefix tree with a tree mask they are verified in a single pass, and "
        "its less frequent nodes are pruned.",
        (
            claim("The paths of a tree of 256 nodes that DySpec drafted hold more tokens than the tree: ratio",
                MERGED, share("as paths", "nodes"), ">", 1),
            claim("Eight sequences of four tokens merged into a trie have fewer nodes: ratio", TRIE,
                share("merged", "drafted"), "<", 1, "Section 4.4.2"),
            claim("Pruned of what only one sequence has, it keeps a larger share of the accepted tokens than of its "
                "nodes", TRIE, lambda s: share("accepted kept", "accepted")(s) - share("kept", "merged")(s), ">", 0,
                    "Section 4.4.2"),
        ),
        (figure(lambda s: Table(("Eight sequences of four tokens", "Nodes", "Accepted tokens"), [
            ["as drawn", s["drafted"], s["accepted"]], ["merged", s["merged"], s["accepted"]],
            ["pruned", s["kept"], s["accepted kept"]]]), TRIE),),
        (lab("tree", preset="builders"),),
    ),
    Entry(
        "acceptance-rules", "Section 4.4.2, acceptance", "Exact match, rejection sampling, typical acceptance",
        "Exact matching may struggle when the target samples; a criterion modified from rejection sampling keeps the "
        "distribution; typical acceptance relaxes it for more speed; "
        "“the threshold can be dynamically adjusted via top-k constraints”.",
        (
            claim("Rejection sampling brings more tokens per pass than exact match",
                (counted("chain | speculative-sampling", 1.0), counted("chain | target-match", 1.0)), less(per_pass()),
                    ">", 0),
            claim("Typical acceptance brings more tokens per pass than rejection sampling",
                (counted("chain | typical", 1.0), counted("chain | speculative-sampling", 1.0)), less(per_pass()), ">",
                    0),
            claim("A top-k constraint (k = 3) makes it stricter: tokens per pass less those without",
                (counted("chain | typical:top_k=3", 1.0), counted("chain | typical", 1.0)), less(per_pass()), "<", 0),
            claim("With it typical acceptance still brings more tokens per pass than rejection sampling",
                (counted("chain | typical:top_k=3", 1.0), counted("chain | speculative-sampling", 1.0)),
                    less(per_pass()), ">", 0),
            *(proof(f"{NAMES[rule]} keeps the target's exact distribution", lossless(builder="chain", rule=rule),
                {"rule": "typical"}) for rule in ("target-match", "speculative-sampling")),
            proof("Typical acceptance does not: its error on a toy pair",
                lossless(builder="chain", rule="typical", scheme="distinct"), {"rule": "speculative-sampling"}, ">",
                    1e-3),
        ),
        (figure(lambda *all_: Table(("Rule on a chain", "Tokens per pass"),
            [[name, per_pass()(s)] for name, s in zip(NAMES.values(), all_, strict=True)]),
                *(counted(f"chain | {rule}", 1.0) for rule in NAMES)),),
        (compare(("chain", "speculative-sampling"), ("chain", "typical"), temperature=1.0),),
    ),
)  # fmt: skip
