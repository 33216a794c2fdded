"""transformers models that read token trees: one pass over any nodes, and a commit that keeps the
accepted path.

A pass reads committed tokens that the model has not read yet (a causal run: the prompt at first,
later the last accepted token where it was a leaf), and then the nodes asked for with the ancestors
that it has not read. Every node sits in its own slot of the cache; a mask lets it attend to the
text, its ancestors and itself, and its position is the length of the text plus its depth, whatever
its slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..tree import TokenTree
from .cache import Slots, TreeCache, additive_mask
from .device_logits import DeviceLogits, push
from .direct import DirectForward, direct_forward
from .graphs import StaticPasses, cuda_graphs

# Committed tokens read in one pass before the tree joins in: bounds the size of the mask.
MAX_RUN = 512


def is_spread(model: Any) -> bool:
    """Whether the parts of a model compute on several devices."""
    places = getattr(model, "hf_device_map", None) or {}
    return len({str(place) for place in places.values()} - {"cpu", "disk"}) > 1


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
        model: torch.nn.Module,
        vocab_size: int | None = None,
        layers: int | None = None,
        direct: DirectForward | None = None,
    ) -> None:
        config = model.config.get_text_config()
        self.model = model.eval()
        # accelerate's hook knows the device of weights that are away
        embed = model.get_input_embeddings()
        hook = getattr(embed, "_hf_hook", None) if embed.weight.is_meta else None
        self.device = embed.weight.device if hook is None else torch.device(hook.execution_device)
        self.dtype, self.embeddings = model.dtype, embed.weight.shape[0]
        self.vocab_size = vocab_size or model.get_output_embeddings().weight.shape[0]
        self.layers = layers or config.num_hidden_layers
        self.spread = is_spread(model)
        self.direct = direct or direct_forward(model)
        # whether logits stay where they are until they are read
        self.lazy = self.device.type == "cuda"
        # On a GPU: passes of fixed shape, which can be captured.
        self.static = StaticPasses(self.direct) if self.lazy and self.direct is not None else None
        # bytes of weights read per second, where passes read them from disk
        self.disk_speed: float | None = None
        # layers whose input is part of the features, before the last hidden state
        self.feature_layers: tuple[int, ...] = ()

    def open(self, tokens: Sequence[int], target: Any = None) -> HuggingFaceSession:
        """A session that starts with `tokens`; `target` is the target's session where this model
        drafts for it."""
        return HuggingFaceSession(self, tokens)

    def new_cache(self) -> TreeCache:
        """An empty cache for one text."""
        return TreeCache(self.layers, self.spread)

    def capture_graphs(self) -> None:
        """From now on replay passes of fixed shape as CUDA graphs, where the model has such
        passes."""
        if self.static is not None:
            self.static.capture = cuda_graphs(self.device)

    def leave_to_transformers(self) -> None:
        """From now on every pass is transformers' own."""
        self.direct = self.static = None

    def read(
        self,
        ids: Sequence[int],
        positions: Sequence[int],
        masked: np.ndarray | None,
        cache: TreeCache,
        rows: Sequence[int],
        features: list[torch.Tensor] | None = None,
        target_hidden: torch.Tensor | None = None,
    ) -> np.ndarray | DeviceLogits:
        """One forward pass.

        Args:
            ids, positions: the tokens to read and where they stand in the text, [m].
            masked: which of the last slots each token must not see, bool [m, <= slots in use + m];
                None for a plain causal run.
            cache: where keys and values are.
            rows: which of the m tokens need logits.
            features: where to put the features at `rows`, [len(rows), width]: the inputs of
                `feature_layers`, and then the last hidden state after the final norm.
            target_hidden: hidden states to read with the tokens, [m, width], of a model that takes
                them.

        Returns:
            Logits after those tokens, float32 [len(rows), V], on a GPU pulled when they are read.
        """
        if self.embeddings < self.vocab_size:
            # a token that it cannot know is read as the last one that it knows
            ids = [min(token, self.embeddings - 1) for token in ids]
        compiled = None if cache.spread else self.compiled
        logits: Any = None
        if compiled is not None:
            layers = () if features is None else self.feature_layers
            states, logits = compiled.read(
                ids, positions, masked, cache, rows, target_hidden, layers
            )
        elif self.static is not None and features is None:
            logits = self.static(ids, positions, masked, cache, rows)
        if logits is None:
            states, logits = self._pass(
                ids, positions, masked, cache, rows, target_hidden, features is not None
            )
        cache.used += len(ids)
        if features is not None:
            features.append(
                states if compiled is None else torch.from_numpy(states).view(self.dtype)
            )
        return self.as_rows(logits)

    def logits_of(self, states: torch.Tensor) -> np.ndarray | DeviceLogits:
        """Logits of last hidden states after the final norm, [n, width], by the output head; as
        `read` returns them."""
        with torch.inference_mode():
            head = self.compiled.logits if self.compiled else self.model.get_output_embeddings()
            return self.as_rows(head(states))

    @property
    def compiled(self) -> Any:
        """Its small passes as compiled calls, where it has such passes and logits are read on the
        host."""
        return None if self.direct is None or self.lazy else self.direct.compiled

    def as_rows(self, logits: Any) -> np.ndarray | DeviceLogits:
        """Logits as rows are made of them: on the host, or on a GPU to be pulled, `vocab_size` of
        them."""
        if isinstance(logits, torch.Tensor) and not self.lazy:
            logits = logits.float().cpu().numpy()
        missing = self.vocab_size - logits.shape[1]
        if missing > 0 and self.lazy:
            logits = torch.nn.functional.pad(logits, (0, missing), value=-np.inf)
        elif missing > 0:
            logits = np.pad(logits, ((0, 0), (0, missing)), constant_values=-np.inf)
        logits = logits[:, : self.vocab_size]
        return DeviceLogits(logits) if self.lazy else logits

    def inputs(self, ids: torch.Tensor, target_hidden: torch.Tensor | None) -> torch.Tensor:
        """What the first layer of a direct forward is given: tokens, [m], or embeddings, [m,
        width]."""
        return ids

    @torch.inference_mode()
    def _pass(
        self, ids, positions, masked, cache, rows, target_hidden, wants_states
    ) -> tuple[Any, torch.Tensor]:
        """Features, None where nobody wants them, and logits [len(rows), V']; arguments as for
        `read`."""
        keep: torch.Tensor | None = None
        if list(rows) != list(range(len(ids))):
            keep = push(np.asarray(rows, dtype=np.int64), self.device)
        if masked is None and cache.used and len(ids) > 1:
            masked = ~np.tri(len(ids), dtype=bool)  # torch's "causal" begins at the first slot
        mask: torch.Tensor | None = None
        if masked is not None:
            dtype = self.dtype if self.direct is None else self.direct.kv_dtype
            mask = additive_mask(masked, cache.used + len(ids), dtype, self.device)
        ids, positions = (
            push(np.asarray(numbers, dtype=np.int64), self.device) for numbers in (ids, positions)
        )
        if self.direct is not None:
            inputs = dict.fromkeys(self.feature_layers if wants_states else ())
            states = self.direct.states(
                self.inputs(ids, target_hidden), positions, mask, cache, keep, inputs
            )
            features = torch.cat([*inputs.values(), states], dim=-1) if inputs else states
            return features, self.direct.head(states)
        output = self.model(
            input_ids=ids[None],
            position_ids=positions[None],
            attention_mask=mask,
            output_hidden_states=wants_states,
            logits_to_keep=0 if keep is None else keep,
            past_key_values=cache,
        )
        if not wants_states:
            return None, output.logits[0]
        layers = [*self.feature_layers, -1]
        features = torch.cat([output.hidden_states[layer][0] for layer in layers], dim=-1)
        return features if keep is None else features[keep], output.logits[0]


