"""Every contract of the library on one page: models, builders, verifiers, and which of them go together.

    tree    = builder(draft, rng, law, room, notes)      draft: a `Draft`; grows and returns draft.tree
    rows    = rows_of(session.forward(tree, all nodes))  session: the target's `Session`
    verdict = verifier(tree, rows, rng)
    notes   = builder.learn(notes, tree, verdict)
    session.commit(tree, verdict.path, emitted)

A **law** says how the children of a node are drawn from the draft's row: "iid" (with replacement, duplicates stay),
"distinct" (without replacement, in sampling order; uniformly among the rest once q is used up), "top" (the most
probable ones) and "race" (first arrivals of an exponential race keyed by position). A rule is lossless for the laws
it declares, and nothing else: that declaration is what the exact-law suite checks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from .distributions import Rows
from .randomness import Randomness
from .record import Step, Verdict
from .tree import TokenTree

LAWS = ("iid", "distinct", "top", "race")


class Session(Protocol):
    """One model reading one text: the committed tokens and the tree that is being tried after them."""

    context: Sequence[int]

    def forward(self, tree: TokenTree, nodes: Sequence[int]) -> np.ndarray:
        """Logits after each of `nodes`, [len(nodes), V], in one pass: an array, or what `rows_of` makes rows of.

        Committed tokens and ancestors that the model has not read yet are read in the same pass.
        """

    def commit(self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int]) -> None:
        """Append `emitted` to the context; its first tokens are those of `path`, the rest the model has not read."""


class Pair(Protocol):
    """A target and a draft over one vocabulary.

    Attributes:
        info: name and description, plain JSON data with at least "name".
        vocab_size: V, the width of every row.
        max_positions: the longest text the pair can hold, in tokens.
        eos_ids: tokens that end a text.
    """

    info: dict[str, Any]
    vocab_size: int
    max_positions: int
    eos_ids: frozenset[int]

    def encode(self, text: str) -> list[int]: ...

    def decode(self, tokens: Sequence[int]) -> str: ...

    def piece(self, token: int) -> str:
        """One token as a person reads it."""

    def stream(self, context: Sequence[int]) -> Callable[[int], str]:
        """A function that is given the tokens after `context` one by one and returns the text each of them adds."""

    def open(self, tokens: Sequence[int]) -> tuple[Session, Session | None]:
        """Fresh sessions of target and draft that start with `tokens`; no draft session where the pair has no draft."""


class Draft(Protocol):
    """The draft as a builder sees it during one step.

    Attributes:
        context: the committed token ids.
        tree: a fresh tree with only its root, for the builder to grow.
    """

    context: Sequence[int]
    tree: TokenTree

    def expand(self, nodes: Sequence[int]) -> list[np.ndarray]:
        """The draft's probability rows after `nodes`, float64 [V] each, in one pass; also kept in `tree.draft_rows`."""


@dataclass(frozen=True)
class TreeBuilder:
    """How a tree is drafted. Subclasses are frozen dataclasses whose fields are their parameters.

    Class attributes:
        name: the name in menus; title: the same for people; laws: the laws its trees can be filled with, the first is
        its own; reads_draft: whether it needs a draft model; in_support: whether it leaves tokens alone to which the
        draft gives no mass at all; key_title: what the number is that its nodes are chosen by.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    laws: ClassVar[tuple[str, ...]] = LAWS
    reads_draft: ClassVar[bool] = True
    in_support: ClassVar[bool] = False
    key_title: ClassVar[str] = "key"

    @property
    def is_chain(self) -> bool:
        """Whether no node of its trees has more than one child."""
        return False

    def prepare(self, verifier: Verifier, temperature: float) -> TreeBuilder:
        """The builder for this run, with every parameter that says "auto" resolved."""
        return self

    def start(self) -> Any:
        """The notes before the first step, a plain value that is passed on and never kept."""
        return None

    def __call__(self, draft: Draft, rng: Randomness, law: str, room: int, notes: Any) -> TokenTree:
        """Grow `draft.tree`.

        Args:
            draft: the draft's session for this step.
            rng: where chance comes from.
            law: how children are drawn.
            room: how many tokens the text may still grow by, at least 1; deeper nodes than room - 1 are useless.
            notes: what earlier steps left.
        """
        raise NotImplementedError

    def learn(self, notes: Any, tree: TokenTree, verdict: Verdict) -> Any:
        """The notes for the next step."""
        return notes


@dataclass(frozen=True)
class Verifier:
    """Which path is accepted. Subclasses are frozen dataclasses whose fields are their parameters.

    Class attributes:
        name, title: as for builders; laws: the laws for which the rule is lossless, the one it asks for first;
        reads_draft: whether it compares with the draft's rows; chain_only: whether a node may have one child at most;
        greedy_only: whether it works at temperature 0 only; lossless: False for rules that trade fidelity for speed;
        bias: for those, the sentence that says so; keyed: whether its output is argmin E / p, keyed by position;
        in_support: whether it tries no more children than the draft's row has tokens; shares: whether a child's
        acceptance depends on how many siblings it has; at_zero: the sentence on what it does at temperature 0.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    laws: ClassVar[tuple[str, ...]] = LAWS
    reads_draft: ClassVar[bool] = True
    chain_only: ClassVar[bool] = False
    greedy_only: ClassVar[bool] = False
    lossless: ClassVar[bool] = True
    bias: ClassVar[str] = ""
    shares: ClassVar[bool] = False
    keyed: ClassVar[bool] = False
    in_support: ClassVar[bool] = False
    at_zero: ClassVar[str] = "At temperature 0 every token accepted is exactly the target's most probable one."

    def __call__(self, tree: TokenTree, p: Rows, rng: Randomness) -> Verdict:
        """Decide. `p[node]` is the target's row after a node, float64 [V]."""
        raise NotImplementedError

    def explain(self, step: Step, node: int) -> str:
        """One sentence on why `node` has its outcome, from the record alone."""
        raise NotImplementedError


