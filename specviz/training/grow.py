"""A wider and deeper model that computes what a smaller one did: training goes on instead of beginning again.

Unlike distillation nothing is learnt anew. Added channels are written by random weights and read by none, added heads
and neurons read the text and write nothing, added layers pass on what they get (Chen et al. 2016, Net2Net; Gong et al.
2019, for depth). Only the output head reads the added channels at once: they start small.
"""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from .distil import new_model
from .recipe import Shape

SMALL = 0.005


def shape_of(config: LlamaConfig) -> Shape:
    """The sizes of a Llama."""
    return Shape(config.hidden_size, config.num_hidden_layers, config.num_attention_heads, config.intermediate_size)


@torch.no_grad()
def grow(model: LlamaForCausalLM, shape: Shape) -> LlamaForCausalLM:
    """A model of `shape` that starts as nearly the same function as `model`, in float32.

    Raises ValueError if `shape` is smaller anywhere, or has heads of another size.
    """
    config = model.config
    now = shape_of(config)
    if now == shape:
        return model.float()
    smaller = any(getattr(shape, size) < getattr(now, size) for size in ("hidden", "layers", "heads", "mlp"))
    if smaller or now.hidden * shape.heads != shape.hidden * now.heads:
        raise ValueError(f"a grown model must be larger everywhere, with heads as wide; got {shape} after {now}.")
    grown = new_model(
        config.vocab_size, config.max_position_embeddings,
        hidden=shape.hidden, layers=shape.layers, heads=shape.heads, mlp=shape.mlp,
    )  # fmt: skip
    old = {name: p.float() for name, p in model.named_parameters()}
    # The mean square over more channels, the added ones silent, is smaller by this factor squared.
    quieter = (now.hidden / shape.hidden) ** 0.5
    for name, p in grown.named_parameters():
        part = old.get(name)
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            _write(p, part, SMALL)
        elif p.ndim == 1:
            p.fill_(quieter)
            if part is not None:
                p[: len(part)] = part * quieter
        elif part is not None and "embed_tokens" in name:
            p[:, : part.shape[1]] = part
            p[:, part.shape[1] :] *= SMALL / 0.02
        elif part is not None:
            p[: part.shape[0], : part.shape[1]] = part
            p[: part.shape[0], part.shape[1] :] = 0.0
    return grown


def _write(p: torch.Tensor, part: torch.Tensor | None, scale: float) -> None:
    """An output matrix: the old part as it was, random into added channels, nothing from added heads and neurons."""
    if part is None:
        p.zero_()
        return
    rows, columns = part.shape
    p[rows:, :columns] *= scale / 0.02
    p[:, columns:] = 0.0
    p[:rows, :columns] = part
