"""The key-value cache of a token tree: slots 0, 1, 2, ... that are written where we say, and who
sees which of them.

Slots hold keys and values in the order in which tokens were read. The text fills the first; a
tree's nodes follow in whatever order they were read, and after a commit only the accepted ones move
up to the text. A layer sees a view of the slots in use, so nothing that was read is ever copied for
a pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from transformers.cache_utils import Cache

from ..tree import TokenTree
from .device_logits import push

CHUNK = 256  # slots by which memory grows


class TreeCache(Cache):
    """Keys and values of one text and the tree tried after it, or of several texts of one length.

    Args:
        layers: how many attention layers the model has.
        spread: whether they compute on several devices; then each has memory of its own, where it
            computes.

    Attributes:
        used: slots in use; a pass writes behind them.
        writer: a mark of the draft that wrote behind the text last, where drafts share the
            target's cache; None before any did.
        blocks: memory of all layers, or of each, [2 * layers in it, texts, heads, slots, width];
            keys are even.
        positions: where the token in each slot stands in its text, [slots].
    """

    def __init__(self, layers: int, spread: bool = False) -> None:
        super().__init__(layers=[])
        self.depth = layers
        self.spread = spread
        self.used = 0
        self.writer: object = None
        self.blocks: list[torch.Tensor | None] = [None] * (layers if spread else 1)
        self.positions = np.zeros(CHUNK, np.int64)
        self._numbers: np.ndarray | None = None

    def __len__(self) -> int:
        return self.depth

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args, **kwargs
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write one layer's new keys and values, [1, heads, new, width], and return all in use, as
        views.

        `used` stays as it is, since every layer of a pass writes to the same slots: whoever reads
        the pass moves it on at the end.
        """
        if key_states.shape != value_states.shape:
            raise ValueError(
                "keys and values must have the same shape; this model's differ. Choose "
                "another model."
            )
        number = 0
        if self.spread:
            number = layer_idx
        layer = layer_idx
        if self.spread:
            layer = 0
        end = self.used + key_states.shape[2]
        # Views, not copies: attention reads the slots where they are, from the first one on.
        both = self._reserve(number, key_states, end)[2 * layer : 2 * layer + 2, :, :, :end]
        for place, new in zip(both, (key_states, value_states), strict=True):
            place[:, :, self.used :] = new
        return both[0], both[1]

    def place(self, positions: Sequence[int]) -> None:
        """Note the positions of the tokens that the next pass reads."""
        end = self.used + len(positions)
        if end > len(self.positions):
            self.positions = np.pad(self.positions, (0, end))
        self.positions[self.used : end] = positions

    def window_mask(
        self, positions: Sequence[int], masked: np.ndarray | None, window: int | None
    ) -> np.ndarray | None:
        """A mask for layers whose tokens see only `window` positions back.

        Args:
            positions: of the tokens of a pass, which were given to `place`, [m].
            masked: which of the last slots each must not see, bool [m, w]; None for a causal run.
            window: None for no window.

        Returns:
            The same with what is beyond the window, bool [m, slots]; `masked` where nothing is.
        """
        end = self.used + len(positions)
        if window is None:
            return masked
        # By position, not by slot: neighbours in the cache may be siblings in a tree.
        outside = self.positions[:end] <= np.asarray(positions)[:, None] - window
        if not outside.any():
            return masked
        if masked is None:
            masked = ~np.tri(len(positions), dtype=bool)
        outside[:, end - masked.shape[1] :] |= masked
        return outside

    def numbers(self, slots: int, heads: int, width: int) -> np.ndarray:
        """All layers in float32 as numpy sees them, [2 * layers, heads, at least `slots`,
        width]."""
        if self._numbers is None or self._numbers.shape[2] < slots:
            self._numbers = self._reserve(0, torch.empty(1, heads, 1, width), slots).numpy()[:, 0]
        return self._numbers

    def _reserve(self, number: int, keys: torch.Tensor, slots: int) -> torch.Tensor:
        """The block of that number, with at least so many slots, for keys of the given shape, type
        and device."""
        block = self.blocks[number]
        if block is not None and slots <= block.shape[3]:
            return block
        rows, heads, _, width = keys.shape
        layers = self.depth
        if self.spread:
            layers = 1
        # By whole chunks: growing copies everything, so it should be rare.
        # Zeros, because a masked slot must still be a finite number.
        grown = keys.new_zeros(2 * layers, rows, heads, -(-slots // CHUNK) * CHUNK, width)
        if block is not None:
            grown[:, :, :, : self.used] = block[:, :, :, : self.used]
        self.blocks[number] = grown
        self._numbers = None
        return grown

    @torch.inference_mode()
    def keep(self, slots: Sequence[int], start: int) -> None:
        """Move `slots`, ascending, to `start`, `start` + 1, ... in all layers; everything behind
        them is free again."""
        self.used = start + len(slots)
        blocks = [self._numbers]
        if self._numbers is None:
            blocks = self.blocks
        # Upwards in ascending order: a slot is copied before anything is written over it.
        for place, slot in enumerate(slots, start):
            if place == slot:
                continue
            self.positions[place] = self.positions[slot]
            for block in blocks:
                if block is not None:
                    block[..., place, :] = block[..., slot, :]

    def keep_rows(self, is_kept: torch.Tensor) -> None:
        """Keep some of several texts that were read side by side, bool [rows]."""
        self.blocks = [block if block is None else block[:, is_kept] for block in self.blocks]

    # What transformers asks of a cache when it makes a causal mask itself.

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """How many tokens it holds."""
        return self.used

    def get_mask_sizes(self, query_length: int, layer_idx: int = 0) -> tuple[int, int]:
        """How many keys a pass over so many tokens sees, and the first of them."""
        return self.used + query_length, 0

    def get_max_length(self, layer_idx: int | None = None) -> int:
        """No limit of its own."""
        return -1


class Pass(NamedTuple):
    """What one forward pass reads, m tokens, and what it is to give.

    Args:
        ids, positions: the tokens and where they stand in the text, [m].
        masked: which of the last slots each token must not see, bool [m, <= slots in use + m];
            None for a plain causal run.
        cache: where keys and values are.
        rows: which of the m tokens need logits.
        target_hidden: hidden states to read with the tokens, [m, width], of a model that takes
            them.
        wants_features: whether features at `rows` are asked for, beside logits.
    """

    ids: Sequence[int]
    positions: Sequence[int]
    masked: np.ndarray | None
    cache: TreeCache
    rows: Sequence[int]
    target_hidden: torch.Tensor | None = None
    wants_features: bool = False

    @property
    def end(self) -> int:
        """The slots in use after it."""
        return self.cache.used + len(self.ids)

    def causal_mask(self, single: bool = False) -> np.ndarray | None:
        """`masked`, or a mask for a causal run that other slots stand before: what torch calls
        causal begins at the first slot. A run of one token gets one only with `single`."""
        m = len(self.ids)
        if self.masked is None and self.cache.used and (m > 1 or single):
            return ~np.tri(m, dtype=bool)
        return self.masked


class Slots(dict[int, int]):
    """The slot of each node that was read of a tree, counted from the root's."""

    def __init__(self) -> None:
        super().__init__()
        # [slot, slot]: the token in a row may attend to the one in a column.
        self._sees = np.zeros((64, 64), dtype=bool)

    def unread(self, tree: TokenTree, nodes: list[int]) -> list[int]:
        """The nodes that a pass must read, in the tree's order: those asked for and their unread
        ancestors."""
        # A node attends to its ancestors, so those that no pass has read come with it.
        need = set(nodes)
        for node in nodes:
            node = tree.parents[node]
            while node >= 0 and node not in self and node not in need:
                need.add(node)
                node = tree.parents[node]
        if tree.pass_order is None:
            return sorted(need)
        return [node for node in tree.pass_order if node in need]

    def place(
        self, tree: TokenTree, nodes: list[int], run: int, first: bool
    ) -> tuple[list[int], np.ndarray | None]:
        """Give nodes and their unread ancestors the next slots.

        Args:
            tree, nodes: those that are asked for.
            run: how many committed tokens are read before them in the same pass.
            first: whether the cache is empty.

        Returns:
            The nodes that the pass reads, in the order of their slots, and a mask, bool
            [run + nodes, run + slots of the tree]: true where a token must not see a slot, as it is
            no ancestor. None where plain causal reading does the same.
        """
        order = self.unread(tree, nodes)
        begin = len(self)
        end = begin + len(order)
        if end > len(self._sees):
            self._sees = np.pad(self._sees, (0, end))
        sees = self._sees
        sees[begin:end] = False  # what an earlier tree left there
        # A node sees what its parent sees, and itself; parents come first, so their rows are ready.
        for slot, node in enumerate(order, begin):
            if node:
                sees[slot] = sees[self[tree.parents[node]]]
            sees[slot, slot] = True
            self[node] = slot
        sees = sees[begin:end, :end]
        # A chain from the first slot on, for which a causal kernel is faster than any mask.
        if first and np.array_equal(sees, np.tri(end, dtype=bool)):
            return order, None
        masked = np.zeros((run + len(order), run + end), dtype=bool)
        # Committed tokens see no node; nodes see all of them, so those columns stay False.
        if run:
            masked[:run] = ~np.tri(run, run + end, dtype=bool)
        np.logical_not(sees, out=masked[run:, run:])
        return order, masked if masked.any() else None


def additive_mask(
    masked: np.ndarray, slots: int, dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    """What is added to the products of queries and keys, [1, 1, m, slots].

    Args:
        masked: which of the last slots each token of a pass must not see, bool [m, w]; it sees all
            before them.
        slots: in use, those of the pass included.
        dtype, device: of the result.
    """
    # The lowest number and not -inf: a padded row that sees nothing would become NaN.
    tail = torch.zeros(masked.shape, dtype=dtype, device=device)
    tail.masked_fill_(push(masked, device), torch.finfo(dtype).min)
    return torch.constant_pad_nd(tail, (slots - masked.shape[1], 0), 0.0)[None, None]
