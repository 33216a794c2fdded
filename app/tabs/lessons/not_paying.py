"""Lesson 8: the cost of a step, and when speculation is slower than plain decoding."""

from __future__ import annotations

from specviz import BUILDERS, VERIFIERS, RunConfig

from .lesson import TALE, Lesson, Look, Recording, most

TITLE = "When speculation is slower"
NODES, GUESSES = 160, 2
TREE = RunConfig(TALE, BUILDERS["sequoia"](size=NODES, depth=10), VERIFIERS["sequoia"](), temperature=1.3)
CHAIN = RunConfig(TALE, BUILDERS["chain"](depth=GUESSES), VERIFIERS["speculative-sampling"](), temperature=1.3)
RECORDINGS = (
    Recording("large", "A large tree", TREE, steps=10),
    Recording("small", "A short chain", CHAIN, steps=24),
    Recording("plain", "No draft", TREE, steps=24, plain=True),
)


def write_lesson(tree, chain, plain):
    if tree.counts.speedup(plain.counts) >= 0.95:
        return None
    middle = most(tree.steps[1:], lambda step: len(step.pieces))
    return Lesson(
        timed=True,
        opens=Look(middle.index),
        text=(
            "A guess costs time even if it is right: the draft must compute it, and the target must read it. "
            "Speculation is faster only if tokens per pass grow more than the time per pass.",
            f"Without a draft a token took {1000 * plain.counts.seconds_per_step:.1f} ms when this was recorded. "
            + account(tree, plain, f"With a tree of {NODES} nodes"),
            account(chain, plain, f"With a chain of {GUESSES} guesses")
            + " (The first step of each run also reads the prompt, so it is excluded. With it there are "
            f"{tree.tokens_per_pass:.2f} and {chain.tokens_per_pass:.2f} tokens per pass.)",
        ),
        task="Look at the coloured bar of the time per step: what takes longest? Then switch to the short chain and "
        "compare.",
        shows=Look(1, None, 1),
        question="When should you not use speculation?",
        answer=(
            "If the draft is often wrong, as with a text that is hard to predict or a high temperature. If the "
            "draft is slow compared with the target. If the tree is larger than the machine can verify in about the "
            "time of one token. And if the machine is fully used by many texts at once.",
            "So measure: tokens per pass, divided by how many times longer a step takes than a plain one. Above 1 it "
            "is faster, below 1 it is slower.",
        ),
    )


def account(trace, plain, head):
    """What a run gained and what it cost, in one sentence."""
    speedup = trace.counts.speedup(plain.counts)
    took = trace.counts.seconds_per_step / plain.counts.seconds_per_step
    gain = speedup * took  # tokens of a step, as a plain one writes one
    verdict = "slower than" if speedup < 0.95 else "faster than" if speedup > 1.05 else "about as fast as"
    return (
        f"{head} a step wrote {gain:.2f} tokens, but took {took:.2f} times as long as a plain one: "
        f"{gain:.2f} / {took:.2f} = {speedup:.1f}, so it was {verdict} plain decoding."
    )
