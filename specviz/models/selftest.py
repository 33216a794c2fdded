"""What a model must do before it is trusted with trees: score every node as a separate pass along its path does."""

from __future__ import annotations

import numpy as np
import torch

from ..tree import TokenTree
from .huggingface import HuggingFaceModel

# Root-mean-square differences of logits, in units of their own spread, that are always forgiven; beyond them a tree may
# be off by a few times what reading token by token instead of in one pass costs in rounding.
FORGIVEN = {torch.float32: 1e-4, torch.float16: 2e-3, torch.bfloat16: 1e-2}
PARENTS = (-1, 0, 0, 0, 1, 1, 2, 4)


def check_tree_reading(role: str, model: HuggingFaceModel, target: HuggingFaceModel | None = None) -> None:
    """Read a small tree with branches in two passes, accept a path, read on, and compare with separate passes.

    Args:
        role: "target" or "draft", for messages.
        model: what to test.
        target: the model it drafts for, whose cache it may share.

    Raises:
        ValueError: if the model cannot read a tree, or reads it wrongly.
    """
    try:
        error, rounding = tree_error(model, target), rounding_error(model)
    except Exception as reason:
        first = " ".join(str(reason).split())[:200]
        raise ValueError(
            f"{role} ({type(model.model).__name__}) cannot read a tree under a 4-D attention mask: {first}. "
            "Choose another model."
        ) from reason
    if not error <= FORGIVEN[model.dtype] + 4 * rounding:
        raise ValueError(
            f"{role} ({type(model.model).__name__}) scores a tree differently from separate passes along its paths "
            f"(by {error:.2g} of the logits' spread); it ignores the tree mask or the positions. Choose another model."
        )


def tree_error(model: HuggingFaceModel, target: HuggingFaceModel | None = None) -> float:
    """The difference between a tree's logits and those of separate passes, relative to the spread of the logits."""
    ids = _tokens_of(model)
    context = ids[:4]
    beside = target.open(context) if target else None
    session = model.open(context, beside)
    tree = TokenTree(context[-1], start=len(context) - 1)
    for parent, token in zip(PARENTS[1:], ids[4:], strict=False):
        tree.add(parent, token)
    # Parents and children in different passes and out of order, as a draft reads them; 7 brings its unread parent.
    read = [session.forward(tree, [3, 1, 0]), session.forward(tree, [7, 2, 5])]
    apart = [_alone(model, context + _along(tree, node)) for node in (3, 1, 0, 7, 2, 5)]
    emitted = [*_along(tree, 7), ids[12]]
    if beside:
        beside.forward(tree, range(len(tree)))
        beside.commit(tree, (1, 4, 7), emitted)
    session.commit(tree, (1, 4, 7), emitted)
    tree = TokenTree(emitted[-1], start=len(session.context) - 1)
    tree.add(0, ids[13])
    read = np.concatenate([*read, session.forward(tree, [1, 0])])
    apart += [_alone(model, context + emitted + [ids[13]]), _alone(model, context + emitted)]
    return _difference(model, read, np.array(apart))


def rounding_error(model: HuggingFaceModel) -> float:
    """The same difference between reading a text token by token and in one pass, where no tree is involved."""
    ids, cache = _tokens_of(model), model.new_cache()
    single = np.concatenate([model.read([token], [i], None, cache, [0]) for i, token in enumerate(ids)])
    return _difference(model, single, model.read(ids, range(len(ids)), None, None, range(len(ids))))


def _difference(model: HuggingFaceModel, one: np.ndarray, other: np.ndarray) -> float:
    own = min(model.vocab_size, model.embeddings)  # beyond its own vocabulary a row is padded
    one, other = one[:, :own], other[:, :own]
    return float(np.sqrt(np.mean((one - other) ** 2)) / (other.std() + 1e-9))


def _tokens_of(model: HuggingFaceModel) -> list[int]:
    return [(7919 * i + 11) % min(model.vocab_size, model.embeddings) for i in range(14)]


def _along(tree: TokenTree, node: int) -> list[int]:
    return [tree.tokens[step] for step in tree.topology.path(node)]


def _alone(model: HuggingFaceModel, tokens: list[int]) -> np.ndarray:
    """Logits after `tokens`, from one pass without a cache and without a mask of ours."""
    return model.read(tokens, range(len(tokens)), None, None, [len(tokens) - 1])[0]
