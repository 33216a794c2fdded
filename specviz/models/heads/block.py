"""A block drafter: one pass gives the distributions of the next positions (DFlash, arXiv
2602.06036), each conditioned on the token before it where that is asked for (the Markov head of
DSpark, 2607.05147).

The block is the root and the places behind it, whose tokens are unknown. Every place begins as the
target's last hidden state before the root plus a learnt vector, the root's also with its embedding.
Each layer attends to the whole block, and to keys and values that it makes of the target's hidden
states along the text. Unlike DFlash the place of the root predicts too, and of a small target the
last hidden state alone is read.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers.models.llama.modeling_llama import LlamaDecoderLayer

from ...base.codec import JsonObject
from ...base.errors import ParameterError
from ...passes.cache import TreeCache
from ...passes.direct import attend
from ...passes.huggingface import HuggingFaceModel
from ...sampling.distributions import Logits
from ...tree import Nodes, TokenIds, TokenTree
from .draft_logits import on_target_vocabulary
from .eagle3 import attention_dtype
from .eagle3_head import rotary_table, rotate
from .folder import layer_config, load_drafter

# (number of a layer, its queries, keys and values of the block) -> what attention makes of them
Attention = Callable[[int, Tensor, Tensor, Tensor], Tensor]


class BlockHead(nn.Module):
    """The weights, and the arithmetic that training and drafting share.

    Args:
        sizes: "width", "heads", "kv_heads", "mlp", "layers", "eps"; "positions", of the longest
            text; "block", how many tokens one pass predicts; "vocabulary", how many tokens it can
            propose, and "rank" of the Markov head. Two may be missing: "features", the layers of
            the target whose inputs it reads beside the last hidden state, and "chosen", true where
            it proposes some of the target's tokens and has a table of their `ids`.
    """

    def __init__(self, sizes: JsonObject) -> None:
        super().__init__()
        self.sizes = sizes
        width = sizes["width"]
        layer = layer_config(sizes)
        self.block: int = sizes["block"]
        features = sizes.get("features", [])
        if features:
            self.fc = nn.Linear((len(features) + 1) * width, width, bias=False)
        self.ids: Tensor | None
        ids = None
        if sizes.get("chosen"):
            ids = torch.zeros(sizes["vocabulary"], dtype=torch.long)
        self.register_buffer("ids", ids)
        self.layers = nn.ModuleList(LlamaDecoderLayer(layer, 0) for _ in range(sizes["layers"]))
        self.hidden_norm = nn.RMSNorm(width, eps=sizes["eps"])
        self.norm = nn.RMSNorm(width, eps=sizes["eps"])
        # What tells the places of a block apart, and the two halves of the Markov head.
        self.places = nn.Parameter(torch.zeros(self.block, width))
        self.markov_in = nn.Linear(sizes["rank"], sizes["vocabulary"], bias=False)
        self.markov_out = nn.Linear(sizes["rank"], sizes["vocabulary"], bias=False)
        self.head_dim = width // sizes["heads"]
        self.scale = self.head_dim**-0.5
        self.rotary = rotary_table(layer, sizes["positions"] + self.block, torch.float32)

    def _split(self, product: Tensor) -> Tensor:
        """[rows, m, heads * head_dim] as [rows, heads, m, head_dim]."""
        return product.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)

    def text_states(self, features: Tensor) -> Tensor:
        """The states [..., width] of a text's tokens from the target's features, of which the last
        hidden state is the last part."""
        if "features" in self.sizes:
            return self.fc(features)
        return features[..., -self.sizes["width"] :]

    def text_keys_values(
        self, states: Tensor, cos: Tensor, sin: Tensor
    ) -> list[tuple[Tensor, Tensor]]:
        """Keys and values of a text for each layer, [rows, heads, m, head_dim] each.

        Args:
            states: of the text's tokens, [rows, m, width].
            cos, sin: of their positions, [m, head_dim].
        """
        # Keys of the text are made once for each layer and kept; the text itself is read by none.
        normed = self.hidden_norm(states)
        return [self._keys_values(layer, normed, cos, sin) for layer in self.layers]

    def _keys_values(
        self, layer: nn.Module, x: Tensor, cos: Tensor, sin: Tensor
    ) -> tuple[Tensor, Tensor]:
        keys = rotate(self._split(layer.self_attn.k_proj(x)), cos, sin)
        return keys, self._split(layer.self_attn.v_proj(x)).to(cos.dtype)

    def begin(self, before: Tensor, roots: Tensor) -> Tensor:
        """What the first layer is given of blocks, [..., block, width], from the states before
        their roots and the roots' embeddings, [..., width] each."""
        states = before[..., None, :] + self.places
        return torch.cat([states[..., :1, :] + roots[..., None, :], states[..., 1:, :]], dim=-2)

    def states(self, x: Tensor, cos: Tensor, sin: Tensor, attention: Attention) -> Tensor:
        """States [rows, m, width] for the target's output head.

        Args:
            x: the block's places, [rows, m, width].
            cos, sin: of their positions, [m, head_dim].
            attention: over the text and the block.
        """
        for number, layer in enumerate(self.layers):
            normed = layer.input_layernorm(x)
            q = rotate(self._split(layer.self_attn.q_proj(normed)), cos, sin)
            k, v = self._keys_values(layer, normed, cos, sin)
            mixed = attention(number, q, k, v).transpose(1, 2).flatten(2)
            x = x + layer.self_attn.o_proj(mixed.to(x.dtype))
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        return self.norm(x)

    def after(self, tokens: Tensor, columns: Tensor | None = None) -> Tensor:
        """What the Markov head adds to the logits of its tokens behind `tokens`, [..., vocabulary],
        or to those of `columns` alone, [..., len(columns)]; nothing behind a token it has not."""
        rows = self.markov_out.weight
        if columns is not None:
            rows = rows[columns]
        if self.ids is None:
            return self.markov_in.weight[tokens] @ rows.T
        numbers = torch.searchsorted(self.ids, tokens).clamp(max=len(self.ids) - 1)
        is_known = self.ids[numbers] == tokens
        return is_known[..., None] * (self.markov_in.weight[numbers] @ rows.T)


