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
        law: how children are drawn; None lets each rule choose.
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
        "The draft turns the target's ranking upside down. After each refusal the target keeps only what the "
        "draft could not give it (the residual), the refused token leaves the draft, and the next child is "
        "compared with what is left.",
        children=3,
        seed=93,
    ),
    Preset(
        "Cover: [1, 0] against [½, ½]",
        (1.0, 0.0),
        (0.5, 0.5),
        "specinfer",
        "The target wants only the first token. Two children drawn without replacement are both tokens, so "
        "Sequoia always accepts; SpecInfer and SpecTr draw with replacement and get the wrong token twice in a "
        "quarter of all cases (Sequoia, theorem 3.7: they lack the cover property).",
        seed=1,
    ),
    Preset(
        "Cover: as many children as tokens",
        (0.7, 0.2, 0.1, 0.0),
        (0.05, 0.15, 0.3, 0.5),
        "sequoia",
        "Four children of a vocabulary of four: drawn without replacement they are every token there is, so one "
        "of them must be accepted, however poor the draft. Rules for independent children give no such promise.",
        children=4,
        seed=2,
    ),
    Preset(
        "Optimal transport: one child",
        (0.5, 0.3, 0.2),
        (0.2, 0.3, 0.5),
        "speculative-sampling",
        "With one child every rule that compares p with q accepts with 1 minus the total variation distance, the "
        "most that is possible. Target match compares nothing and falls short; a race pays for never looking at "
        "the draft.",
        children=1,
        seed=1,
    ),
    Preset(
        "Top-k against itself",
        (0.6, 0.4),
        (0.6, 0.4),
        "target-match",
        "Draft and target agree, yet the top-k rule with one child accepts only what the most probable token "
        "holds, since it draws the target's token on its own: it covers, but it is no optimal transport (Sequoia,"
        " appendix F.3).",
        children=1,
    ),
    Preset(
        "A draft that is used up",
        (0.2, 0.3, 0.5),
        (0.8, 0.2, 0.0),
        "dyspec",
        "The draft knows two tokens and is asked for three children. DySpec's rule stops after the two; Sequoia's"
        " goes on with a uniform draft over what is left, and so covers the vocabulary.",
        children=3,
        seed=1,
    ),
    Preset(
        "SpecTr's ρ by hand",
        (0.5, 0.5),
        (1.0, 0.0),
        "spectr",
        "Both children are the first token, which half of the text should be. SpecTr divides p by ρ = 1 + 1/√2 in"
        " every try, and half of the runs accept: more would write the first token too often.",
        seed=3,
    ),
    Preset(
        "A block of two: 10/9 and 11/9",
        (1 / 3, 2 / 3),
        (2 / 3, 1 / 3),
        "block",
        "A chain of two tokens. Token by token 10/9 of them are accepted, as a block 11/9, and both write exactly"
        " the target's text (Sun et al. 2024, section 3). Traversal verification is the same rule on a chain.",
        children=1,
        levels=2,
        seed=1,
    ),
    Preset(
        "The wrong law shows",
        (0.5, 0.3, 0.2),
        (0.2, 0.2, 0.6),
        "specinfer",
        "SpecInfer's residual is right for independent children. Here they are drawn without replacement: the "
        "second child comes from a draft that the rule does not divide by, and the text drifts from the target.",
        scheme="distinct",
        seed=4,
    ),
    Preset(
        "Lossy by design",
        (0.5, 0.3, 0.2),
        (0.2, 0.3, 0.5),
        "typical",
        "Typical acceptance takes any child that the target finds likely enough. It may pass the ceiling of the "
        "lossless rules, and the text becomes the draft's: compare the bars of the law below.",
        children=1,
    ),
)
