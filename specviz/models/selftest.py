"""Self-test of a model: it must score every node of a tree as transformers' own pass along its path does.

The measure is what transformers itself computes from token ids and nothing of ours: no mask, no positions, no cache.
How much rounding may explain is measured within that path alone, reading with its own cache against reading at once,
and is capped. Three things are held against it: the direct forward, which is given up where it differs; a tree behind
a short and behind a long text; and a tree far from its text in the cache, which a model notices that goes by slots.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import torch

from ..errors import cause
from ..passes.huggingface import HuggingFaceModel
from ..passes.threads import using
from ..tree import TokenTree
from .loading import longest_text

# Root-mean-square differences of logits, in units of their own spread: what is always forgiven, and what never is.
FORGIVEN = {torch.float64: 1e-6, torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 2e-2}
DIRECT = 3  # times that for the direct forward, which in half precision rounds less often than transformers does
MOST = {torch.float64: 1e-5, torch.float32: 1e-3, torch.float16: 3e-2, torch.bfloat16: 1e-1}
PARENTS = (-1, 0, 0, 0, 1, 1, 2, 4)
SHORT = 14  # tokens of the text that every model reads
EFFORT = {"cpu": 5e9, "cuda": 5e11}  # parameters times tokens of the long text
MEMORY = 1 << 28  # bytes of keys and values between a text and its tree
LAST = 3  # rows of a text that are compared


def check_tree_reading(role: str, model: HuggingFaceModel, target: HuggingFaceModel | None = None) -> None:
    """Read trees, accept a path, read on, and compare with transformers' own passes; see above.

    A direct forward that differs from transformers' is given up, with one logged sentence.

    Args:
        role: "target" or "draft", for messages.
        model: what to test.
        target: the model it drafts for, whose cache it may share.

    Raises:
        ValueError: if the model cannot read a tree, or reads it wrongly.
    """
    kind = type(model.model).__name__
    limit = longest_text(role, model.model.config)
    far = tokens_of(model, min(limit, max(SHORT, affordable(model))))
    try:
        rounding = 4 * rounding_error(model)
        if model.direct is not None:
            check_direct(model, min(DIRECT * FORGIVEN[model.dtype] + rounding, MOST[model.dtype]))
        forgiven = FORGIVEN[model.dtype] * (1 if model.direct is None else DIRECT)
        tolerance = min(forgiven + rounding, MOST[model.dtype])
        error = tree_error(model, target)
        if error <= tolerance:
            error = max(long_text_error(model, far), slot_error(model, limit))
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
    """Hold the direct forward and its compiled passes against transformers', and give up whichever differs."""
    direct = model.direct
    assert direct is not None
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
    return difference(model, np.concatenate(read), own_rows(model, ids, SHORT))


def rounding_error(model: HuggingFaceModel) -> float:
    """The difference that rounding makes within transformers' own path: with its own cache and at once."""
    ids = tokens_of(model, SHORT)
    rows, past = own_pass(model, ids[:-LAST], None, True)
    single = []
    for token in ids[-LAST:]:
        rows, past = own_pass(model, [token], past, True)
        single.append(rows[-1])
    return difference(model, np.array(single), own_rows(model, ids))


def tree_error(model: HuggingFaceModel, target: HuggingFaceModel | None = None) -> float:
    """The difference of a tree's logits, read in two passes, and of what follows an accepted path."""
    ids = tokens_of(model, SHORT)
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
    last = session.forward(tree, [1, 0])
    apart += [_alone(model, context + emitted + [ids[13]]), _alone(model, context + emitted)]
    return difference(model, np.concatenate([*read, last]), np.array(apart))


def long_text_error(model: HuggingFaceModel, ids: Sequence[int]) -> float:
    """The difference of two branches at the end of a long text, whose last tokens are the longer branch."""
    context, branch = list(ids[:-2]), ids[-2:]
    cache, base = model.new_cache(), len(context)
    model.read(context, range(base), None, cache, [base - 1])
    hidden = np.zeros((3, base + 3), dtype=bool)
    hidden[:, base:] = [[0, 1, 1], [1, 0, 1], [0, 1, 0]]  # a token, its sibling, and the token after the first
    read = model.read([branch[0], branch[1], branch[1]], [base, base, base + 1], hidden, cache, [1, 2])
    return difference(model, np.asarray(read), np.array([_alone(model, [*context, branch[1]]), _alone(model, ids)]))


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
    model.read(ids[:4], range(4), None, cache, [3])
    cache.used = gap
    hidden = np.ones((3, gap + 3), dtype=bool)
    hidden[:, :4] = False
    hidden[:, gap:] = [[0, 1, 1], [1, 0, 1], [0, 1, 0]]
    read = model.read([ids[4], ids[5], ids[6]], [4, 4, 5], hidden, cache, [1, 2])
    paths = [[*ids[:4], ids[5]], [*ids[:5], ids[6]]]
    return difference(model, np.asarray(read), np.array([_alone(model, path) for path in paths]))


def own_pass(model: HuggingFaceModel, ids: Sequence[int], past, keep: bool, last=LAST) -> tuple[np.ndarray, object]:
    """transformers' own forward over tokens and nothing else: the last rows, float32 [<= last, V'], and its cache."""
    tokens = np.minimum(np.asarray(ids, dtype=np.int64), model.embeddings - 1)
    options = {} if past is None else {model.cache_argument: past}
    with torch.inference_mode(), using(model.threads.count):
        out = model.model(input_ids=torch.from_numpy(tokens).to(model.device)[None], use_cache=keep, **options)
    return out.logits[0, -last:].float().cpu().numpy(), getattr(out, model.cache_argument, None)


def own_rows(model: HuggingFaceModel, ids: Sequence[int], last: int = LAST) -> np.ndarray:
    """The same in one pass without a cache: the rows only."""
    return own_pass(model, ids, None, False, last)[0]


def difference(model: HuggingFaceModel, one: np.ndarray, other: np.ndarray) -> float:
    """The root mean square of a difference of logits, in units of their spread."""
    own = min(model.vocab_size, model.embeddings, other.shape[1])  # beyond its own vocabulary a row is padded
    one, other = np.asarray(one)[:, :own], other[:, :own]
    return float(np.sqrt(np.mean((one - other) ** 2)) / (other.std() + 1e-9))


def tokens_of(model: HuggingFaceModel, count: int) -> list[int]:
    """Token ids of a text that means nothing."""
    return [(7919 * i + 11) % min(model.vocab_size, model.embeddings) for i in range(count)]


def affordable(model: HuggingFaceModel) -> int:
    """How many tokens a model reads without anybody noticing that it does."""
    weights = sum(part.numel() for part in model.model.parameters())
    return int(EFFORT.get(model.device.type, EFFORT["cpu"]) / weights)


def _along(tree: TokenTree, node: int) -> list[int]:
    return [tree.tokens[step] for step in tree.topology.path(node)]


def _alone(model: HuggingFaceModel, tokens: Sequence[int]) -> np.ndarray:
    """Logits after `tokens`, from transformers' own pass."""
    return own_rows(model, tokens)[-1]
