"""Self-test of a model: it must score every node of a tree as transformers' own pass along its path does.

The reference is computed from token ids and nothing of ours: no mask, no positions, no cache.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import torch

from ..errors import cause
from ..passes.cache import TreeCache
from ..passes.huggingface import HuggingFaceModel
from ..passes.threads import using
from ..tree import TokenTree
from .loading import longest_text

# Root mean square of a difference of logits, over their standard deviation: what rounding may explain.
TOLERANCE = {torch.float64: 1e-5, torch.float32: 1e-3, torch.float16: 3e-2, torch.bfloat16: 1e-1}
SHORT = 14  # tokens of the text that every model reads
EFFORT = {"cpu": 5e9, "cuda": 5e11}  # parameters times tokens of the long text
MEMORY = 1 << 28  # bytes of keys and values between a text and its tree


def check_tree_reading(role: str, model: HuggingFaceModel, target: HuggingFaceModel | None = None) -> None:
    """Read trees, accept a path, read on, and compare with transformers' own passes; see above."""
    kind, tolerance = type(model.model).__name__, TOLERANCE[model.dtype]
    limit = longest_text(role, model.model.config)
    weights = sum(part.numel() for part in model.model.parameters())
    affordable = int(EFFORT.get(model.device.type, EFFORT["cpu"]) / weights)
    try:
        check_direct(model, tolerance)
        error = tree_error(model, target)
        if error <= tolerance:
            long_text = tokens_of(model, min(limit, max(SHORT, affordable)))
            error = max(long_text_error(model, long_text), slot_error(model, limit))
    except Exception as reason:
        raise ValueError(
            f"{role} ({kind}) cannot read a tree under a 4-D attention mask: {cause(reason)}. Choose another model."
        ) from reason
    if not np.isfinite(error):
        raise ValueError(f"{role} ({kind}) gives logits that are no numbers; load it with dtype float32.")
    if not error <= tolerance:
        raise ValueError(
            f"{role} ({kind}) scores a tree differently from transformers' own passes along its paths (by {error:.2g} "
            "of the logits' spread): it does not follow the tree's mask and positions. Choose another model."
        )


def check_direct(model: HuggingFaceModel, tolerance: float) -> None:
    """Compare the direct forward and its compiled passes with transformers', and give up whichever differs."""
    direct = model.direct
    if direct is None:
        return
    compiled, direct.compiled = direct.compiled, None
    if not (error := direct_error(model)) <= tolerance:
        logging.getLogger(__name__).warning(
            "The direct forward of %s differs from transformers' by %.2g of the logits' spread; "
            "transformers' own, which is slower, is used.", type(model.model).__name__, error,
        )  # fmt: skip
        model.leave_to_transformers()
    elif compiled is not None:
        direct.compiled = compiled
        if not direct_error(model) <= tolerance:
            direct.compiled = None


def direct_error(model: HuggingFaceModel) -> float:
    """The difference of logits of a short text that is read as a run and then token by token."""
    ids, cache = tokens_of(model, SHORT), model.new_cache()
    half = SHORT // 2
    read = [model.read(ids[:half], range(half), None, cache, range(half))]
    read += [model.read([token], [place], None, cache, [0]) for place, token in enumerate(ids[half:], half)]
    return difference(model, np.concatenate(read), reference(model, ids, SHORT))