class HuggingFaceSession:
    """One model reading one text and the tree that is tried after it.

    Args:
        model: the weights.
        tokens: the text so far, at least one token.
        cache: where to keep what it reads; a cache of its own by default.
    """

    def __init__(
        self, model: HuggingFaceModel, tokens: Sequence[int], cache: TreeCache | None = None
    ) -> None:
        self.model = model
        self.context = list(tokens)
        self.cache = model.new_cache() if cache is None else cache
        # tokens of the context that the cache holds; never the last, which is the root of the tree
        self._read = 0
        # at nodes of this tree, if they are kept
        self._features: dict[int, torch.Tensor] | None = None
        self._slots = Slots()
        self._forget()

    @property
    def _base(self) -> int:
        """Slot and position of the root: the committed tokens before it."""
        return len(self.context) - 1

    def _forget(self) -> None:
        """Drop the tree that was read."""
        self._tree: TokenTree | None = None
        self._features = None if self._features is None else {}
        self._slots.clear()

    def _begin(self, tree: TokenTree, nodes: Sequence[int]) -> list[int]:
        # Another tree, or rows asked for twice: read it afresh, so no node ever has two slots.
        nodes = [int(node) for node in nodes]
        if tree is not self._tree or not self._slots.keys().isdisjoint(nodes):
            self._forget()
            self._tree = tree
        return nodes

    def forward(self, tree: TokenTree, nodes: Sequence[int]) -> np.ndarray | DeviceLogits:
        """Logits after each of `nodes`, float32 [len(nodes), V], in one pass."""
        nodes = self._begin(tree, nodes)
        self.cache.used = self._read + len(self._slots)
        while self._base - self._read > MAX_RUN:
            self._read_run()
        run = range(self._read, self._base)
        order, masked = self._slots.place(tree, nodes, len(run), first=self.cache.used == 0)
        row = {node: len(run) + i for i, node in enumerate(order)}
        states: list[torch.Tensor] | None = None if self._features is None else []
        logits = self._ask(run, order, masked, [row[node] for node in nodes], states)
        if self._features is not None and states:
            self._features.update(zip(nodes, states[0], strict=True))
        self._read = self._base
        return logits

    def commit(self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int]) -> None:
        """Append `emitted` to the context and keep what was read of it: the root and the nodes of
        `path`."""
        base, slots = self._base, list[int]()
        if tree is self._tree:
            for node in (0, *path)[: len(emitted)]:
                if node not in self._slots:
                    break
                slots.append(base + self._slots[node])
            self.cache.keep(slots, base)
            self._read = base + len(slots)
        self.context.extend(emitted)
        self._forget()

    def watch(self) -> torch.Tensor:
        """Read the context but its last token, return the features there, [n - 1, width], and keep
        them from now on."""
        states: list[torch.Tensor] = []
        while self._read < self._base:
            self._read_run(states)
        self._features = {}
        if states:
            return torch.cat(states)
        none = self.model.model.get_output_embeddings().weight[:0]  # a text of one token
        return none.repeat(1, len(self.model.feature_layers) + 1)

    def features(self, nodes: Sequence[int]) -> torch.Tensor:
        """The features at `nodes` of the tree that was read last, [len(nodes), width]; `watch`
        comes first."""
        assert self._features is not None
        return torch.stack([self._features[node] for node in nodes])

    def _read_run(self, features: list[torch.Tensor] | None = None) -> None:
        """Read committed tokens in a causal pass of their own."""
        span = range(self._read, min(self._base, self._read + MAX_RUN))
        rows = [len(span) - 1] if features is None else list(range(len(span)))
        self._ask(span, [], None, rows, features)
        self._read = span.stop

    def _ask(self, run, order, masked, rows, features) -> np.ndarray | DeviceLogits:
        """One pass over the committed tokens in `run`, then the nodes in `order`; the rest as for a
        model's `read`."""
        ids, positions = self.context[run.start : run.stop], [*run]
        for node in order:
            assert self._tree is not None
            ids.append(self._tree.tokens[node])
            positions.append(self._base + self._tree.depths[node])
        hidden = self._target_hidden(run, order)
        return self.model.read(ids, positions, masked, self.cache, rows, features, hidden)

    def _target_hidden(self, run: range, order: Sequence[int]) -> torch.Tensor | None:
        """What a pass over the same tokens reads of the target, [len(run) + len(order), width]."""
        return None
