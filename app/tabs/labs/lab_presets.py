"""Examples for the Verification lab, most of them the papers' own. What each sentence claims, a test computes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """A node to look at.

    Args:
        title: on its button.
        p, q: weights of the target and of the draft.
        rule: menu name of the rule that is chosen.
        why: what to look at.
        children, levels: see `app.tabs.labs.microscope.Node`.
        scheme: how children are drawn; None lets each rule choose.
        seed: of the run that is shown first.
    """

    title: str
    p: tuple[float, ...]
    q: tuple[float, ...]
    rule: str
    why: str
    children: int = 2
    levels: int = 1
    scheme: str | None = None
    seed: int = 0


PRESETS = (
    Preset(
        "Several tries",
        (0.3, 0.25, 0.2, 0.15, 0.1),
        (0.1, 0.15, 0.15, 0.2, 0.4),
        "sequoia",
        "The draft ranks the tokens in the opposite order of the target. After each rejection, p becomes the "
        "residual, the rejected token is removed from the draft, and the next child is compared with the "
        "residual.",
        children=3,
        seed=93,
    ),
    Preset(
        "Cover: [1, 0] against [½, ½]",
        (1.0, 0.0),
        (0.5, 0.5),
        "specinfer",
        "The target has all probability on the first token. Two children drawn without replacement are both tokens, so "
        "Sequoia always accepts; SpecInfer and SpecTr draw with replacement and draw the wrong token twice with "
        "probability 1/4 (Sequoia, theorem 3.7: they lack the cover property).",
        seed=1,
    ),
    Preset(
        "Cover: as many children as tokens",
        (0.7, 0.2, 0.1, 0.0),
        (0.05, 0.15, 0.3, 0.5),
        "sequoia",
        "Four children of a vocabulary of four: drawn without replacement they cover every token, so one of them "
        "is always accepted, even with a poor draft. Rules for independent children have no such guarantee.",
        children=4,
        seed=2,
    ),
    Preset(
        "Optimal transport: one child",
        (0.5, 0.3, 0.2),
        (0.2, 0.3, 0.5),
        "speculative-sampling",
        "With one child every rule that compares p with q accepts with 1 minus the total variation distance, the "
        "maximum. Target match does not compare p with q and accepts less; so does a race, which ignores the "
        "draft.",
        children=1,
        seed=1,
    ),
    Preset(
        "Top-k with draft = target",
        (0.6, 0.4),
        (0.6, 0.4),
        "target-match",
        "Draft and target are equal, but the top-k rule with one child accepts only with the probability of "
        "the most probable token, because it draws the target's token independently: it has the cover property but is "
        "not an optimal transport (Sequoia, appendix F.3).",
        children=1,
    ),
    Preset(
        "A draft with few tokens",
        (0.2, 0.3, 0.5),
        (0.8, 0.2, 0.0),
        "dyspec",
        "The draft has two tokens with probability above 0, but three children are drawn. DySpec's rule stops after"
        " two; Sequoia's continues with a uniform draft over the remaining tokens and so covers the vocabulary.",
        children=3,
        seed=1,
    ),
    Preset(
        "SpecTr's ρ by hand",
        (0.5, 0.5),
        (1.0, 0.0),
        "spectr",
        "Both children are the first token, which has p = 1/2. SpecTr divides p by ρ = 1 + 1/√2 in every try and"
        " accepts in half of the runs: accepting more would write the first token too often.",
        seed=3,
    ),
    Preset(
        "A block of two: 10/9 and 11/9",
        (1 / 3, 2 / 3),
        (2 / 3, 1 / 3),
        "block",
        "A chain of two tokens. Token-level verification accepts 10/9 of them in expectation, block verification"
        " 11/9, and both keep the target's distribution (Sun et al. 2024, section 3). Traversal verification is the "
        "same rule on a chain.",
        children=1,
        levels=2,
        seed=1,
    ),
    Preset(
        "The wrong sampling scheme",
        (0.5, 0.3, 0.2),
        (0.2, 0.2, 0.6),
        "specinfer",
        "SpecInfer's residual is correct for independent children. Here they are drawn without replacement: "
        "the second child comes from a distribution that the rule does not divide by, so the output distribution "
        "differs from the target's.",
        scheme="distinct",
        seed=4,
    ),
    Preset(
        "Biased rule",
        (0.5, 0.3, 0.2),
        (0.2, 0.3, 0.5),
        "typical",
        "Typical acceptance accepts any child with a high enough target probability. It can exceed the upper "
        "bound of lossless rules, but the output distribution moves toward the draft's: compare the bars of the "
        "output distribution below.",
        children=1,
    ),
)
