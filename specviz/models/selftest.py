"""Self-test of a model: it must score every node of a tree as transformers' own pass along its path
does.

The reference is computed from token ids and nothing of ours: no mask, no positions, no cache.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..base.errors import cause
from ..passes.huggingface import HuggingFaceModel
from ..tree import TokenTree
from .loading import longest_text

# Root mean square of a difference of logits, over their standard deviation: what rounding may
# explain.
TOLERANCE = {torch.float64: 1e-5, torch.float32: 1e-3, torch.float16: 3e-2, torch.bfloat16: 1e-1}
SHORT = 14  # tokens of the text that every model reads
EFFORT = {"cpu": 5e9, "cuda": 5e11}  # parameters times tokens of the long text
MEMORY = 1 << 28  # bytes of keys and values of the masked slots between a text and its tree


def check_tree_reading(
    role: str, model: HuggingFaceModel, target: HuggingFaceModel | None = None
) -> None:
    """Read trees, accept a path, read on, and compare with transformers' own passes; see above.

    Compiled passes, and then the direct forward, are given up where they differ.
    """
    kind, tolerance = type(model.model).__name__, TOLERANCE[model.dtype]
    limit = longest_text(role, model.model.config)
    try:
        while (
            not (error := reading_error(model, target, limit)) <= tolerance
            and model.direct is not None
        ):
            if model.direct.compiled is not None:
                model.direct.compiled = None
                continue
            logging.getLogger(__name__).warning(
                "The direct forward of %s differs from transformers' by %.2g of the logits' "
                "spread; "
                "transformers' own, which is slower, is used.",
                kind,
                error,
            )
            model.leave_to_transformers()
    except Exception as reason:
        raise ValueError(
            f"{role} ({kind}) cannot read a tree under a 4-D attention mask: "
            f"{cause(reason)}. Choose another model."
        ) from reason
    if not np.isfinite(error):
        raise ValueError(
            f"{role} ({kind}) gives logits that are no numbers; load it with dtype float32."
        )
    if error > tolerance:
        raise ValueError(
            f"{role} ({kind}) scores a tree differently from transformers' own passes along "
            f"its paths (by {error:.2g} "
            "of the logits' spread): it does not follow the tree's mask and positions. "
            "Choose another model."
        )


def reading_error(model: HuggingFaceModel, target: HuggingFaceModel | None, limit: int) -> float:
    """The largest difference of logits that is found, in texts up to `limit` tokens."""
    error = tree_error(model, target)
    if not error <= TOLERANCE[model.dtype]:
        return error
    weights = sum(part.numel() for part in model.model.parameters())
    affordable = int(EFFORT.get(model.device.type, EFFORT["cpu"]) / weights)
    slot = (
        2 * model.layers * model.model.config.get_text_config().hidden_size * model.dtype.itemsize
    )  # bytes, at most
    short_text, long_text = (
        tokens_of(model, count) for count in (SHORT, min(limit, max(SHORT, affordable)))
    )
    return max(
        branch_error(model, long_text),
        branch_error(model, short_text, gap=min(limit, MEMORY // slot)),
    )


def tree_error(model: HuggingFaceModel, target: HuggingFaceModel | None = None) -> float:
    """The difference of a tree's logits, read in two passes, and of what follows an accepted
    path."""
    ids = tokens_of(model, SHORT)
    target_session = target.open(ids[:4]) if target else None
    session = model.open(ids[:4], target_session)
    tree = TokenTree(ids[3], start=3)
    for parent, token in zip((0, 0, 0, 1, 1, 2, 4), ids[4:], strict=False):
        tree.add(parent, token)
    logits, texts = list[Any](), list[list[int]]()

    def read(*nodes: int) -> None:
        logits.append(session.forward(tree, nodes))
        texts.extend(
            [*session.context, *(tree.tokens[step] for step in tree.topology.path(node))]
            for node in nodes
        )

    # Parents and children in different passes and out of order, as a draft reads them; 7 brings its
    # unread parent.
    read(3, 1, 0)
    read(7, 2, 5)
    emitted = [tree.tokens[node] for node in (1, 4, 7)] + [ids[12]]
    if target_session:
        target_session.forward(tree, range(len(tree)))
        target_session.commit(tree, (1, 4, 7), emitted)
    session.commit(tree, (1, 4, 7), emitted)
    tree = TokenTree(emitted[-1], start=len(session.context) - 1)
    tree.add(0, ids[13])
    read(0)
    read(1)
    return difference(model, np.concatenate(logits), texts)


def branch_error(model: HuggingFaceModel, ids: Sequence[int], gap: int = 0) -> float:
    """The difference of two branches at the end of a text, whose last two tokens are the longer
    branch.

    Between text and branches lie `gap` masked slots; their number must not matter, whatever window
    or mask a model keeps by slots.
    """
    context, (first, second) = ids[:-2], ids[-2:]
    base, cache = len(context), model.new_cache()
    cache.used = start = base + gap
    model.read(ids[:1], [0], None, cache, [0])  # makes room up to there
    cache.used = 0
    model.read(context, range(base), None, cache, [base - 1])
    cache.used = start
    masked = np.ones((3, start + 3), dtype=bool)
    masked[:, :base] = False
    masked[:, start:] = [[0, 1, 1], [1, 0, 1], [0, 1, 0]]
    logits = model.read([first, second, second], [base, base, base + 1], masked, cache, [1, 2])
    return difference(model, np.asarray(logits), [[*context, second], ids])


def difference(
    model: HuggingFaceModel, logits: np.ndarray, texts: Sequence[Sequence[int]]
) -> float:
    """The root mean square of what logits differ from transformers' own after each of the texts,
    over their spread."""
    rows = []
    for text in texts:
        tokens = torch.tensor([text], device=model.device).clamp(max=model.embeddings - 1)
        with torch.inference_mode():
            rows.append(
                model.model(input_ids=tokens, use_cache=False).logits[0, -1].float().cpu().numpy()
            )
    reference = np.array(rows)
    size = min(
        model.vocab_size, model.embeddings, reference.shape[1]
    )  # beyond its own vocabulary a row is padded
    logits, reference = logits[:, :size], reference[:, :size]
    return float(np.sqrt(np.mean((logits - reference) ** 2)) / (reference.std() + 1e-9))


def tokens_of(model: HuggingFaceModel, count: int) -> list[int]:
    """Token ids of a text that means nothing."""
    return [(7919 * i + 11) % min(model.vocab_size, model.embeddings) for i in range(count)]