def tree_error(model: HuggingFaceModel, target: HuggingFaceModel | None = None) -> float:
    """The difference of a tree's logits, read in two passes, and of what follows an accepted path."""
    ids = tokens_of(model, SHORT)
    context = ids[:4]
    target_session = target.open(context) if target else None
    session = model.open(context, target_session)
    tree = TokenTree(context[-1], start=len(context) - 1)
    for parent, token in zip((0, 0, 0, 1, 1, 2, 4), ids[4:], strict=False):
        tree.add(parent, token)

    def path(node: int) -> list[int]:
        return [tree.tokens[step] for step in tree.topology.path(node)]

    # Parents and children in different passes and out of order, as a draft reads them; 7 brings its unread parent.
    read = [session.forward(tree, [3, 1, 0]), session.forward(tree, [7, 2, 5])]
    texts = [context + path(node) for node in (3, 1, 0, 7, 2, 5)]
    emitted = [*path(7), ids[12]]
    if target_session:
        target_session.forward(tree, range(len(tree)))
        target_session.commit(tree, (1, 4, 7), emitted)
    session.commit(tree, (1, 4, 7), emitted)
    tree = TokenTree(emitted[-1], start=len(session.context) - 1)
    tree.add(0, ids[13])
    read.append(session.forward(tree, [1, 0]))
    texts += [context + emitted + [ids[13]], context + emitted]
    return difference(model, np.concatenate(read), np.concatenate([reference(model, text) for text in texts]))


def long_text_error(model: HuggingFaceModel, ids: Sequence[int]) -> float:
    """The difference of two branches at the end of a long text, whose last tokens are the longer branch."""
    context, (first, second) = list(ids[:-2]), ids[-2:]
    return branch_error(model, context, [first, second, second], len(context), model.new_cache())


def slot_error(model: HuggingFaceModel, limit: int) -> float:
    """The difference of a small tree that lies in the cache far behind its text, and beyond all that is ever in use.

    Masked slots lie between them; their number must not matter, whatever window or mask a model keeps by slots.
    """
    ids = tokens_of(model, SHORT)
    config = model.model.config.get_text_config()
    each = 2 * model.layers * config.hidden_size * model.dtype.itemsize  # bytes of a slot, at most
    gap, cache = min(limit, MEMORY // each) + SHORT, model.new_cache()
    cache.used = gap
    model.read(ids[:1], [0], None, cache, [0])  # makes room up to there
    cache.used = 0
    return branch_error(model, ids[:4], ids[4:7], gap, cache)


def branch_error(
    model: HuggingFaceModel, context: Sequence[int], branch: Sequence[int], start: int, cache: TreeCache
) -> float:
    """The difference of a token's sibling and of the token after it, which lie in the cache from a slot on."""
    base = len(context)
    model.read(context, range(base), None, cache, [base - 1])
    cache.used = start
    masked = np.ones((3, start + 3), dtype=bool)
    masked[:, :base] = False
    masked[:, start:] = [[0, 1, 1], [1, 0, 1], [0, 1, 0]]
    read = model.read(branch, [base, base, base + 1], masked, cache, [1, 2])
    texts = [*context, branch[1]], [*context, branch[0], branch[2]]
    return difference(model, np.asarray(read), np.concatenate([reference(model, text) for text in texts]))


def reference(model: HuggingFaceModel, ids: Sequence[int], last: int = 1) -> np.ndarray:
    """The last rows of logits of transformers' own forward over tokens and nothing else, float32 [last, V']."""
    tokens = np.minimum(np.asarray(ids, dtype=np.int64), model.embeddings - 1)
    with torch.inference_mode(), using(model.threads.count):
        out = model.model(input_ids=torch.from_numpy(tokens).to(model.device)[None], use_cache=False)
    return out.logits[0, -last:].float().cpu().numpy()


def difference(model: HuggingFaceModel, one: np.ndarray, other: np.ndarray) -> float:
    """The root mean square of a difference of logits, in units of their spread."""
    size = min(model.vocab_size, model.embeddings, other.shape[1])  # beyond its own vocabulary a row is padded
    one, other = np.asarray(one)[:, :size], other[:, :size]
    return float(np.sqrt(np.mean((one - other) ** 2)) / (other.std() + 1e-9))


def tokens_of(model: HuggingFaceModel, count: int) -> list[int]:
    """Token ids of a text that means nothing."""
    return [(7919 * i + 11) % min(model.vocab_size, model.embeddings) for i in range(count)]
