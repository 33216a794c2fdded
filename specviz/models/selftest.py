"""What a model must do before it is trusted with trees: score every node as a separate pass along its path does."""

from __future__ import annotations

import numpy as np
import torch

from ..tree import TokenTree
from .huggingface import HuggingFaceModel

# Largest root-mean-square difference of logits, in units of their own spread, that rounding explains.
TOLERANCE = {torch.float32: 1e-3, torch.float16: 0.03, torch.bfloat16: 0.15}
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
        error = tree_error(model, target)
    except Exception as reason:
        first = " ".join(str(reason).split())[:200]
        raise ValueError(
            f"{role} ({type(model.model).__name__}) cannot read a tree under a 4-D attention mask: {first}. "
            "Choose another model."
        ) from reason
    if not error <= TOLERANCE[model.dtype]:
        raise ValueError(
            f"{role} ({type(model.model).__name__}) scores a tree differently from separate passes along its paths "
            f"(by {error:.2g} of the logits' spread); it ignores the tree mask or the positions. Choose another model."
        )


def tree_error(model: HuggingFaceModel, target: HuggingFaceModel | None = None) -> float:
    """The difference between a tree's logits and those of separate passes, relative to the spread of the logits."""
    known = min(model.vocab_size, model.embeddings)
    ids = [(7919 * i + 11) % known for i in range(16)]
    context = ids[:4]
    beside = target.open(context) if target else None
    session = model.open(context, beside)
    tree = TokenTree(context[-1], start=len(context) - 1)
    for parent, token in zip(PARENTS[1:], ids[4:], strict=False):
        tree.add(parent, token)
    # Parents and children in different passes and out of order, as a draft reads them; 7 brings its unread parent.
    read = [session.forward(tree, [3, 1, 0]), session.forward(tree, [7, 2, 5])]
    apart = [_alone(model, context + _tokens(tree, node)) for node in (3, 1, 0, 7, 2, 5)]
    emitted = [*_tokens(tree, 7), ids[12]]
    if beside:
        beside.forward(tree, range(len(tree)))
        beside.commit(tree, (1, 4, 7), emitted)
    session.commit(tree, (1, 4, 7), emitted)
    tree = TokenTree(emitted[-1], start=len(session.context) - 1)
    tree.add(0, ids[13])
    read = np.concatenate([*read, session.forward(tree, [1, 0])])
    apart += [_alone(model, context + emitted + [ids[13]]), _alone(model, context + emitted)]
    known = min(read.shape[1], model.embeddings)
    read, apart = read[:, :known], np.array(apart)[:, :known]
    return float(np.sqrt(np.mean((read - apart) ** 2)) / (apart.std() + 1e-9))


def _tokens(tree: TokenTree, node: int) -> list[int]:
    return [tree.tokens[step] for step in tree.topology.path(node)]


def _alone(model: HuggingFaceModel, tokens: list[int]) -> np.ndarray:
    """Logits after `tokens`, from one pass without a cache and without a mask of ours."""
    return model.read(tokens, range(len(tokens)), None, None, [len(tokens) - 1])[0]
