"""Models of the pair, how one grows, and the loss by which the draft learns the target's distributions."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel

from .recipe import Shape

SHARPEST = 0.5
ROWS_AT_ONCE = {True: 256, False: 8192}


def new_model(vocabulary: int, window: int, *, hidden: int, layers: int, heads: int, mlp: int) -> LlamaForCausalLM:
    """A Llama with tied embeddings and random weights, in float32; end-of-text is token 0."""
    config = LlamaConfig(
        vocab_size=vocabulary,
        max_position_embeddings=window,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=mlp,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=0,
    )
    return LlamaForCausalLM(config)


@torch.no_grad()
def warm_start(draft: PreTrainedModel, target: PreTrainedModel) -> None:
    """Give the draft the target's embeddings along their main directions; at equal sizes, its first layers too."""
    theirs = dict(target.base_model.named_parameters())
    embeddings = target.get_input_embeddings().weight.float()
    width = draft.config.hidden_size
    if width != embeddings.shape[1]:
        directions = torch.linalg.svd(embeddings, full_matrices=False).Vh[:width]
        theirs = {"embed_tokens.weight": embeddings @ directions.T}
    for name, ours in draft.model.named_parameters():
        if name in theirs and theirs[name].shape == ours.shape:
            ours.copy_(theirs[name])


def draft_loss(draft: PreTrainedModel, head: torch.Tensor, rows: dict[str, torch.Tensor], share: float) -> torch.Tensor:
    """From cross-entropy with the target's distributions to total variation, as `share` goes from 0 to 1.

    `head` is the target's output matrix (vocabulary, hidden), `rows` a slice of a shard. Cross-entropy teaches
    quickly where the draft is far off; 1 - total variation is the acceptance rate itself (Leviathan et al. 2023,
    arXiv:2211.17192, section 3.2). Every row is judged at the temperature it was drawn at, but not below
    `SHARPEST`, where gradients vanish.
    """
    tokens = rows["tokens"].to(head.device, torch.long)
    states = draft.model(tokens).last_hidden_state
    temperatures = rows["temperatures"].to(head.device).clamp(min=SHARPEST)[:, None].expand(tokens.shape)
    theirs = rows["states"].to(head)
    return _HeadLoss.apply(
        states.flatten(0, 1), draft.lm_head.weight, theirs.flatten(0, 1), head, temperatures.reshape(-1, 1), share
    )


class _HeadLoss(torch.autograd.Function):
    """The loss and its gradient through the draft's output head, a few positions at a time.

    A distribution over the vocabulary is ten times larger than the states it is made from. A few rows of it stay in
    the processor's cache; whole batches of them under automatic differentiation cost twice the time on a CPU.
    """

    @staticmethod
    def forward(ctx, states, weight, target_states, target_weight, temperatures, share):
        narrow = target_weight.dtype
        ours, matrix = states.to(narrow), weight.to(narrow)
        d_states, d_weight = torch.empty_like(ours), torch.zeros_like(weight)
        loss, size = 0.0, ROWS_AT_ONCE[states.device.type == "cpu"]
        parts = (x.split(size) for x in (ours, target_states, temperatures, d_states))
        for our_part, their_part, heat, d_part in zip(*parts, strict=True):
            p = torch.softmax((their_part @ target_weight.T).float().div_(heat), -1)
            logits = (our_part @ matrix.T).float().div_(heat)
            norm = logits.logsumexp(-1, keepdim=True)
            q = (logits - norm).exp_()
            below = (q < p).float()
            inside = (q * below).sum(-1, keepdim=True)
            accepted = inside + (p * (1 - below)).sum(-1, keepdim=True)
            cross_entropy = norm - (p * logits).sum(-1, keepdim=True)
            loss += ((1 - share) * cross_entropy + 2 * share * (1 - accepted)).sum()
            # d cross-entropy = q - p; d (1 - accepted) = q (inside - below), both with respect to the scaled logits.
            slope = below.neg_().add_(inside).mul_(2 * share).add_(1 - share).mul_(q).sub_(p, alpha=1 - share)
            slope = slope.div_(heat * len(states)).to(narrow)
            torch.mm(slope, matrix, out=d_part)
            d_weight += slope.T @ our_part
        ctx.save_for_backward(d_states.to(states.dtype), d_weight)
        return loss / len(states)

    @staticmethod
    def backward(ctx, d_loss):
        d_states, d_weight = ctx.saved_tensors
        return d_states * d_loss, d_weight * d_loss, None, None, None, None


SMALL = 0.005


def shape_of(config: LlamaConfig) -> Shape:
    """The sizes of a Llama."""
    return Shape(config.hidden_size, config.num_hidden_layers, config.num_attention_heads, config.intermediate_size)


@torch.no_grad()
def grow(model: LlamaForCausalLM, shape: Shape) -> LlamaForCausalLM:
    """A model of `shape` that starts as nearly the same function as `model`, in float32.

    Added channels are written by random weights and read by none, added heads and neurons read the text and write
    nothing, added layers pass on what they get (Chen et al. 2016, Net2Net; Gong et al. 2019, for depth). Only the
    output head reads the added channels at once: they start small.

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
