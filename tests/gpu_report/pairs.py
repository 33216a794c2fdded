"""What the parts of a report share: pairs as a GPU computes them, texts and trees."""

from contextlib import contextmanager
from copy import copy

import numpy as np
import torch

from specviz.base.files import TALES
from specviz.measure.this_machine import prompts
from specviz.models.heads import eagle3
from specviz.models.pair import load_pair
from specviz.passes import direct
from specviz.passes.graphs import StaticPasses
from specviz.tree import TokenTree


def load(setting, target, draft=None, dtype="float32"):
    """A pair; on a CPU it computes as on a GPU, with padded passes that are not captured."""
    if setting.on_cpu:
        never_compiled()
    pair = load_pair(target, draft, device=setting.device, dtype=dtype)
    if setting.on_cpu:
        for model in filter(None, (pair.target, pair.draft, pair.head)):
            as_on_a_gpu(model)
    return pair


def never_compiled():
    """From now on models on a CPU compute with torch, as on a GPU."""
    for module in (direct, eagle3):
        module.compiler_for = lambda model: None


def as_on_a_gpu(model):
    """Let rows stay on their device and passes have a fixed shape."""
    model.lazy = True
    forward = model if hasattr(model, "read_static") else getattr(model, "direct", None)
    if forward is not None:
        model.static = StaticPasses(forward)


@contextmanager
def cudnn_attention(is_on):
    """With cuDNN's attention, as torch has it by default, or without it, as models here do."""
    before = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(is_on)
    try:
        yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)


def without_graphs(model):
    """The same weights, with passes that are neither padded nor captured."""
    plain = copy(model)
    plain.static = None
    return plain


def text_of(pair, tokens):
    """The first `tokens` ids of a shipped text, random ones where the weights are random."""
    if is_random(pair):
        return np.random.default_rng(0).integers(0, vocabulary(pair.target), tokens).tolist()
    return pair.encode(TALES.read_text(encoding="utf-8")[: 8 * tokens])[:tokens]


def questions(pair, count):
    """Prompts that nothing was trained on."""
    return prompts(count, chat=pair.chat)


def is_random(pair):
    """Whether the target's weights are random: texts and acceptance mean nothing then."""
    return not pair.target.weights_hash


def vocabulary(model):
    """How many tokens a model knows."""
    return min(model.vocab_size, model.embeddings)


def random_tree(rng, context, nodes, tokens):
    """A tree of `nodes` nodes, the root included, each below a random one of those before it.

    Args:
        rng: of numpy.
        context: the text, whose last token is the root.
        nodes: how many.
        tokens: ids are drawn below this one.
    """
    tree = TokenTree(context[-1], start=len(context) - 1)
    for node in range(1, nodes):
        tree.add(int(rng.integers(node)), int(rng.integers(tokens)))
    return tree


def relative(found, exact):
    """The largest difference over the largest number."""
    return float(np.abs(found - exact).max() / np.abs(exact).max())
