"""The number format that training computes in: bfloat16 where its products are the faster ones."""

import time
from contextlib import AbstractContextManager, nullcontext
from functools import cache

import torch

from ..models.loading import choose_dtype


@cache
def has_bfloat16(device: torch.device) -> bool:
    """Whether bfloat16 is the fast format of the device: on a processor a product is timed, not all gain by it."""
    if choose_dtype("auto", device) != torch.bfloat16:
        return False
    if device.type != "cpu":
        return True
    seconds = {}
    for dtype in (torch.float32, torch.bfloat16):
        left, right = torch.ones(512, 512, dtype=dtype), torch.ones(512, 512, dtype=dtype)
        tries = []
        for _ in range(10):
            began = time.perf_counter()
            left @ right
            tries.append(time.perf_counter() - began)
        seconds[dtype] = min(tries)
    return seconds[torch.bfloat16] < seconds[torch.float32]


def autocast(device: torch.device) -> AbstractContextManager:
    """bfloat16 arithmetic where the device is fast at it, float32 elsewhere; the weights stay float32."""
    return torch.autocast(device.type, dtype=torch.bfloat16) if has_bfloat16(device) else nullcontext()
