"""transformers models that read tokens at any position, each of which sees some of the others: one
pass by the fastest way that a model has."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

import numpy as np
import torch
from transformers import PreTrainedModel

from ..sampling.distributions import Logits
from .cache import Pass, TreeCache, additive_mask
from .device_logits import DeviceLogits, push
from .direct import DirectForward, direct_forward
from .graphs import StaticPasses, cuda_graphs
from .layers import window_of
from .tree_session import HuggingFaceSession

if TYPE_CHECKING:
    from .compiled.passes import CompiledPasses


def is_spread(model: PreTrainedModel) -> bool:
    """Whether the parts of a model compute on several devices."""
    places = getattr(model, "hf_device_map", None) or {}
    return len(set(map(str, places.values())) - {"cpu", "disk"}) > 1


class HuggingFaceModel:
    """Weights of a causal language model, shared by all sessions that read with it.

    Args:
        model: a transformers model whose attention is "sdpa" or "eager".
        vocab_size: V, the width of the rows it is to give: fewer logits are padded with -inf, more
            are cut.
        layers: how many attention layers it has, where that is not what its configuration says.
        direct: its forward pass without transformers' overhead, where that has been made already.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        vocab_size: int | None = None,
        layers: int | None = None,
        direct: DirectForward | None = None,
    ) -> None:
        config = model.config.get_text_config()
        self.model = model.eval()
        embed = model.get_input_embeddings()
        self.device = embed.weight.device
        if embed.weight.is_meta and hasattr(embed, "_hf_hook"):
            # accelerate's hook knows the device of weights that are away.
            self.device = torch.device(embed._hf_hook.execution_device)
        self.dtype = model.dtype
        self.embeddings = embed.weight.shape[0]
        self.vocab_size = vocab_size or model.get_output_embeddings().weight.shape[0]
        self.layers = layers or config.num_hidden_layers
        self.direct = direct or direct_forward(model)
        # Layers that transformers computes may differ in their heads, so each has its own memory.
        self.spread = is_spread(model) or self.direct is None
        self.window = window_of(config)
        # Whether transformers wants a mask for each kind of layers, by its name.
        self.has_kinds = bool(getattr(config, "layer_types", None))
        # Whether logits stay where they are until they are read.
        self.lazy = self.device.type == "cuda"
        if self.lazy:  # cuDNN's plans a pass of each new length anew, and most lengths are new
            torch.backends.cuda.enable_cudnn_sdp(False)
        # On a GPU: passes of fixed shape, which can be captured.
        self.static = StaticPasses(self.direct) if self.lazy and self.direct is not None else None
        # Bytes of weights read per second, where passes read them from disk.
        self.disk_speed: float | None = None
        # Layers whose input is part of the features, before the last hidden state.
        self.feature_layers: tuple[int, ...] = ()
        # A hash of the weights, by which what was computed with them is found again; "" for none.
        self.weights_hash = ""

    def open(
        self, tokens: Sequence[int], target: HuggingFaceSession | None = None
    ) -> HuggingFaceSession:
        """A session that starts with `tokens`; `target` is the target's session where this model
        drafts for it."""
        return HuggingFaceSession(self, tokens)

    def new_cache(self) -> TreeCache:
        """An empty cache for one text."""
        return TreeCache(self.layers, self.spread)

    def with_features(self, layers: Sequence[int]) -> HuggingFaceModel:
        """The same weights with other features: the inputs of some layers, counted from 0, and then
        the last hidden state."""
        # A shallow copy: the weights and the compiled passes are shared.
        model = copy(self)
        model.feature_layers = tuple(layers)
        return model

    def capture_graphs(self) -> None:
        """From now on replay passes of fixed shape as CUDA graphs, where the model has such
        passes."""
        if self.static is not None:
            self.static.capture = cuda_graphs(self.device)

    def use_transformers(self) -> None:
        """From now on every pass is transformers' own."""
        self.direct = self.static = None

    def read(self, work: Pass) -> tuple[Logits, torch.Tensor | None]:
        """One forward pass, by the fastest way that the model has.

        Returns:
            Logits at the pass's rows, float32 [len(rows), V], on a GPU pulled when they are read;
            and the features there, [len(rows), width]: the inputs of `feature_layers`, and then
            the last hidden state after the final norm. None where nobody asked for them.
        """
        if self.embeddings < self.vocab_size:
            # A token that it cannot know is read as the last one that it knows.
            work = work._replace(ids=[min(token, self.embeddings - 1) for token in work.ids])
        work.cache.place(work.positions)
        features = None
        logits = None
        layers = self.feature_layers if work.wants_features else None
        # Fastest first: compiled calls, then a pass of fixed shape, which declines what it has no
        # bucket for, then torch.
        if self.compiled is not None and not work.cache.spread:
            states, logits = self.compiled.read(*work[:6], layers or ())
            if work.wants_features:
                features = torch.from_numpy(states).view(self.dtype)
        elif self.static is not None and (done := self.static(work, layers)):
            logits, features = done
        if logits is None:
            logits, features = self._pass(work)
        # Only now: until here every layer wrote behind the slots in use.
        work.cache.used = work.end
        return self.as_rows(logits), features

    def logits_of(self, states: torch.Tensor) -> Logits:
        """Logits of last hidden states after the final norm, [n, width], by the output head; as
        `read` returns them."""
        with torch.inference_mode():
            head = self.model.get_output_embeddings()
            if self.compiled:
                head = self.compiled.logits
            return self.as_rows(head(states))

    @property
    def compiled(self) -> CompiledPasses | None:
        """Its small passes as compiled calls, where it has such passes and logits are read on the
        host."""
        if self.direct is None or self.lazy:
            return None
        return self.direct.compiled

    def as_rows(self, logits: np.ndarray | torch.Tensor) -> Logits:
        """Logits as rows are made of them: on the host, or on a GPU to be pulled, `vocab_size` of
        them."""
        if isinstance(logits, torch.Tensor) and not self.lazy:
            logits = logits.float().cpu().numpy()
        # Below 0 where there are too many: a pad of that size cuts them off.
        missing = self.vocab_size - logits.shape[1]
        if self.lazy:
            padded = torch.nn.functional.pad(logits, (0, missing), value=-torch.inf)
            return DeviceLogits(padded)
        if missing > 0:
            logits = np.pad(logits, ((0, 0), (0, missing)), constant_values=-np.inf)
        return logits[:, : self.vocab_size]

    def inputs(self, ids: torch.Tensor, target_hidden: torch.Tensor | None) -> torch.Tensor:
        """What the first layer of a direct forward is given: tokens, [m], or embeddings, [m,
        width]."""
        return ids

    @torch.inference_mode()
    def _pass(self, work: Pass) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Logits [len(rows), V'] and features of a pass through torch."""
        tokens = self._push(work.ids)
        places = self._push(work.positions)
        # Picking out all rows in order would copy them for nothing.
        is_whole = list(work.rows) == list(range(len(work.ids)))
        rows = None
        if not is_whole:
            rows = self._push(work.rows)
        # Positions come from the tree and not from the slots: siblings have the same one.
        mask, window_mask = self._masks(work)
        if self.direct is not None:
            inputs = dict.fromkeys(self.feature_layers if work.wants_features else ())
            x = self.inputs(tokens, work.target_hidden)
            states = self.direct.states(x, places, mask, work.cache, rows, window_mask, inputs)
            return self.direct.head(states), torch.cat([*inputs.values(), states], dim=-1)
        attention_mask = mask
        if self.window is not None and mask is not None:
            # Families with kinds of layers take a mask for each kind by name, others one for all.
            by_kind = {"full_attention": mask, "sliding_attention": window_mask}
            attention_mask = window_mask
            if self.has_kinds:
                attention_mask = by_kind
        output = self.model(
            input_ids=tokens[None],
            position_ids=places[None],
            attention_mask=attention_mask,
            output_hidden_states=work.wants_features,
            logits_to_keep=0 if rows is None else rows,
            past_key_values=work.cache,
        )
        if not work.wants_features:
            return output.logits[0], None
        layers = [*self.feature_layers, -1]
        features = torch.cat([output.hidden_states[layer][0] for layer in layers], dim=-1)
        return output.logits[0], features if rows is None else features[rows]

    def _push(self, numbers: Sequence[int]) -> torch.Tensor:
        return push(np.asarray(numbers, dtype=np.int64), self.device)

    def _masks(self, work: Pass) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """What is added to scores in layers without a window and with one; None for a causal run
        from the first slot on."""
        masked = work.causal_mask(single=self.window is not None)
        window_masked = masked
        if masked is not None or self.direct is not None:  # transformers knows its own windows
            window_masked = work.cache.window_mask(work.positions, masked, self.window)
        dtype = self.dtype
        if self.direct is not None:
            dtype = self.direct.kv_dtype
        masks: list[torch.Tensor | None] = [None, None]
        for place, some in enumerate((masked, window_masked)):
            if some is not None:
                masks[place] = additive_mask(some, work.end, dtype, self.device)
        return masks[0], masks[1]
