"""Lesson 7: races with shared noise, where the seed alone determines the text."""

from __future__ import annotations

from specviz import BUILDERS, VERIFIERS, RunConfig

from .lesson import SHIP, Lesson, Look, Recording, count, most, quote, readable

TITLE = "Same seed, same text"
TOKENS = 32
TREE = RunConfig(SHIP, BUILDERS["sequoia"](size=16), VERIFIERS["race"](), temperature=0.8, max_new_tokens=TOKENS)
CHAIN = RunConfig(SHIP, BUILDERS["chain"](depth=3), VERIFIERS["race"](), temperature=0.8, max_new_tokens=TOKENS)
RECORDINGS = (
    Recording("tree", "A tree", TREE, steps=TOKENS),
    Recording("chain", "A chain", CHAIN, steps=TOKENS),
    Recording("plain", "No draft", TREE, steps=TOKENS, plain=True),
)


def write_lesson(tree, chain, plain):
    step = most(tree.steps, lambda step: len(step.path))
    if step is None or not tree.tokens == chain.tokens == plain.tokens:
        return None
    if not len(tree.steps) < len(chain.steps) < len(plain.steps):
        return None
    target, draft = (step.detail[0].race[racer] for racer in ("target", "draft"))
    if target.tokens[0] != draft.tokens[0] or not readable(*target.texts[:2]):
        return None
    return Lesson(
        opens=Look(step.index, step.path[0]),
        text=(
            "Drawing a token can be a **race**. Every token gets an arrival time: a random number divided by the "
            "token’s probability. The first token to arrive is written. With exponential random numbers, a token wins "
            "with exactly its probability.",
            "The random numbers depend only on the seed and the position in the text. The draft runs the same race "
            "with its own probabilities, so its winner is a good guess of the target’s. In step "
            f"{step.index + 1} {quote(target.texts[0])} won both: at {draft.rows['times'][0]:.2g} for the draft, "
            f"and at {target.rows['times'][0]:.2g} for the target, before {quote(target.texts[1])} at "
            f"{target.rows['times'][1]:.2g}.",
            "The target’s own winner is always written. So the seed alone determines the text: "
            f"{count(len(tree.steps), 'pass')} with a tree, {len(chain.steps)} with a chain, {len(plain.steps)} "
            f"without any draft, and the same {count(len(plain.tokens), 'token')} each time.",
        ),
        task="Switch between the three recordings above the picture. Compare the texts, and the number of steps.",
        shows=Look(0, None, 2),
        question="What happens to the text if the draft gets worse?",
        answer=(
            "Nothing. The draft only affects the number of passes, not the text. With a draft that is always wrong, "
            "each token takes one pass, as in plain decoding.",
            "The exception is rounding. If two tokens arrive at almost the same time, rounding may decide between "
            "them, and a pass over many tokens may round differently from a pass over one.",
        ),
    )
