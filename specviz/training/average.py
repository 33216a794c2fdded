"""Weights between those a run began with and those it ended with: often better than both.

Training on costs some of what a model knew. Along the straight line between the two lies a model that has most of the
new and of the old (Wortsman et al. 2022, arXiv:2109.01903, section 3).
"""

from collections.abc import Callable

import torch
from torch import nn

SHARES = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@torch.no_grad()
def average(model: nn.Module, former: nn.Module, loss: Callable[[nn.Module], float]) -> float:
    """Move `model` to the best point between `former` and itself; returns the share of its own weights there.

    Args:
        model, former: the same architecture, the second with the weights that training began with.
        loss: of a model, on text that neither has read.
    """
    new = {name: p.clone() for name, p in model.named_parameters()}
    old = dict(former.named_parameters())
    losses = {}
    for share in SHARES:
        _mix(model, old, new, share)
        losses[share] = loss(model)
    best = min(SHARES, key=losses.__getitem__)
    _mix(model, old, new, best)
    return best


def _mix(model: nn.Module, old: dict[str, torch.Tensor], new: dict[str, torch.Tensor], share: float) -> None:
    for name, p in model.named_parameters():
        torch.lerp(old[name], new[name], share, out=p)
