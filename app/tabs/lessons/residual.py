"""Lesson 3: the draw that accepts a guess, and the residual after a rejection."""

from __future__ import annotations

from specviz import BUILDERS, VERIFIERS, RunConfig

from .lesson import WOOD, Lesson, Look, Recording, most, percent, quote, readable, rejected

TITLE = "Acceptance and the residual"
CONFIG = RunConfig(WOOD, BUILDERS["chain"](depth=4), VERIFIERS["speculative-sampling"](), temperature=0.8)
RECORDINGS = (Recording("chain", "A chain", CONFIG),)
P, Q = (0.7, 0.3), (0.5, 0.5)  # the answer's example: what would be written if rejected guesses were redrawn from p


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
    shown = next((place for place in kept if place[0] == step.index), kept[0])
    where = "in this step" if shown[0] == step.index else f"in step {shown[0] + 1}"
    token, q, p = quote(step.texts[node]), step.draft_prob[node], step.target_prob[node]
    prob, coin = step.accept_prob[node], step.coin[node]
    return Lesson(
        opens=Look(step.index, node),
        text=(
            "Draft and target both give every token a probability: q is the draft’s, p the target’s. A guess is drawn "
            "from q. The text should be distributed as if it were drawn from p.",
            f"In step {step.index + 1} the draft guessed {token}, with q = {q:.4f}. The target gives it only "
            f"p = {p:.4f}. So it is accepted with probability p/q = {prob:.3f} (if p is at least q: always). A "
            f"uniform random number between 0 and 1, the **draw u**, decides: {coin:.3f} is not below {prob:.3f}, so "
            "the guess was rejected.",
            "Now the target writes a token from the **residual**: p − q for every token, 0 if that is negative, "
            f"normalised to sum 1. It drew {quote(step.pieces[-1])}. The residual of {token} is 0, because its "
            "p is below its q.",
        ),
        task=f"Select a green square {where}. Its bar is the acceptance probability, the mark is the uniform draw u: "
        "it is left of the bar’s end. At a cross it is not.",
        shows=Look(*shown),
        question="Why not simply draw the new token from p?",
        answer=example(),
    )


def plainness(step):
    """How clear an example of a rejection the step is, 0 if it is none."""
    if not (step.corrected and step.bonus is not None and rejected(step)):
        return 0
    node = rejected(step)[0]
    if step.draft_prob[node] < 0.1 or not readable(step.texts[node], step.pieces[-1]):
        return 0
    prob = step.accept_prob[node]
    margin = step.coin[node] - prob
    return margin if 0.2 < prob < 0.8 and margin > 0.1 else 0


def example():
    """An example with two tokens of what goes wrong with p in place of the residual."""
    kept = sum(min(p, q) for p, q in zip(P, Q, strict=True))
    first, rejected = min(P[0], Q[0]), 1 - kept
    return (
        "Because tokens that the draft prefers would be written too often: they already had their share when guesses "
        "were accepted.",
        f"Say there are two tokens, with p = {P[0]} and {P[1]}, and q = {Q[0]} and {Q[1]}. A guess is rejected "
        f"with probability {percent(rejected)}. Drawing from p then would write the first token with "
        f"probability {percent(first + rejected * P[0])}, which is too low. The residual is entirely on the first "
        f"token, which gives {percent(first + rejected)}: exactly p.",
    )
