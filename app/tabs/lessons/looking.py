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
            "A draft can be certain or uncertain. If it is certain, nearly all probability is on one token. If it is "
            "uncertain, the probability is spread over many tokens. **Entropy** measures this.",
            "**DySpec** uses these probabilities while the tree grows: it always adds the node that is most likely to "
            f"be reached according to the draft. In step {deep.index + 1} it went {count(levels(deep), 'level')} "
            f"deep, with {count(len(children(deep)), 'guess')} at the root. In step {wide.index + 1} it went "
            f"{count(levels(wide), 'level')} deep and put {len(children(wide))} at the root. Both have the same "
            "number of nodes.",
            f"**SVIP** does this for a chain of at most {SVIP.builder.depth} tokens: it stops after the first "
            "token drawn from a distribution of high entropy. Its chains "
            f"here are {levels(short)} to {count(levels(long), 'token')} long.",
        ),
        task="Switch between the two recordings above the picture and step through them. Where does the draft look "
        "far ahead?",
        shows=Look(wide.index),
        question="Why not draw first and discard the unlikely tokens afterwards?",
        answer=(
            "Because the rule compares with q: it assumes that a token is drawn with probability q. If unlikely "
            "tokens are discarded after they were drawn, the others appear more often than that, and the text no "
            "longer follows the target’s distribution.",
            "Stopping is allowed as long as it is decided before the token is drawn. So both builders decide first and "
            "draw afterwards, and every drawn token stays.",
        ),
    )
