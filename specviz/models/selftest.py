"""Self-test of a model: it must score every node of a tree as a pass along its path does.

The judge is transformers' own pass in float32, with the same weights, computed from token ids and
nothing of ours: no mask, no positions, no cache. In a format of fewer bits transformers' own pass
differs from it too; that much rounding, and half as much again, is what any pass may differ by.
"""

from __future__ import annotations

import logging
from itertools import cycle, islice
from typing import NamedTuple

import numpy as np
import torch

from ..base.errors import cause
from ..passes.cache import Pass
from ..passes.huggingface import HuggingFaceModel
from ..sampling.distributions import Logits
from ..tree import TokenIds, TokenTree
from .early_exit import ShallowModel
from .judge import BOUND, Judge, rms, spread
from .loading import longest_text

SHORT = 14  # tokens of the text that every model reads
LAST = 16  # tokens at its end after which logits are compared
EFFORT = {"cpu": 5e9, "cuda": 5e11}  # parameters times tokens of the long text
MEMORY = 1 << 28  # bytes of keys and values of the masked slots between a text and its tree

RowsAndTexts = tuple[np.ndarray, list[list[int]]]  # rows, and the text that each is after


class Difference(NamedTuple):
    """How far logits are from the judge's, and how far they may be."""

    found: float
    allowed: float

    @property
    def is_right(self) -> bool:
        """Whether rounding explains it; not where it is no number."""
        return self.found <= self.allowed


def check_tree_reading(
    role: str,
    model: HuggingFaceModel,
    target: HuggingFaceModel | None = None,
    text: TokenIds = (),
) -> None:
    """Read trees, accept a path, read on, and compare with the judge; see above.

    Compiled passes, and then the direct forward, are given up where they differ. A model that
    reads into its target's cache keeps the kind of pass that the target has, as keys are of its
    type.

    Args:
        role: "target" or "draft", as errors name it.
        model: what is tested.
        target: whose session it is opened with, where it drafts for one.
        text: token ids in a language that the model knows, to be read; numbers by default.
    """
    kind = type(model.model).__name__
    judge = Judge(model)
    try:
        while True:
            difference = find_difference(model, target, judge, text, role)
            if difference.is_right:
                break
            # One kind of pass after the other: compiled, direct, transformers' own.
            if model.direct is not None and model.direct.compiled is not None:
                model.direct.compiled = None
            elif model.direct is not None and not isinstance(model, ShallowModel):
                logging.getLogger(__name__).warning(
                    "The direct forward of %s differs from float32 by %.2g of the logits' spread, "
                    "and may by %.2g; transformers' own, which is slower, is used.",
                    kind,
                    *difference,
                )
                model.use_transformers()
            else:
                break
        reason = None
        if not difference.is_right:
            reason = _reason(model, judge, difference, text)
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise ValueError(
            f"{role} ({kind}) cannot be tested in the memory that is free: {cause(error)}. Choose "
            "a smaller model, or free some memory."
        ) from error
    except Exception as error:
        raise ValueError(
            f"{role} ({kind}) fails when it reads a tree under a 4-D attention mask: "
            f"{cause(error)}. Choose another model."
        ) from error
    if reason is not None:
        raise ValueError(f"{role} ({kind}) {reason}")


def _reason(model: HuggingFaceModel, judge: Judge, difference: Difference, text: TokenIds) -> str:
    """Why a model is refused, as the end of a sentence that begins with its name."""
    if not np.isfinite(difference.found):
        return "gives logits that are no numbers; load it with dtype float32."
    number_format = str(model.dtype).removeprefix("torch.")
    if judge.own_difference > BOUND:
        return (
            f"computes in {number_format} what differs by {judge.own_difference:.2g} of the "
            "logits' spread from float32, so that a wrong tree could not be noticed. Load it with "
            "dtype float32."
        )
    # Told apart from a wrong mask: here the same path changes with what stands beside it.
    alone, among_others = judge.same_text_twice(tokens_of(model, SHORT, text))
    if (change := rms(alone - among_others) / spread(alone)) > difference.allowed:
        return (
            f"changes its logits by {change:.2g} of their spread with what else is in the pass: it "
            "reads what follows, or quantises activations together. So a tree cannot be scored "
            "like its paths. Choose another model, or one that quantises weights only."
        )
    return (
        f"scores a tree differently from passes along its paths (by {difference.found:.2g} of the "
        f"logits' spread, where rounding explains {difference.allowed:.2g}): it does not follow "
        "the tree's mask and positions. Choose another model."
    )


