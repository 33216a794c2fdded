"""Passes of fixed shape: padded to a bucket of nodes and a bucket of slots, and on a GPU replayed
as CUDA graphs.

A small pass on a GPU waits for its kernels to be launched one by one. Captured once, a pass is
launched as a whole; but then it must read the same buffers at every replay and have one shape. So
tokens, positions, slots and mask are copied into buffers of the bucket's size. Padding is token 0
that sees slot 0, and its keys and values go to the last slot of the block, which nobody sees.

The function that is captured is the forward pass itself, of a model or of a draft head, and it runs
as well without being captured: that is how it is checked, and what happens until a shape comes for
the second time.
"""

from __future__ import annotations

import logging
import threading
import weakref
from bisect import bisect_left
from collections.abc import Callable
from typing import Protocol

import numpy as np
import torch

from ..base.errors import cause
from .cache import Pass, TreeCache
from .device_logits import push
from .direct import Cache

BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768)
SLOTS = 256  # the least step between two buckets of slots
MAX_PASSES = 32  # that are kept; the one not used for longest goes first

# Computes the logits, [count, V], and the features, [count, width], empty where none are wanted.
Run = Callable[[], tuple[torch.Tensor, torch.Tensor]]


class Forward(Protocol):
    """A forward pass that can be captured.

    Attributes:
        depth: how many layers attend.
        kv_heads, width: how many heads keys have, and how wide they are.
        kv_dtype: the type of keys and values.
        window: how many tokens back some layers see; None for no window.
        embed: what tokens are embedded with, [tokens, width of the model].
        hidden_width: of the hidden states that are read with the tokens; 0 for none.
    """

    depth: int
    kv_heads: int
    width: int
    kv_dtype: torch.dtype
    window: int | None
    embed: torch.Tensor
    hidden_width: int

    def read_static(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        mask: torch.Tensor,
        cache: Cache,
        rows: torch.Tensor,
        hidden: torch.Tensor,
        layers: tuple[int, ...] | None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits and features at `rows`; the other arguments as for `DirectForward.states`.

        Args:
            ids, positions, mask, cache, rows: what it reads.
            hidden: hidden states beside the tokens, [m, `hidden_width`].
            layers: as for `StaticPass`.
        """
        ...


class StaticPass:
    """The forward pass over `count` tokens that attend to the first `length` slots of a block.

    Args:
        direct: the forward pass.
        block: keys and values, [2 * layers, 1, heads, slots, width of a head]; the last slot is for
            padding.
        count: tokens, padding included.
        length: slots they may see, fewer than the block has.
        layers: whose inputs come before the last hidden state in the features; None for no
            features.

    Attributes:
        run: computes the logits and features of what is in the buffers; a replay of it once
            `captured`.
    """

    def __init__(
        self,
        direct: Forward,
        block: torch.Tensor,
        count: int,
        length: int,
        layers: tuple[int, ...] | None,
    ) -> None:
        self.direct = direct
        self.block = block
        self.count = count
        self.length = length
        self.layers = layers
        # Ids, positions, slots and rows, one below the other: one transfer fills all of them.
        self.numbers = torch.zeros((4, count), dtype=torch.int64, device=block.device)
        self.masked = torch.zeros((count, length), dtype=torch.bool, device=block.device)
        self.hidden = direct.embed.new_zeros(count, direct.hidden_width)
        self.run: Run = self._forward
        self.captured = False

    def fill(self, work: Pass) -> None:
        """Put one pass into the buffers."""
        m = len(work.ids)
        end = work.end
        numbers = np.zeros((4, self.count), dtype=np.int64)
        # Everything is padding at first: written to the last slot, which no mask lets anyone see.
        numbers[2] = self.block.shape[3] - 1
        numbers[:3, :m] = work.ids, work.positions, range(end - m, end)
        numbers[3, : len(work.rows)] = work.rows
        mask = np.ones((self.count, self.length), dtype=bool)
        # A padded row must see something, and slot 0 always holds numbers.
        mask[m:, 0] = mask[:m, :end] = False
        last = ~np.tri(m, dtype=bool) if work.masked is None else work.masked
        mask[:m, end - last.shape[1] : end] = last
        self.numbers.copy_(push(numbers, self.numbers.device))
        self.masked.copy_(push(mask, self.masked.device))
        if work.target_hidden is not None:
            self.hidden[:m] = work.target_hidden

    def _forward(self) -> tuple[torch.Tensor, torch.Tensor]:
        ids, positions, _, rows = self.numbers
        mask = torch.zeros_like(self.masked, dtype=self.block.dtype)
        mask.masked_fill_(self.masked, torch.finfo(mask.dtype).min)
        return self.direct.read_static(
            ids, positions, mask[None, None], self, rows, self.hidden, self.layers
        )

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write one layer's keys and values into their slots and return those in sight, as
        views."""
        both = self.block[2 * layer : 2 * layer + 2]
        for place, new in zip(both, (keys, values), strict=True):
            place.index_copy_(2, self.numbers[2], new)
        return both[0, :, :, : self.length], both[1, :, :, : self.length]


class StaticPasses:
    """The passes of one model over a block of its own, which one text at a time may use as its
    cache.

    Args:
        direct: the forward pass.
        capture: turns a pass into its replay, None to run passes as they are; a pass is captured
            when its shape comes for the second time.
    """

    def __init__(self, direct: Forward, capture: Callable[[Run], Run] | None = None) -> None:
        self.direct = direct
        self.capture = capture
        # By nodes, slots and layers of the features; the one used last comes last.
        self.passes: dict[tuple[int, int, tuple[int, ...] | None], StaticPass] = {}
        self._block: torch.Tensor | None = None
        self._owner: weakref.ref[TreeCache] | None = None
        # Two threads that decode with one model may ask at the same moment.
        self._lending = threading.Lock()
        self._off = False

    @torch.inference_mode()
    def __call__(
        self, work: Pass, layers: tuple[int, ...] | None = None
    ) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Logits [len(rows), V] and features of a pass, None where that must be done without.

        Args:
            work: what it reads.
            layers: as for `StaticPass`.
        """
        cache = work.cache
        m = len(work.ids)
        # It is read once, and causal kernels are faster.
        is_prompt = work.masked is None and cache.used == 0 and m > 1
        if (
            self._off
            or is_prompt
            or self.direct.window
            or (work.target_hidden is None) != (self.direct.hidden_width == 0)
            or m > BUCKETS[-1]
            or cache.spread
            or cache.depth != self.direct.depth
        ):
            return None
        length = slots_bucket(work.end)
        shape = BUCKETS[bisect_left(BUCKETS, m)], length, layers
        try:
            if not self._lend(cache, length):
                return None
            # Taken out and put back, so that the one used last stands last and the first is the
            # oldest.
            before = self.passes.pop(shape, None)
            static = self.passes[shape] = before or StaticPass(self.direct, self._block, *shape)
            if len(self.passes) > MAX_PASSES:
                del self.passes[next(iter(self.passes))]
            static.fill(work)
            # At the second time only: a shape that comes once is not worth a capture.
            if self.capture and before and not static.captured:
                static.run = self.capture(static.run)
                static.captured = True
        except RuntimeError as error:  # no memory, or an operation that cannot be captured
            logging.getLogger(__name__).warning(
                "Passes run without CUDA graphs from here on: %s", cause(error)
            )
            self._off = True
            self.passes.clear()
            return None
        # Copies: the next pass of this shape writes over its results.
        logits, features = (result[: len(work.rows)].clone() for result in static.run())
        return logits, features

    def _lend(self, cache: TreeCache, length: int) -> bool:
        """Make this block the cache's, with more than `length` slots; False while it is that of
        another text."""
        with self._lending:
            owner = self._owner and self._owner()
            if owner is not None and owner is not cache:
                return False
            theirs = cache.blocks[0]
            block = self._block
            if block is not None and block.shape[3] > length:
                if theirs is block:
                    return True
                block.zero_()
            else:
                least = 4 * SLOTS if block is None else 2 * block.shape[3]
                slots = max(length, least) + 1  # the last one is for padding
                direct = self.direct
                self.passes.clear()  # they point to the old one
                shape = 2 * cache.depth, 1, direct.kv_heads, slots, direct.width
                block = direct.embed.new_zeros(*shape, dtype=direct.kv_dtype)
            if theirs is not None:
                block[:, :, :, : cache.used] = theirs[:, :, :, : cache.used]
            self._block = cache.blocks[0] = block
            self._owner = weakref.ref(cache)
            return True


def slots_bucket(slots: int) -> int:
    """`slots` rounded up: by less than `SLOTS`, or for a long text by at most a quarter, so that
    few shapes are captured."""
    step = max(SLOTS, 1 << max(0, slots.bit_length() - 3))
    return -(-slots // step) * step


def cuda_graphs(device: torch.device) -> Callable[[Run], Run]:
    """A `capture` for `StaticPasses`: all its graphs share one pool of memory, as no two of them
    run at once."""
    # Keep the first graph: torch raises an error for a memory pool without graphs.
    first = None

    def capture(run: Run) -> Run:
        nonlocal first
        with torch.cuda.device(device):
            here = torch.cuda.current_stream()
            side = torch.cuda.Stream()
            side.wait_stream(here)
            # A first run may allocate and choose kernels, which a capture must not.
            with torch.cuda.stream(side):
                for _ in range(3):
                    expected = run()[0]
            here.wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, first and first.pool(), capture_error_mode="thread_local"):
                result = run()
            first = first or graph
            graph.replay()
            # A tolerance for half precision; NaN, for which no comparison is true, fails as well.
            if not (result[0] - expected).abs().max() <= 0.05 * expected.abs().max():
                raise RuntimeError(
                    "a replayed pass gave other logits than the pass it was captured from"
                )

        def replay() -> tuple[torch.Tensor, torch.Tensor]:
            graph.replay()
            return result

        return replay

    return capture
