"""The contracts of models: a pair over one vocabulary, and one model reading one text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from ..base.codec import JsonObject
from ..config.prompt import Message
from ..sampling.distributions import Logits
from ..tree import Nodes, TokenIds, TokenTree

Features: TypeAlias = Any  # float [n, width], a tensor of torch or an array of a toy


class Session(Protocol):
    """One model reading one text: the committed tokens and the tree that is being tried after
    them."""

    @property
    def context(self) -> Sequence[int]:
        """The committed token ids."""

    def forward(self, tree: TokenTree, nodes: Nodes) -> Logits:
        """Logits after nodes, in one pass; committed tokens and ancestors that were not read yet
        are read in it too.

        Args:
            tree: the tree that is being tried.
            nodes: those to read, n numbers.

        Returns:
            Logits [n, V]: an array, or what `distributions_of` makes rows of.
        """

    def commit(self, tree: TokenTree, path: Nodes, emitted: TokenIds) -> None:
        """Append what a step wrote to the context.

        Args:
            tree: the tree that was tried.
            path: its accepted nodes, top down.
            emitted: the new token ids; the first are those of `path`, the rest the model has not
                read.
        """

    # A target also gives its features, the last hidden states after its final norm, to drafters
    # that read them.

    def watch(self) -> Features:
        """Read the context but its last token, return the features there, [n - 1, width], and keep
        them from now on."""

    def features(self, nodes: Nodes) -> Features:
        """The features at `nodes` of the tree that was read last, [len(nodes), width]."""


class Pair(Protocol):
    """A target and a draft over one vocabulary.

    Attributes:
        info: name and description, plain JSON data with at least "name"; where every pass reads the
            target's weights from disk, "offload" is "disk" and "disk_speed" the bytes a second.
        vocab_size: V, the width of every row.
        max_positions: the longest text the pair can hold, in tokens.
        eos_ids: tokens that end a text.
        is_chat: whether the target was trained on chats.
        chat: whether a text as a prompt is asked as the message of a user.
        default_drafter: the menu name of the drafter that stands for the pair's own draft.
    """

    info: JsonObject
    vocab_size: int
    max_positions: int
    eos_ids: frozenset[int]
    is_chat: bool
    chat: bool = False
    default_drafter: str = "model"

    def encode(self, text: str | Sequence[Message]) -> list[int]:
        """The token ids of a text, or of a chat up to where the answer begins; a `ValueError` for a
        chat where the target knows none."""

    def decode(self, tokens: TokenIds) -> str:
        """The text of `tokens`, a list of ids."""

    def token_text(self, token: int) -> str:
        """One `token`, an id, as a person reads it."""

    def stream(self, context: TokenIds) -> Callable[[int], str]:
        """A function that is given the tokens after `context`, token ids, one by one and returns
        the text each adds.

        A character whose bytes are spread over several tokens is returned with the last of them.
        """

    def drafter(self, kind: str, **parameters: Any) -> Any:
        """A drafter model of the pair besides its draft: an object whose `open(tokens, target)`
        makes a session.

        Args:
            kind: "early-exit", "layer-skip", "quantized", "medusa", "eagle", "block"
                or "online".
            parameters: how many layers, heads or bits, which layers, whether with a Markov head,
                or at what rate it learns.

        Raises:
            ValueError: if it has none; the message says what to do.
        """

    def open(self, tokens: TokenIds) -> tuple[Session, Session | None]:
        """Fresh sessions of target and draft that start with `tokens`; no draft session where the
        pair has no draft."""
