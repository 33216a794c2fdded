"""A draft with another vocabulary: token-level intersection (TLI, Timor et al. 2025, algorithm 4).

The draft reads its own token ids and proposes the common tokens: its distribution is restricted to
them and renormalised, so every rule stays exact. Two tokens are the same if they stand for the same
bytes, whatever their
spelling: "Ġthe" and "▁the" are " the".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, takewhile

import numpy as np
from transformers import PreTrainedTokenizerBase

from ..passes.cache import Pass
from ..passes.device_logits import DeviceLogits, push
from ..passes.huggingface import HuggingFaceModel
from ..sampling.distributions import Logits, softmax
from ..tree import Nodes, TokenIds, TokenTree
from .heads.draft_logits import DraftLogits
from .text import bytes_of

Vocabulary = Sequence[
    bytes | str | None
]  # by its id the bytes of each token, or the name of a special one
SPARE = 128  # positions kept free for the tree, at most a quarter of all


class Translation:
    """From the target's token ids to the draft's.

    Args:
        target, draft: their vocabularies.
        width: V, of the target's rows.
        prefix: ids with which every text of the draft begins.
    """

    def __init__(
        self, target: Vocabulary, draft: Vocabulary, width: int, prefix: TokenIds = ()
    ) -> None:
        self.width = width
        self._target = target
        self._prefix = list(prefix)
        # Of several tokens with the same bytes the last, since bytes that are no text come first.
        self._draft = {text: token for token, text in enumerate(draft) if text}
        target_ids = {text: token for token, text in enumerate(target) if text}
        self._common = {
            token: self._draft[text] for text, token in target_ids.items() if text in self._draft
        }
        if not self._common:
            raise ValueError(
                "target and draft must have tokens in common; these have none. Choose "
                "another draft."
            )
        self.target_ids = np.array(sorted(self._common))
        self.draft_ids = np.array([self._common[token] for token in self.target_ids.tolist()])
        self._translated: dict[int, tuple[int, ...]] = {}

    def tokens(self, token: int) -> tuple[int, ...]:
        """The draft's ids for one token: its equivalent, or as few as have its bytes, the longest
        first."""
        if token not in self._translated:
            self._translated[token] = self._translate(token)
        return self._translated[token]

    def _translate(self, token: int) -> tuple[int, ...]:
        # Each token is translated alone: the draft's context follows from the text, whatever the
        # steps were.
        if token in self._common:
            return (self._common[token],)
        text = None
        if token < len(self._target):
            text = self._target[token]
        if not isinstance(text, bytes):
            return ()
        ids: list[int] = []
        while text:
            # Greedy from the left, the longest token first: any spelling is the same text.
            size = next((n for n in range(len(text), 0, -1) if text[:n] in self._draft), 0)
            if size:
                ids.append(self._draft[text[:size]])
            text = text[size or 1 :]  # a byte that no token of the draft has is left out
        return tuple(ids)

    def context(self, tokens: TokenIds) -> list[int]:
        """The draft's ids for a text that starts with `tokens`, ids of the target; at least one."""
        ids = list(chain.from_iterable(map(self.tokens, tokens)))
        # A text of the draft begins as its tokenizer begins one, whatever the target's does.
        if self._prefix:
            if ids[: len(self._prefix)] == self._prefix:
                return ids
            return [*self._prefix, *ids]
        if not self.tokens(tokens[0]):  # a text must begin with something
            return [int(self.draft_ids[0]), *ids]
        return ids

    def logits(self, logits: Logits, rows: list[int]) -> Logits:
        """Rows of the draft's logits over the target's tokens, [len(rows), V], where they are; -inf
        if not common."""
        # What the draft cannot say has no probability; over the rest softmax renormalises.
        values: Logits
        if isinstance(logits, DeviceLogits):
            tensor = logits.tensor[rows]
            values = DeviceLogits(tensor[:, push(self.draft_ids, tensor.device)])
        else:
            values = np.asarray(logits)[rows][:, self.draft_ids]
        return DraftLogits(values, self.target_ids, self.width)

    def common_mass(self, target: HuggingFaceModel, text: TokenIds) -> float:
        """The mean probability that the target gives to common tokens along a text, token ids, at
        temperature 1."""
        places = range(len(text))
        logits, _ = target.read(Pass(text, places, None, target.new_cache(), places))
        p = softmax(np.asarray(logits))
        return float(p[:, self.target_ids].sum(axis=1).mean())


