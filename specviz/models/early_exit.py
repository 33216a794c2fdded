"""The target itself as its own draft: some of its layers, which copies no weights, or all of them
in a few bits.

Early exit (LayerSkip, Elhoushi et al. 2024) fills the first layers of the target's own cache, which
the target's pass then writes over. Behind a skipped layer (Draft & Verify, Zhang et al. 2023) keys
differ: that draft has its own cache. Layers in low precision (SubSpec, Wang et al. 2025) read and
write the target's cache too.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence

from torch import nn

from ..base.errors import ParameterError
from ..passes.huggingface import HuggingFaceModel, HuggingFaceSession
from ..sampling.distributions import Logits
from ..tree import Nodes, TokenIds, TokenTree
from .loading import layer_list


def count_layers(draft: str) -> int | None:
    """N of "early-exit:N", None for any other name."""
    kind, _, number = draft.partition(":")
    if kind != "early-exit":
        return None
    if not re.fullmatch("[1-9][0-9]{0,3}", number):
        raise ParameterError(
            "draft", 'be written like "early-exit:3", with the number of layers', draft
        )
    return int(number)


def first_layers(target: HuggingFaceModel, layers: int) -> HuggingFaceModel:
    """The target's first `layers` layers with its final norm and output head; no weight is
    copied."""
    depth = target.layers
    if not 1 <= layers < depth:
        raise ParameterError(
            "early-exit", f"be from 1 to {depth - 1}, as the target has {depth} layers", layers
        )
    return _with_layers(ShallowModel, "early-exit", target, range(layers), layers)


def without_layers(target: HuggingFaceModel, skip: Sequence[int]) -> HuggingFaceModel:
    """The target without the layers `skip`, counted from 1; no weight is copied."""
    depth = target.layers
    if not set(skip) <= set(range(2, depth + 1)):
        raise ParameterError(
            "layer-skip.skip", f"be from 2 to {depth}, as the target has {depth} layers", skip
        )
    others = [layer for layer in range(depth) if layer + 1 not in skip]
    # A layer keeps its number, by which transformers finds its keys, so the cache has all of them.
    return _with_layers(HuggingFaceModel, "layer-skip", target, others, depth)


def in_low_precision(target: HuggingFaceModel, bits: int) -> ShallowModel:
    """The target with its matrices in so many bits, kept in memory; embeddings and cache are the
    target's.

    Raises:
        ParameterError: if the target has no compiled passes, or odd sizes.
    """
    direct = copy.copy(target.direct)
    compiled = target.compiled
    if direct is None or compiled is None:
        must = (
            "have a target with compiled passes: Llama-like, in bfloat16 or float32, on a CPU with "
            "numba, of at most 512 MiB, and as exact as transformers' own pass"
        )
        raise ParameterError("quantized", must, hint="Choose another drafter.")
    sizes = (direct.embed.shape[1], direct.heads * direct.width, direct.mlp)
    if any(size % compiled.GROUP for size in sizes):
        must = f"have a target whose widths are multiples of {compiled.GROUP}"
        raise ParameterError("quantized", must, sizes, "Choose another drafter.")
    # Only the matrices are copies: embeddings and cache stay those of the target.
    direct.compiled = compiled.in_low_precision(direct.each_layer(), direct.head.weight, bits)
    return ShallowModel(target.model, target.vocab_size, target.layers, direct)


def _with_layers(
    kind: type[HuggingFaceModel],
    drafter: str,
    target: HuggingFaceModel,
    layer_ids: Sequence[int],
    cache_layers: int,
) -> HuggingFaceModel:
    """A model of the target's layers `layer_ids`, with a direct forward where the target has one
    and a cache of so many layers."""
    path = layer_list(drafter, target.model, target.layers).split(".")
    model = shortened(target.model, path, layer_ids)
    direct = target.direct and target.direct.of(layer_ids, model)
    # The forward pass is cut as well, so a draft of compiled layers stays compiled.
    draft = kind(model, layers=cache_layers, direct=direct)
    if target.weights_hash:
        draft.weights_hash = f"{target.weights_hash} layers {list(layer_ids)}"
    return draft


def shortened(module: nn.Module, path: list[str], layer_ids: Sequence[int]) -> nn.Module:
    """`module` with the list at `path` cut to `layer_ids`; only the modules along the path are new
    objects."""
    if not path:
        return nn.ModuleList(module[layer] for layer in layer_ids)
    # A shallow copy along the path only: every weight stays the target's own.
    clone = copy.copy(module)
    # Dictionaries of their own: what is hooked to the draft later must not reach the target.
    for name, value in vars(module).items():
        if "_hooks" in name:
            setattr(clone, name, copy.copy(value))
    # accelerate's wrapped forward is bound to the whole module.
    if "_hf_hook" in vars(clone):
        for name in ("forward", "_old_forward", "_hf_hook"):
            vars(clone).pop(name, None)
    clone._modules = module._modules | {
        path[0]: shortened(module._modules[path[0]], path[1:], layer_ids)
    }
    return clone


class ShallowModel(HuggingFaceModel):
    """The first layers of a target, or all of them in low precision."""

    def open(
        self, tokens: TokenIds, target: HuggingFaceSession | None = None
    ) -> HuggingFaceSession:
        assert target is not None  # whose cache the layers share
        return EarlyExitSession(self, tokens, target)


class EarlyExitSession(HuggingFaceSession):
    """A draft that reads with the target's own layers into the target's own cache."""

    def __init__(
        self, model: HuggingFaceModel, tokens: TokenIds, target: HuggingFaceSession
    ) -> None:
        super().__init__(model, tokens, target.cache)
        self.target = target
        # What stands for this session in the cache: the session itself would make a circle, which
        # keeps weights in memory after the pair is gone.
        self._mark = object()

    def forward(self, tree: TokenTree, nodes: Nodes) -> Logits:
        # Another draft may share the cache as well.
        if tree is not self._tree or self.cache.writer is not self._mark:
            self._forget()
            self._read = self.target._read
            self.cache.writer = self._mark
        self.target._forget()  # its tree, if it has read one, is about to be overwritten
        return super().forward(tree, nodes)

    def commit(self, tree: TokenTree, path: Nodes, emitted: TokenIds) -> None:
        self.context.extend(emitted)
        self._forget()
