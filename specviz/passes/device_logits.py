"""Logits that stay on the device that computed them: what is read of them is pulled, a level or a
row at a time.

A walk reads at most depth + 1 of a tree's rows, and with a vocabulary of 150 000 tokens and a GPU
moving all of them costs more than the pass. Softmax, top-k and top-p run where the logits are, in
float64; the arithmetic of residuals is numpy's, on the rows that were pulled. `pull` is the only
way to the host, and the only place that waits for a device.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from ..sampling.distributions import (
    TINY_PROB,
    Distributions,
    RowWithTopTokens,
    Sampling,
    check_finite,
)

RANKED = 32  # first tokens that come with a row
AT_ONCE = 64  # rows that are sorted at a time: bounds the memory that top-p takes


def push(array: np.ndarray, device: torch.device) -> torch.Tensor:
    """An array on a device, without waiting for the device."""
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def pull(tensor: torch.Tensor) -> np.ndarray:
    """A tensor on the host in one transfer, which waits until the device is done."""
    # A GPU copies to pinned memory several times as fast, and so does `to` where it does not wait.
    host = tensor.to("cpu", non_blocking=True)
    if tensor.is_cuda:
        torch.cuda.synchronize(tensor.device)
    return host.numpy()


class DeviceLogits:
    """The logits of one pass on the device; numpy code that takes them for an array pulls them.

    Args:
        logits: [n, V], of any precision.
    """

    def __init__(self, logits: torch.Tensor) -> None:
        self.tensor = logits
        self.shape = tuple(logits.shape)
        self.dtype = np.dtype(np.float32)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index) -> np.ndarray:
        """Float32 logits of one node [V], or of what else numpy takes for an index."""
        return pull(self.tensor[index].float())

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return pull(self.tensor.float()).astype(dtype or np.float32, copy=False)

    def rows(self, sampling: Sampling, ahead: int = 1) -> DeviceRows:
        """Their probability distributions, the first `ahead` of them pulled at once."""
        return DeviceRows(self, sampling, ahead)


class DeviceRows(Distributions):
    """Probability distributions of logits on a device.

    The transfer that ends the pass brings what is read first in any case: the rows of the first
    `ahead` nodes, and at temperature 0 the most probable token after every node.

    Args:
        logits: of one pass.
        sampling: how a row is post-processed.
        ahead: how many rows come at once.
    """

    logits: DeviceLogits

    def __init__(self, logits: DeviceLogits, sampling: Sampling, ahead: int) -> None:
        super().__init__(logits, sampling)
        if sampling.temperature == 0:
            row_max, best = logits.tensor.max(dim=1)
            # One transfer for both; the tokens are whole numbers, which float64 holds exactly.
            both = pull(torch.stack([row_max.double(), best.double()]))
            check_finite(both[0].sum())
            self._best = both[1].astype(np.int64)
        else:
            self._pull(0, ahead)

    def _pull(self, first: int, end: int) -> None:
        # A walk begins at the root, so the first rows are read for certain: one transfer for all of
        # them.
        rows = pull_ranked(probabilities(self.logits.tensor[first:end], self.sampling))
        self._rows.update(enumerate(rows, first))

    def __getitem__(self, node: int) -> np.ndarray:
        if node not in self._rows and self.sampling.temperature == 0:
            self._rows[node] = np.zeros(self.logits.shape[1])
            self._rows[node][self._best[node]] = 1.0
        elif node not in self._rows:
            self._pull(node, node + 1)
        return self._rows[node]

    def gather(
        self, nodes: Sequence[int], tokens: Sequence[int]
    ) -> tuple[list[float], list[float]]:
        """As for any rows: two gathers on the device, no whole row comes over."""
        return self._at(nodes, tokens, self.sampling), self._at(nodes, tokens, Sampling())

    def _at(self, nodes: Sequence[int], tokens: Sequence[int], sampling: Sampling) -> list[float]:
        if not nodes:
            return []
        if sampling.temperature == 0:
            return (self._best[list(nodes)] == np.asarray(tokens)).astype(float).tolist()
        tensor = self.logits.tensor
        # Siblings share a row: each is made once, and `above` says which one a token is looked up
        # in.
        inner, above = np.unique(nodes, return_inverse=True)
        parts = tensor[push(inner, tensor.device)].split(AT_ONCE)
        rows = torch.cat([probabilities(part, sampling) for part in parts])
        places = push(np.stack([above, tokens]).astype(np.int64), tensor.device)
        gathered = pull(rows[places[0], places[1]])
        check_finite(gathered.sum())
        return gathered.tolist()


def pull_ranked(rows: torch.Tensor) -> list[RowWithTopTokens]:
    """Rows [n, V] on the host in one transfer, with the tokens that come first in each.

    So the children of a whole level that are drawn by rank cost one call on the device.
    """
    width = rows.shape[1]
    first = rows.topk(min(RANKED + 1, width), dim=1).indices
    both = pull(torch.cat([rows, first.to(rows.dtype)], dim=1))  # whole numbers, exact in float64
    check_finite(both[:, 0].sum())  # a row of logits with NaN or infinity is NaN throughout
    ranked = list(both[:, :width].view(RowWithTopTokens))
    for row, tokens in zip(ranked, both[:, width:].astype(np.int64), strict=True):
        # Of tokens as probable as the last one there may be more, with lower ids.
        if len(tokens) < width:
            tokens = tokens[row[tokens] > row[tokens[-1]]]
        row.ranked = sorted(tokens.tolist(), key=lambda token: (-row[token], token))
    return ranked


def probabilities(logits: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """`distributions.probabilities` of many rows where they are, float64 [n, V]; the temperature is
    above 0."""
    row = logits.double()
    row = ((row - row.amax(dim=1, keepdim=True)) / sampling.temperature).exp_()
    row.masked_fill_(row < TINY_PROB, 0.0)
    row /= row.sum(dim=1, keepdim=True)
    if sampling.unfiltered:
        return row
    # Stable, so that ties go to the lower id as they do on the host.
    falling, order = row.sort(dim=1, descending=True, stable=True)
    if sampling.top_k is not None:
        falling[:, sampling.top_k :] = 0.0
    if sampling.top_p < 1:
        mass = falling.cumsum(dim=1)
        # A token is kept while those before it have not reached the threshold, so the one that
        # crosses it stays.
        falling[:, 1:].masked_fill_(mass[:, :-1] >= sampling.top_p * mass[:, -1:], 0.0)
    # What was cut off is shared out among the rest, in proportion.
    falling /= falling.sum(dim=1, keepdim=True)
    return torch.zeros_like(row).scatter_(1, order, falling)
