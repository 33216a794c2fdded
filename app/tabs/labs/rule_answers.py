"""What the Verification lab says of a rule on a node. Every word says what was computed; what could
not be computed is called proven or only declared."""

from __future__ import annotations

from specviz.base.codec import JsonObject

UNCOMPUTED = "Not computed here: there are too many outcomes, or infinitely many, as in a race."


def sentences(row: JsonObject) -> dict[str, str]:
    """What is known as "verdict", what that rests on as "proof", and both in a cell as "word";
    `row` is one of `verification_lab.result`."""
    title, kind, declared = row["title"], row["kind"], row["declared"]
    verdict = word = row["reason"]  # it does not apply, or it failed
    proof = ""
    if kind in ("proven", "only declared"):
        verdict = f"That {title} is {'lossless' if declared else 'lossy'} is {kind}."
        proof = UNCOMPUTED
        word = f"{'=' if declared else '≠'} p, {'by proof' if kind == 'proven' else 'as declared'}"
    elif kind in ("equal", "differs"):
        runs = row["runs"]
        computed = "Nothing here is random" if runs == 1 else f"All {runs} outcomes computed"
        difference = f"{row['deviation']:.2g}".replace("-", "−")  # at which no line breaks
        if kind == "equal":
            only = "" if declared else " Only here: the rule is lossy in general."
            verdict = f"{title} writes exactly the target’s distribution p."
            equal = "equal"
            if row["deviation"]:
                equal = "equal but for rounding"
            proof = f"{computed}; {equal}.{only}"
            word = "= p" if declared else "= p here"
        else:
            refuted = " The rule is declared lossless; this node refutes it." if declared else ""
            verdict = f"{title} does not write the target’s distribution p."
            proof = f"{computed}; the largest difference from p is {difference}.{refuted}"
            word = f"≠ p, by {difference}"
    return {"verdict": verdict, "proof": proof, "word": word}


def caption(levels: int, bars: int, texts: int) -> str:
    """What a distribution over texts is of.

    Args:
        levels: drafted tokens one below the other.
        bars: how many texts have one.
        texts: how many there are.
    """
    written = f"the first {levels} tokens" if levels > 1 else "the first token"
    part = f", the {bars} most probable of {texts} texts" if texts > bars else ""
    return f"what is written over all outcomes: {written}{part}"
