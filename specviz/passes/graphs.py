"""Passes of fixed shape: padded to a bucket of nodes and a bucket of slots, and on a GPU replayed
as CUDA graphs.

A small pass on a GPU waits for its kernels to be launched one by one. Captured once, a pass is
launched as a whole; but then it must read the same buffers at every replay and have one shape. So
tokens, positions, slots and mask are copied into buffers of the bucket's size. Padding is token 0
that sees slot 0, and its keys and values go to the last slot of the block, which nobody sees.

The function that is captured is the direct forward itself, and it runs as well without being
captured: that is how it is checked, and what happens until a shape comes for the second time.
"""

from __future__ import annotations

import logging
import threading
import weakref
from bisect import bisect_left
from collections.abc import Callable, Sequence

import numpy as np
import torch

from ..base.errors import cause
from .cache import TreeCache
from .device_logits import push
from .direct import DirectForward

BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768)
SLOTS = 256  # the least step between two buckets of slots
MAX_PASSES = 32  # that are kept; the one not used for longest goes first

Run = Callable[[], torch.Tensor]


class StaticPass:
    """The forward pass over `width` tokens that attend to the first `length` slots of a block.

    Args:
        direct: the forward pass.
        block: keys and values, [2 * layers, 1, heads, slots, width of a head]; the last slot is for
            padding.
        width: tokens, padding included.
        length: slots they may see, fewer than the block has.

    Attributes:
        run: computes the logits [width, V] of what is in the buffers; a replay of it once
            `captured`.
    """

    def __init__(self, direct: DirectForward, block: torch.Tensor, width: int, length: int) -> None:
        self.direct = direct
        self.block = block
        self.width = width
        self.length = length
        self.used = 0  # what a forward asks of a cache: the mask speaks for all slots
        self.numbers = torch.zeros(
            (4, width), dtype=torch.int64, device=block.device
        )  # ids, positions, slots, rows
        self.masked = torch.zeros((width, length), dtype=torch.bool, device=block.device)
        self.run: Run = self._forward
        self.captured = False

    def fill(
        self,
        ids: Sequence[int],
        positions: Sequence[int],
        masked: np.ndarray | None,
        used: int,
        rows: Sequence[int],
    ) -> None:
        """Put one pass into the buffers; arguments as for `StaticPasses`, `used` the slots in use
        before."""
        m = len(ids)
        end = used + len(ids)
        numbers = np.zeros((4, self.width), dtype=np.int64)
        numbers[2] = self.block.shape[3] - 1
        numbers[:3, :m] = ids, positions, range(used, end)
        numbers[3, : len(rows)] = rows
        mask = np.ones((self.width, self.length), dtype=bool)
        mask[m:, 0] = mask[:m, :end] = False
        last = ~np.tri(m, dtype=bool) if masked is None else masked
        mask[:m, end - last.shape[1] : end] = last
        self.numbers.copy_(push(numbers, self.numbers.device))
        self.masked.copy_(push(mask, self.masked.device))

    def _forward(self) -> torch.Tensor:
        ids, positions, _, rows = self.numbers
        mask = torch.zeros_like(self.masked, dtype=self.block.dtype)
        mask.masked_fill_(self.masked, torch.finfo(mask.dtype).min)
        return self.direct(ids, positions, mask[None, None], self, rows)

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
        direct: the model's forward pass.
        capture: turns a pass into its replay, None to run passes as they are; a pass is captured
            when its shape comes for the second time.
    """

    def __init__(self, direct: DirectForward, capture: Callable[[Run], Run] | None = None) -> None:
        self.direct = direct
        self.capture = capture
        self.passes: dict[tuple[int, int], StaticPass] = {}  # the one used last comes last
        self._block: torch.Tensor | None = None
        self._owner: weakref.ref[TreeCache] | None = None
        self._lending = (
            threading.Lock()
        )  # two threads that decode with one model may ask at the same moment
        self._off = False

    @torch.inference_mode()
    def __call__(
        self,
        ids: Sequence[int],
        positions: Sequence[int],
        masked: np.ndarray | None,
        cache: TreeCache,
        rows: Sequence[int],
    ) -> torch.Tensor | None:
        """Logits [len(rows), V], None where that must be done without; arguments as for
        `HuggingFaceModel.read`."""
        m = len(ids)
        end = cache.used + len(ids)
        prompt = (
            masked is None and cache.used == 0 and m > 1
        )  # read once, and causal kernels are faster
        if (
            self._off
            or prompt
            or self.direct.window
            or m > BUCKETS[-1]
            or cache.spread
            or cache.depth != len(self.direct.layers)
        ):
            return None
        shape = BUCKETS[bisect_left(BUCKETS, m)], slots_bucket(end)
        try:
            if not self._lend(cache, shape[1]):
                return None
            before = self.passes.pop(shape, None)
            static = self.passes[shape] = before or StaticPass(self.direct, self._block, *shape)
            if len(self.passes) > MAX_PASSES:
                del self.passes[next(iter(self.passes))]
            static.fill(ids, positions, masked, cache.used, rows)
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
        return static.run()[
            : len(rows)
        ].clone()  # the next pass of this shape writes over its result

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
                slots = max(length, 2 * block.shape[3] if block is not None else 4 * SLOTS) + 1
                heads = self.direct.kv_heads
                width = self.direct.width
                weights = self.direct.embed
                self.passes.clear()  # they point to the old one
                block = weights.new_zeros(
                    2 * cache.depth, 1, heads, slots, width, dtype=self.direct.kv_dtype
                )
            if theirs is not None:
                block[:, :, :, : cache.used] = theirs[:, :, :, : cache.used]
            self._block = cache.blocks[0] = block
            self._owner = weakref.ref(cache)
            return True


def slots_bucket(slots: int) -> int:
    """`slots` rounded up: a quarter of them is padding at most, beyond the first few."""
    step = max(SLOTS, 1 << max(0, slots.bit_length() - 3))
    return -(-slots // step) * step


def cuda_graphs(device: torch.device) -> Callable[[Run], Run]:
    """A `capture` for `StaticPasses`: all its graphs share one pool of memory, as no two of them
    run at once."""
    pool = torch.cuda.graph_pool_handle()

    def capture(run: Run) -> Run:
        with torch.cuda.device(device):
            here = torch.cuda.current_stream()
            side = torch.cuda.Stream()
            side.wait_stream(here)
            with torch.cuda.stream(
                side
            ):  # a first run may allocate and choose kernels, which a capture must not
                for _ in range(3):
                    expected = run()
            here.wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
                result = run()
            graph.replay()
            if not (result - expected).abs().max() <= 0.05 * expected.abs().max():
                raise RuntimeError(
                    "a replayed pass gave other logits than the pass it was captured from"
                )

        def replay() -> torch.Tensor:
            graph.replay()
            return result

        return replay

    return capture