def find_difference(
    model: HuggingFaceModel,
    target: HuggingFaceModel | None,
    judge: Judge,
    text: TokenIds,
    role: str,
) -> Difference:
    """The difference over everything that is read, or the first one that no rounding explains."""
    limit = longest_text(role, model.model.config)
    weights = sum(part.numel() for part in model.model.parameters())
    affordable = int(EFFORT.get(model.device.type, EFFORT["cpu"]) / weights)
    width = model.model.config.get_text_config().hidden_size
    slot = 2 * model.layers * width * model.dtype.itemsize  # bytes, at most
    short = tokens_of(model, SHORT, text)
    long = tokens_of(model, min(limit, max(SHORT, affordable)), text)
    gap = min(limit, MEMORY // slot)
    squares = np.zeros(2)  # sums over rows, of what was found and of rounding
    rows = 0
    # The tree first, which is cheap; a model that cannot read it need not read a long text.
    for read in (
        lambda: read_tree(model, target, short),
        lambda: read_branches(model, long),
        lambda: read_branches(model, short, gap),
    ):
        logits, texts = read()
        differences = judge.compare(logits, texts)
        if not differences[0] <= BOUND:
            return Difference(differences[0], BOUND)
        # Mean squares over all rows: rounding varies from row to row, a wrong mask is wrong in
        # most.
        squares += len(texts) * np.square(differences)
        rows += len(texts)
    found, rounding = np.sqrt(squares / rows)
    return Difference(float(found), judge.allowed(float(rounding)))


def read_tree(
    model: HuggingFaceModel, target: HuggingFaceModel | None, ids: TokenIds
) -> RowsAndTexts:
    """Logits of a tree that is read in two passes, and of what follows an accepted path."""
    target_session = None
    if target:
        target_session = target.open(ids[:4])
    session = model.open(ids[:4], target_session)
    tree = TokenTree(ids[3], start=3)
    for parent, token in zip((0, 0, 0, 1, 1, 2, 4), ids[4:], strict=False):
        tree.add(parent, token)
    logits = list[Logits]()
    texts = list[list[int]]()

    def read(*nodes: int) -> None:
        logits.append(session.forward(tree, nodes))
        for node in nodes:
            texts.append([*session.context, *tree.path_tokens(node)])

    # Parents and children in different passes and out of order, as a draft reads them; 7 brings its
    # unread parent.
    read(3, 1, 0)
    read(7, 2, 5)
    # The accepted path 1, 4, 7 and a token of the target's, which no pass has read.
    emitted = [tree.tokens[node] for node in (1, 4, 7)] + [ids[12]]
    if target_session:
        target_session.forward(tree, range(len(tree)))
        target_session.commit(tree, (1, 4, 7), emitted)
    session.commit(tree, (1, 4, 7), emitted)
    # The next step: what was kept must be what a fresh pass over the text gives.
    tree = TokenTree(emitted[-1], start=len(session.context) - 1)
    tree.add(0, ids[13])
    read(0)
    read(1)
    return np.concatenate(logits), texts


def read_branches(model: HuggingFaceModel, ids: TokenIds, gap: int = 0) -> RowsAndTexts:
    """Logits of the end of a text, and of two branches there; its last two tokens are the longer
    branch.

    Between text and branches lie `gap` masked slots; their number must not matter, whatever window
    or mask a model keeps by slots.
    """
    context = list(ids[:-2])
    first, second = ids[-2:]
    base = len(context)
    cache = model.new_cache()
    cache.used = start = base + gap
    model.read(Pass(ids[:1], [0], None, cache, [0]))  # makes room up to there
    cache.used = 0
    last = range(max(0, base - LAST), base)
    before, _ = model.read(Pass(context, range(base), None, cache, last))
    cache.used = start
    masked = np.ones((3, start + 3), dtype=bool)
    # Seen are the text, the node itself, and the first branch's token by its child; the gap is seen
    # by nobody.
    masked[:, :base] = False
    masked[:, start:] = [[0, 1, 1], [1, 0, 1], [0, 1, 0]]
    places = [base, base, base + 1]
    logits, _ = model.read(Pass([first, second, second], places, masked, cache, [1, 2]))
    texts = [context[: end + 1] for end in last]
    return np.concatenate([before, logits]), [*texts, [*context, second], list(ids)]


def tokens_of(model: HuggingFaceModel, count: int, text: TokenIds) -> list[int]:
    """The first ids of a text, which is repeated where it is shorter; numbers where there is no
    text."""
    known = min(model.vocab_size, model.embeddings)
    if text:
        return list(islice(cycle(text), count))
    return [(7919 * i + 11) % known for i in range(count)]
