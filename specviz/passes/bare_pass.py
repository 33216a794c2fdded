"""The target's pass over a tree and nothing around it, for comparison: inputs ready, logits left where they are."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..tree import TokenTree
from .device_logits import wait
from .graphs import StaticPass, cuda_graphs
from .huggingface import HuggingFaceSession
from .threads import using


def bare_pass(session: HuggingFaceSession, tree: TokenTree) -> Callable[[], None] | None:
    """The pass over all of a tree behind a session's text, exactly as long as it must be; on a GPU as one CUDA graph.

    Args:
        session: has just read the tree.
        tree: the tree.

    Returns:
        What runs it and waits for its end; None where the model has no direct forward.
    """
    model = session.model
    if model.direct is None:
        return None
    base, size = len(session.context) - 1, len(tree)
    held = session.cache._block
    assert held is not None  # the session has read the tree
    with torch.inference_mode():
        block = held[:, :, :, : base + size].clone()
        one = StaticPass(model.direct, torch.nn.functional.pad(block, (0, 0, 0, 1)), size, base + size)
        hidden = torch.zeros((size, base + size), dtype=torch.bool)
        hidden[:, base:] = ~torch.from_numpy(tree.topology.ancestor_mask)
        positions = [base + depth for depth in tree.depths]
        one.fill(tree.tokens, positions, hidden.numpy(), base, range(size))
        run = cuda_graphs(model.device)(one.run) if model.device.type == "cuda" else one.run

    def ready() -> None:
        with torch.inference_mode(), using(model.threads.count):
            wait(run())

    return ready
