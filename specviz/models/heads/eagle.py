"""EAGLE's layer: from a hidden state f_j and the next token's embedding to the next hidden state
(Li et al. 2024).

What it reads at place j is the token at j + 1 of the text, so its context is the text without its
first token. Along the text f is the target's own; below the root it is the layer's guess at the
parent, which no commit keeps.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from transformers import LlamaForCausalLM

from ...base.codec import JsonObject
from ...base.errors import ParameterError
from ...passes.direct import direct_forward
from ...passes.families import MOST_POSITIONS
from ...passes.huggingface import HuggingFaceModel, HuggingFaceSession
from ...sampling.distributions import Logits
from ...tree import Nodes, TokenIds, TokenTree
from .folder import layer_config, load_drafter

if TYPE_CHECKING:
    from ...passes.compiled.passes import CompiledPasses


class EagleLayer(nn.Module):
    """The joining matrix and a decoder layer with its norm; sizes: width, heads, kv_heads, mlp,
    positions, eps."""

    def __init__(self, sizes: JsonObject) -> None:
        super().__init__()
        self.sizes = sizes
        width = sizes["width"]
        if sizes["positions"] > MOST_POSITIONS:
            raise ParameterError("positions", f"be at most {MOST_POSITIONS:,}", sizes["positions"])
        self.join = nn.Linear(2 * width, width, bias=False)
        config = layer_config(
            sizes, vocab_size=1, tie_word_embeddings=True, bos_token_id=None, eos_token_id=None
        )
        self.llama = LlamaForCausalLM(config)

    def forward(self, features: Tensor, embeddings: Tensor) -> Tensor:
        """Guesses [rows, m, width] of the features one place on, from features and the next tokens'
        embeddings."""
        x = self.join(torch.cat([features, embeddings], dim=-1))
        return self.llama.model(inputs_embeds=x, use_cache=False).last_hidden_state


def load_layer(folder: Path, target: HuggingFaceModel) -> EagleModel:
    """The layer in a folder, ready to draft for a target; errors as for `load_drafter`."""
    return EagleModel(target, load_drafter("eagle", folder, target, EagleLayer))


class EagleModel(HuggingFaceModel):
    """A layer that reads features beside tokens, and the target's embeddings and output head around
    it."""

    def __init__(self, target: HuggingFaceModel, layer: EagleLayer) -> None:
        layer = layer.to(target.device, target.dtype).eval()
        direct = direct_forward(layer.llama)
        assert direct is not None  # a Llama layer of a size that `EagleLayer` checks
        super().__init__(layer.llama, target.vocab_size, direct=direct)
        direct.head = target.model.get_output_embeddings()
        self.target = target
        self.join = layer.join
        self.embeddings = target.embeddings

    def open(self, tokens: TokenIds, target: HuggingFaceSession | None = None) -> EagleSession:
        return EagleSession(self, tokens)

    @cached_property
    def compiled(self) -> CompiledPasses | None:
        layer = super().compiled
        target = self.target.compiled
        if layer is None or target is None:
            return None
        return layer.after(self.join.weight, target)

    def text_states(self, features: Tensor) -> Tensor:
        """The states of a text's tokens, [n, width], from the target's features: the last of
        them."""
        return features[:, -self.join.out_features :]

    def logits_of(self, states: Tensor) -> Logits:
        """Logits of guessed states, by the target's output head."""
        return self.target.logits_of(states)

    def inputs(self, ids: Tensor, target_hidden: Tensor | None) -> Tensor:
        return self.join(
            torch.cat([target_hidden, self.target.model.get_input_embeddings()(ids)], dim=-1)
        )


class EagleSession(HuggingFaceSession):
    """The layer, or an EAGLE-3 head, on one text: `take` gives it the target's features, and its
    own features are its guesses."""

    model: Any  # an `EagleModel` or an `Eagle3Model`

    def __init__(self, model: Any, tokens: TokenIds) -> None:
        super().__init__(model, tokens[1:])
        self._features = {}
        # The states of the text but its last token, from token `_states_from` on: those before
        # were read, and a text of n tokens would be copied n times.
        self._states: Tensor | None = None
        self._states_from = 0

    def take(self, features: Tensor) -> None:
        """The target's features of the tokens that were committed, but for the last, in order, [n,
        width]."""
        states = self.model.text_states(features)
        if self._states is not None:
            states = torch.cat([self._states[self._read - self._states_from :], states])
            self._states_from = self._read
        self._states = states

    def forward(self, tree: TokenTree, nodes: Nodes) -> Logits:
        """Logits after each of `nodes`: a pass for each level among them, as a token's input is its
        parent's guess."""
        nodes = self._begin(tree, nodes)
        levels: dict[int, list[int]] = {}
        for node in self._slots.unread(tree, nodes):
            levels.setdefault(tree.depths[node], []).append(node)
        logits = None
        # Level by level: what a node is given is its parent's guess, which the pass before has
        # made.
        for depth in sorted(levels):
            logits = super().forward(tree, levels[depth])
        if [nodes] == list(levels.values()):
            return logits
        return self.model.logits_of(self.features(nodes))

    def commit(self, tree: TokenTree, path: Nodes, emitted: TokenIds) -> None:
        super().commit(tree, (), emitted)

    def _target_hidden(self, run, order):
        tree = self._tree
        states = self._states
        first = self._states_from
        assert tree is not None and states is not None  # `take` and `forward` came before
        # Committed tokens get the target's own states, nodes the guesses at their parents.
        read = states[run.start - first : run.stop - first]
        if order and order[0] != 0:
            parents = self.features([tree.parents[node] for node in order])
        else:  # the root alone, or nothing
            parents = states[self._base - first :][: len(order)]
        return torch.cat([read, parents]).to(self.model.dtype)
