"""Lesson 3: the coin that accepts a guess, and the residual that a refused one leaves."""

from __future__ import annotations

from specviz import BUILDERS, VERIFIERS, RunConfig

from .lesson import WOOD, Lesson, Look, Recording, most, percent, quote, readable, rejected

TITLE = "A coin, and what is left"
CONFIG = RunConfig(WOOD, BUILDERS["chain"](depth=4), VERIFIERS["speculative-sampling"](), temperature=0.8)
RECORDINGS = (Recording("chain", "A chain", CONFIG),)
P, Q = (0.7, 0.3), (0.5, 0.5)  # the answer's example: what would be written if refused guesses were redrawn from p


def write_lesson(trace):
    step = most(trace.steps, plainness)
    kept = [
        (step.index, node)
        for step in trace.steps
        for node in step.path
        if step.accept_prob[node] is not None and step.accept_prob[node] < 0.95
    ]
    if step is None or not kept:
        return None
    node = rejected(step)[0]
    token, q, p = quote(step.texts[node]), step.draft_prob[node], step.target_prob[node]
    prob, coin = step.accept_prob[node], step.coin[node]
    return Lesson(
        opens=Look(step.index, node),
        text=(
            "Draft and target both give every token a probability: q is the draft’s, p the target’s. A guess is drawn "
            "from q. The text should look as if it were drawn from p.",
            f"In step {step.index + 1} the draft guessed {token}, with q = {q:.4f}. The target gives it only "
            f"p = {p:.4f}. So it may be kept in p/q = {prob:.3f} of all cases (where p is at least q: always). A "
            f"random number between 0 and 1, the **coin**, decides: {coin:.3f} is not below {prob:.3f}, so the guess "
            "was refused.",
            "Now the target writes a token from what the draft offered too rarely, the **residual**: p − q for every "
            "token, 0 where that is negative, scaled so that all of it sums to 1. It drew "
            f"{quote(step.pieces[-1])}. Of {token} nothing is left there, since its p is below its q.",
        ),
        task="Select a green square. Its bar is the chance of being kept, the mark is the coin: it lies left of the "
        "bar’s end. At a cross it does not.",
        shows=Look(*kept[0]),
        question="Why not simply draw the new token from p?",
        answer=example(),
    )


def plainness(step):
    """How plainly the coin refused a guess that had a fair chance, 0 where there is no good example."""
    if not (step.corrected and step.bonus is not None and rejected(step)):
        return 0
    node = rejected(step)[0]
    if step.draft_prob[node] < 0.1 or not readable(step.texts[node], step.pieces[-1]):
        return 0
    prob = step.accept_prob[node]
    margin = step.coin[node] - prob
    return margin if 0.2 < prob < 0.8 and margin > 0.1 else 0


def example():
    """What goes wrong with p in place of the residual, worked out for two tokens."""
    kept = sum(min(p, q) for p, q in zip(P, Q, strict=True))
    first, refused = min(P[0], Q[0]), 1 - kept
    return (
        "Because what the draft likes would be written too often: it has had its share already, when guesses were "
        "kept.",
        f"Say there are two tokens, with p = {P[0]} and {P[1]}, and q = {Q[0]} and {Q[1]}. A guess is refused in "
        f"{percent(refused)} of all cases. Drawing from p then would write the first token in "
        f"{percent(first + refused * P[0])} of all cases, too few. The residual is all on the first token, and "
        f"{percent(first + refused)} come out: exactly p.",
    )