def translation(
    target: PreTrainedTokenizerBase, draft: PreTrainedTokenizerBase, width: int, draft_width: int
) -> Translation:
    """The translation between two tokenizers; special tokens are the same if their names or their
    roles are."""
    target_vocabulary = vocabulary_of("target", target)
    draft_vocabulary = vocabulary_of("draft", draft)
    for role in ("eos_token_id", "bos_token_id"):
        target_id = getattr(target, role)
        draft_id = getattr(draft, role)
        if target_id is None or draft_id is None:
            continue
        draft_name = draft_vocabulary[draft_id]
        is_unknown = target_vocabulary[target_id] not in draft_vocabulary
        if is_unknown and draft_name not in target_vocabulary:
            target_vocabulary[target_id] = draft_name  # another name for the same role
    prefix = list(takewhile(lambda token: token in draft.all_special_ids, draft.encode("a")))
    return Translation(target_vocabulary[:width], draft_vocabulary[:draft_width], width, prefix)


def vocabulary_of(role: str, tokenizer: PreTrainedTokenizerBase) -> list[bytes | str | None]:
    """The `Vocabulary` of a tokenizer; a `ValueError`, which names its `role`, if its tokens are
    not of bytes."""
    decoder = getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", None)
    kind = "" if decoder is None else decoder.__getstate__().decode()  # JSON, as in tokenizer.json
    letters = '"ByteLevel"' in kind
    if not letters and "▁" not in kind:
        raise ValueError(
            f"{role} must have a tokenizer of bytes (byte-level BPE or sentencepiece) if "
            "the vocabularies differ; got "
            f"{type(tokenizer).__name__}. Choose a draft of the same family."
        )
    ids = tokenizer.get_vocab()
    added = tokenizer.added_tokens_decoder
    vocabulary: list[bytes | str | None] = [None] * (1 + max(ids.values()))
    for written, i in ids.items():
        if i in added:
            vocabulary[i] = written if added[i].special else written.encode()
        else:
            vocabulary[i] = bytes_of(written if letters else written.replace("▁", " "), letters)
    return vocabulary


class TranslatedSession:
    """A draft's session on a text of the target; a node of its tree is several of the draft's, or
    none.

    Args:
        draft: a model with another vocabulary than the target's.
        translation: from the target's tokens to its own.
        longest: how many of its own tokens it can hold.
        tokens: the text so far, ids of the target.
        target: unused, as a model opens its sessions.
    """

    def __init__(
        self,
        draft: HuggingFaceModel,
        translation: Translation,
        longest: int,
        tokens: TokenIds,
        target: object = None,
    ) -> None:
        self.draft = draft
        self.translation = translation
        self.longest = longest
        self.context = list(tokens)
        self._open()

    def _open(self) -> None:
        """Read the text anew."""
        ids = self.translation.context(self.context)
        self._session = self.draft.open(ids[first_token(len(ids), self.longest) :])
        self._length = len(ids)
        self._tree: TokenTree | None = None

    def forward(self, tree: TokenTree, nodes: Nodes) -> Logits:
        """Logits after each of `nodes`, float32 [len(nodes), V] over the target's tokens; -inf if
        not common."""
        if tree is not self._tree:
            ids = self._session.context
            self._tree = tree
            self._draft_tree = TokenTree(ids[-1], start=len(ids) - 1)
            self._ends = {0: 0}  # node -> the draft's node with which it ends
        ends = [self._end(tree, int(node)) for node in nodes]
        different = list(dict.fromkeys(ends))
        logits = self._session.forward(self._draft_tree, different)
        return self.translation.logits(logits, list(map(different.index, ends)))

    def _end(self, tree: TokenTree, node: int) -> int:
        if node not in self._ends:
            end = self._end(tree, tree.parents[node])
            for token in self.translation.tokens(tree.tokens[node]):
                # Where there is no room left it guesses from what is above.
                if self._draft_tree.next_position(end) < self.longest:
                    end = self._draft_tree.add(end, token)
            self._ends[node] = end
        return self._ends[node]

    def commit(self, tree: TokenTree, path: Nodes, emitted: TokenIds) -> None:
        """Append what a step wrote; the draft reads it again with the next tree."""
        self.context.extend(emitted)
        new = list(chain.from_iterable(map(self.translation.tokens, emitted)))
        before = self._length
        self._length += len(new)
        # A text longer than the draft can hold is read from later on, in jumps, so that it is not
        # read anew each step.
        if first_token(self._length, self.longest) != first_token(before, self.longest):
            self._open()
        else:
            self._session.commit(tree if self._tree is None else self._draft_tree, (), new)
        self._tree = None


def first_token(length: int, longest: int) -> int:
    """The first of so many tokens that the draft reads: 0, or a multiple of half of what it can
    hold."""
    limit = longest - min(SPARE, longest // 4)
    half = max(1, limit // 2)
    if length <= limit:
        return 0
    return half * (1 + (length - limit) // half)
