"""Lesson 6: builders that look at the draft's probabilities before a token is drawn."""

from __future__ import annotations

from specviz import BUILDERS, VERIFIERS, RunConfig

from .lesson import TALE, Lesson, Look, Recording, children, count, levels

TITLE = "Looking before drawing"
DYSPEC = RunConfig(TALE, BUILDERS["dyspec"](size=24), VERIFIERS["dyspec"](), temperature=0.6)
SVIP = RunConfig(TALE, BUILDERS["svip"](h=0.6, c=0.15, depth=10), VERIFIERS["speculative-sampling"](), temperature=0.6)
RECORDINGS = (Recording("dyspec", "DySpec’s tree", DYSPEC), Recording("svip", "SVIP’s chain", SVIP))


def write_lesson(dyspec, svip):
    deep = max(dyspec.steps, key=lambda step: levels(step) + len(step.path))  # what is accepted is drawn unfolded
    wide = max(dyspec.steps, key=lambda step: len(children(step)))
    short, long = (choose(svip.steps, key=levels) for choose in (min, max))
    if len(deep.parents) != len(wide.parents) or levels(deep) <= levels(wide) or levels(long) < levels(short) + 3:
        return None
    return Lesson(
        opens=Look(deep.index),
        text=(
            "A draft can be sure of itself or not. When it is sure, nearly all its probability lies on one token. When "
            "it is unsure, it is spread over many; the measure of that is called **entropy**.",
            "**DySpec** looks at these probabilities while the tree grows, and always grows where the draft thinks the "
            f"text is likeliest to get to. In step {deep.index + 1} it went {count(levels(deep), 'level')} deep, with "
            f"{count(len(children(deep)), 'guess')} at the root. In step {wide.index + 1} it went "
            f"{count(levels(wide), 'level')} deep and put {len(children(wide))} at the root. Both have the same "
            "number of nodes.",
            f"**SVIP** does this for a chain of at most {SVIP.builder.depth} tokens: the first token drawn from "
            "widely spread probabilities is the last. Its "
            f"chains here are {levels(short)} to {count(levels(long), 'token')} long.",
        ),
        task="Switch between the two recordings above the picture, and step through them. Where does the draft dare "
        "to look far ahead?",
        shows=Look(wide.index),
        question="Why not draw first, and throw the unlikely tokens away afterwards?",
        answer=(
            "Because the coin compares with q: it takes for granted that a token turns up as often as q says. If "
            "unlikely tokens are thrown away after they were drawn, the others turn up more often than that, and the "
            "text is no longer the target’s.",
            "To stop drawing is harmless as long as that is decided before the token is known. So both look first and "
            "draw afterwards, and every token that was drawn stays.",
        ),
    )
