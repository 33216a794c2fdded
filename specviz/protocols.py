"""The contracts of models, builders and verifiers on one page; those of drafters are in `desk`.

    tree    = builder(draft, rng, law, room, state)      draft: a `Draft`; grows and returns draft.tree
    rows    = rows_of(session.forward(tree, all nodes))  session: the target's `Session`
    verdict = verifier(tree, rows, rng)
    state   = builder.learn(state, tree, verdict, rows)
    session.commit(tree, verdict.path, emitted)

A **law** says how the children of a node are drawn from the draft's row: "iid" (with replacement, duplicates stay),
"distinct" (without replacement, in sampling order; uniformly among the rest once q is used up), "top" (the most
probable ones) and "race" (first arrivals of an exponential race keyed by position). A rule is lossless for the laws
it declares, and nothing else: that declaration is what the exact-law suite checks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from .distributions import Logits, Rows
from .parameters import Strategy
from .randomness import Randomness
from .record import Step, Verdict
from .tree import TokenTree

LAWS = ("iid", "distinct", "top", "race")


class Session(Protocol):
    """One model reading one text: the committed tokens and the tree that is being tried after them."""

    @property
    def context(self) -> Sequence[int]:
        """The committed token ids."""

    def forward(self, tree: TokenTree, nodes: Sequence[int]) -> Logits:
        """Logits after each of `nodes`, [len(nodes), V], in one pass: an array, or what `rows_of` makes rows of.

        Committed tokens and ancestors that the model has not read yet are read in the same pass.
        """

    def commit(self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int]) -> None:
        """Append `emitted` to the context; its first tokens are those of `path`, the rest the model has not read."""

    # A target also gives its features, the last hidden states after its final norm, to drafters that read them.

    def watch(self) -> Any:
        """Read the context but its last token, return the features there, [n - 1, width], and keep them from now on."""

    def features(self, nodes: Sequence[int]) -> Any:
        """The features at `nodes` of the tree that was read last, [len(nodes), width]."""


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

    def drafter(self, kind: str, **parameters: Any) -> Any:
        """What the pair can draft with besides its draft: an object whose `open(tokens, target)` makes a session.

        Raises:
            ValueError: if it has no such thing; the message says what to do.
        """

    def open(self, tokens: Sequence[int]) -> tuple[Session, Session | None]:
        """Fresh sessions of target and draft that start with `tokens`; no draft session where the pair has no draft."""


class Draft(Protocol):
    """The draft as a builder sees it during one step.

    Attributes:
        context: the committed token ids.
        tree: a fresh tree with only its root, for the builder to grow.
        sparse: whether its rows hold a few tokens and nothing else, so that no child should be drawn beyond them.
    """

    context: Sequence[int]
    tree: TokenTree
    sparse: bool

    def expand(self, nodes: Sequence[int]) -> list[np.ndarray]:
        """The draft's probability rows after `nodes`, float64 [V] each, in one pass; also kept in `tree.draft_rows`.

        A row of zeros means that the drafter has nothing to say after that node: it stays a leaf.
        """

    def plain(self, node: int, q: np.ndarray) -> np.ndarray:
        """The row q after an expanded node as one can read doubt from it: at temperature 1 where the draft's is 0."""


@dataclass(frozen=True)
class TreeBuilder(Strategy):
    """How a tree is drafted. Subclasses are frozen dataclasses whose fields are their parameters.

    Class attributes:
        name: the name in menus; title: the same for people; laws: the laws its trees can be filled with, the first is
        its own; reads_draft: whether it needs a draft model; in_support: whether it leaves tokens alone to which the
        draft gives no mass at all; alone: whether it drafts nothing, for plain decoding; key_title: what the number is
        that its nodes are chosen by; small: parameters that make its trees small enough to enumerate while they keep a
        depth of two and, unless they are chains, a branch.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    laws: ClassVar[tuple[str, ...]] = LAWS
    reads_draft: ClassVar[bool] = True
    in_support: ClassVar[bool] = False
    alone: ClassVar[bool] = False
    key_title: ClassVar[str] = "key"
    small: ClassVar[dict[str, Any]] = {}

    @classmethod
    def smallest(cls) -> Self:
        """The builder with its `small` parameters, as proofs take it."""
        return cls(**cls.small)

    @classmethod
    def sized(cls, nodes: int) -> dict[str, Any]:
        """Parameters that give its trees about `nodes` nodes, the root included.

        Raises:
            ValueError: if nothing of the builder says how large its trees are.
        """
        if all(field.name != "size" for field in fields(cls)):
            raise ValueError(f"{cls.title} has no number of nodes; leave sizes out and give it parameters.")
        return {"size": nodes}

    @property
    def label(self) -> str:
        """The builder in a word and its numbers, for tables of many."""
        return self.title

    @property
    def is_chain(self) -> bool:
        """Whether no node of its trees has more than one child."""
        return False

    def prepare(self, verifier: Verifier, temperature: float, drafter: str, pair: str) -> Self:
        """The builder for this run, with every parameter that says "auto" resolved.

        Args:
            verifier: the rule.
            temperature: the target's.
            drafter, pair: the name of who fills the tree, and of the pair that decodes.
        """
        return self

    def start(self) -> Any:
        """The state before the first step, a plain value that is passed on and never kept."""
        return None

    def __call__(self, draft: Draft, rng: Randomness, law: str, room: int, state: Any) -> TokenTree:
        """Grow `draft.tree`.

        Args:
            draft: the draft's session for this step.
            rng: where chance comes from.
            law: how children are drawn.
            room: how many tokens the text may still grow by, at least 1; deeper nodes than room - 1 are useless.
            state: what earlier steps left.
        """
        raise NotImplementedError

    def learn(self, state: Any, tree: TokenTree, verdict: Verdict, rows: Rows | None = None) -> Any:
        """The state for the next step; `rows` are the target's for the tree, None where no target was asked."""
        return state


@dataclass(frozen=True)
class Verifier(Strategy):
    """Which path is accepted. Subclasses are frozen dataclasses whose fields are their parameters.

    Class attributes:
        name, title: as for builders; laws: the laws for which the rule is lossless, the one it asks for first;
        reads_draft: whether it compares with the draft's rows; chain_only: whether a node may have one child at most;
        greedy_only: whether it works at temperature 0 only; lossless: False for rules that trade fidelity for speed;
        bias: for those, the sentence that says so; keyed: whether its output is argmin E / p, keyed by position;
        in_support: whether it tries no more children than the draft's row has tokens; shares: whether a child's
        acceptance depends on how many siblings it has; one_row: whether it solves for a single row of the draft; alone:
        whether it checks nothing, for plain decoding; at_zero: the sentence on what it does at temperature 0.
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
    one_row: ClassVar[bool] = False
    alone: ClassVar[bool] = False
    in_support: ClassVar[bool] = False
    at_zero: ClassVar[str] = "At temperature 0 every token accepted is exactly the target's most probable one."

    def __call__(self, tree: TokenTree, p: Rows, rng: Randomness) -> Verdict:
        """Decide. `p[node]` is the target's row after a node, float64 [V]."""
        raise NotImplementedError

    def explain(self, step: Step, node: int) -> str:
        """One sentence on why `node` has its outcome, from the record alone."""
        raise NotImplementedError