@dataclass(frozen=True)
class Compatibility:
    """Whether a builder and a verifier go together, and one true sentence on why.

    Attributes:
        possible: whether the run can be made at all.
        lossless: whether its text has exactly the target's distribution.
        useful: whether it is not plainly pointless.
        law: how children will be drawn.
        reason: the sentence.
    """

    possible: bool
    lossless: bool
    useful: bool
    law: str
    reason: str


DRAWN = {
    "iid": "drawn independently from the draft, duplicates kept",
    "distinct": "drawn from the draft without replacement",
    "top": "the draft's most probable tokens, not draws",
    "race": "the first arrivals of a race shared with the target",
}


def compatible(
    builder: TreeBuilder,
    verifier: Verifier,
    temperature: float,
    draft_temperature: float | None = None,
    law: str | None = None,
) -> Compatibility:
    """Whether a builder and a verifier go together in this configuration, whatever top_p and top_k are.

    Args:
        builder, verifier: the objects, with their parameters.
        temperature: the target's.
        draft_temperature: the draft's; None as in `RunConfig`.
        law: how children are to be drawn; None lets the verifier choose among what the builder can do.
    """
    if law is None:
        wanted = ("top",) if temperature == 0 else verifier.laws
        law = next((law for law in wanted if law in builder.laws), builder.laws[0])

    def verdict(possible: bool, lossless: bool, useful: bool, reason: str) -> Compatibility:
        return Compatibility(possible, lossless, useful, law, reason)

    def impossible(reason: str) -> Compatibility:
        return verdict(False, False, False, reason)

    if law not in builder.laws:
        return impossible(f"{builder.title} cannot make trees whose children are {DRAWN.get(law, law)}.")
    if verifier.greedy_only and temperature > 0:
        return impossible(f"{verifier.title} compares with the single most probable token; set the temperature to 0.")
    if verifier.chain_only and not builder.is_chain:
        return impossible(f"{verifier.title} is defined for chains; {builder.title} makes trees with branches.")
    if verifier.reads_draft and not builder.reads_draft:
        return impossible(f"{verifier.title} compares with draft probabilities; {builder.title} asks no draft model.")
    if law == "race" and not verifier.keyed:
        return impossible(f"A race shares its noise with the target; {verifier.title} needs fresh randomness.")
    single = draft_temperature == 0 and builder.reads_draft  # the draft's row holds a single token
    beyond = law != "iid" and not verifier.in_support  # siblings are other tokens, which the rule does try
    useful = not single or builder.is_chain or builder.in_support or beyond
    wasted = "With a draft temperature of 0 the draft has one token to offer, so every further sibling is wasted."
    if temperature == 0:
        return verdict(True, True, useful, verifier.at_zero if useful else wasted)
    if not verifier.lossless:
        return verdict(True, False, useful, verifier.bias)
    if law not in verifier.laws:
        # Where only one child of a node counts there is nothing to replace: drawn is drawn.
        alone = builder.is_chain or (single and (builder.in_support or verifier.in_support))
        drawn = {"iid", "distinct", "top"} if single else {"iid", "distinct"}
        exact = alone and law in drawn and not {"iid", "distinct"}.isdisjoint(verifier.laws)
        if not exact:
            return verdict(
                True, False, useful,
                f"{verifier.title} is exact for children {DRAWN[verifier.laws[0]]}; "
                f"here they are {DRAWN[law]}, so the text may drift from the target's distribution.",
            )  # fmt: skip
        reason = f"One child of a node counts here, drawn from the draft's row, so {verifier.title} is exact."
        return verdict(True, True, useful, reason if useful else wasted)
    if not useful:
        return verdict(True, True, False, wasted)
    if verifier.keyed:
        return verdict(True, True, True, "The target's own race decides every token, so the seed alone fixes the text.")
    if len(verifier.laws) == len(LAWS) or not verifier.reads_draft:
        return verdict(True, True, True, f"{verifier.title} keeps the target's own draw, so any tree is lossless.")
    return verdict(True, True, True, f"{verifier.title} is exact for children {DRAWN[law]}.")


def suited(builder: TreeBuilder, verifiers: dict[str, type[Verifier]], temperature: float) -> str:
    """The name of the first rule of the menu that is lossless with a builder: exact match at temperature 0."""
    greedy = [name for name, rule in verifiers.items() if rule.greedy_only and temperature == 0]
    return next(
        name for name in [*greedy, *verifiers] if compatible(builder, verifiers[name](), temperature).lossless
    )  # fmt: skip