def load_block(folder: Path, target: HuggingFaceModel, markov: bool) -> BlockModel:
    """The block drafter in a folder, ready to draft for a target; errors as for `load_drafter`, or
    if the target gives other features than it reads."""
    head = load_drafter("block", folder, target, BlockHead)
    layers = head.sizes.get("features", list(target.feature_layers))
    if list(target.feature_layers) != layers:
        raise ParameterError(
            "drafter block",
            f"be given the inputs of the target's layers {', '.join(map(str, layers))}",
            list(target.feature_layers),
            "Load the EAGLE-3 head that it was trained beside as the draft.",
        )
    return BlockModel(target, head, markov)


class BlockModel:
    """A block drafter with its target's embeddings and output head around it.

    Args:
        target: the target.
        head: the weights.
        markov: whether a row follows from the token before it too, and not from its depth alone.
    """

    def __init__(self, target: HuggingFaceModel, head: BlockHead, markov: bool) -> None:
        self.target = target
        self.head = head.to(target.device, target.dtype).eval().requires_grad_(False)
        self.markov = markov
        self.output_rows: Tensor | None = None  # those of the tokens that it can propose
        if head.ids is not None:
            self.output_rows = target.model.get_output_embeddings().weight[head.ids]
        self.rotary = head.rotary.to(target.device, attention_dtype(target))

    def open(self, tokens: TokenIds, target: object = None) -> BlockSession:
        """A session that starts with `tokens`."""
        return BlockSession(self, tokens)


class BlockSession:
    """A block drafter on one text: `take` gives it the target's features.

    Attributes:
        context: the committed token ids.
        block: how many levels of a tree have a row.
        passes: how many blocks were computed.
    """

    def __init__(self, model: BlockModel, tokens: TokenIds) -> None:
        self.model = model
        self.context = list(tokens)
        self.block = model.head.block
        self.passes = 0
        self._cache = TreeCache(len(model.head.layers))
        self._state: Tensor | None = None  # before the root
        self._logits: Tensor | None = None  # of this step's block, [block, V]

    @torch.inference_mode()
    def take(self, features: Tensor) -> None:
        """The target's features of the tokens that were committed, but for the last, [n, width]."""
        if not len(features):
            return
        states = self.model.head.text_states(features[None].to(self.model.target.dtype))
        start = self._cache.used
        cos, sin = self.model.rotary[:, start : start + len(features)]
        for layer, (k, v) in enumerate(self.model.head.text_keys_values(states, cos, sin)):
            self._cache.update(k, v, layer)
        self._cache.used += len(features)
        self._state = states[0, -1]

    @torch.inference_mode()
    def forward(self, tree: TokenTree, nodes: Nodes) -> Logits:
        """Logits after `nodes`, none of which is deeper than `block` - 1; a pass with the first of
        a step."""
        target = self.model.target
        # One pass for the whole block, at the first question of a step; later ones look rows up.
        if self._logits is None:
            states = self._block_states(tree.tokens[0])
            rows = self.model.output_rows
            if rows is None:
                logits = target.model.get_output_embeddings()(states)
            else:
                logits = states @ rows.T
            self._logits = logits.float()
            self.passes += 1
        depths = torch.tensor([tree.depths[node] for node in nodes], device=target.device)
        logits = self._logits[depths]
        if self.model.markov:
            tokens = torch.tensor([tree.tokens[node] for node in nodes], device=target.device)
            # Nothing after the root: the block has read it.
            logits = logits + (depths > 0)[:, None] * self.model.head.after(tokens)
        ids = self.model.head.ids
        if ids is None:
            return target.as_rows(logits)
        return on_target_vocabulary(logits, ids, target.vocab_size, target.lazy)

    def _block_states(self, root: int) -> Tensor:
        """The states of the block behind the text, [block, width]."""
        head = self.model.head
        embedding = self.model.target.model.get_input_embeddings()
        token = torch.tensor(root, device=self.model.target.device)
        assert self._state is not None  # `take` came before
        x = head.begin(self._state, embedding(token))[None]
        start = self._cache.used
        cos, sin = self.model.rotary[:, start : start + head.block]

        def attention(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            # The block's keys stand behind the text's until the next commit writes over them.
            keys, values = self._cache.update(k, v, layer)
            return attend(q, keys, values, None, False, head.scale)

        return head.states(x, cos, sin, attention)[0]

    def commit(self, tree: TokenTree, path: Nodes, emitted: TokenIds) -> None:
        """See `Session.commit`; the features of the new tokens come by `take`."""
        self.context.extend(emitted)
        self._logits = None
