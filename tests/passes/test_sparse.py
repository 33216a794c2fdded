"""Attention that skips empty blocks, against dense attention; its blocks against the project's own count."""

import numpy as np
import pytest
import torch

from specviz.passes import attention, sparse
from specviz.randomness import Seeded
from specviz.theory.mask_order import ORDERS, count_blocks, random_tree

pytestmark = pytest.mark.adapter


def blocks_touched(mask):
    """How many blocks the kernel works through; it skips the others."""
    return int(mask.kv_num_blocks.sum() + mask.full_kv_num_blocks.sum())


def dense(q, k, v, seen, scale):
    added = torch.zeros(seen.shape, dtype=q.dtype, device=q.device)
    added.masked_fill_(~torch.from_numpy(seen).to(q.device), -torch.inf)
    return attention.attend(q, k, v, added[None, None], False, scale)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("size", "prefix", "block"), [(9, 0, 16), (40, 5, 16), (70, 45, 32), (64, 64, 32)])
def test_blocks_touched_are_the_counted_ones(order, size, prefix, block):
    tree = random_tree(size, Seeded(size))
    nodes = ORDERS[order](tree)
    seen = sparse.visible(tree, nodes, prefix)
    assert seen[:, :prefix].all() and seen[:, prefix:].sum() == tree.ancestor_mask.sum()
    mask = sparse.block_mask(seen, block, "cpu")
    assert blocks_touched(mask) == count_blocks(tree, nodes, block, prefix)


def test_an_order_that_keeps_paths_together_touches_fewer_blocks():
    tree = random_tree(192, Seeded(2))
    touched = {
        name: blocks_touched(sparse.block_mask(sparse.visible(tree, ORDERS[name](tree)), 16, "cpu"))
        for name in ("as drawn", "heavy-path")
    }
    assert touched["heavy-path"] < 0.8 * touched["as drawn"] < (192 // 16) ** 2


@pytest.mark.parametrize(("size", "prefix"), [(9, 0), (40, 5), (70, 45)])
@pytest.mark.parametrize("key_heads", [4, 2])
def test_it_equals_dense_attention(size, prefix, key_heads):
    tree, chance = random_tree(size, Seeded(1)), torch.Generator().manual_seed(size)
    seen = sparse.visible(tree, tree.heavy_path, prefix)
    q = torch.randn((1, 4, size, 8), generator=chance)
    k, v = (torch.randn((1, key_heads, prefix + size, 8), generator=chance) for _ in range(2))
    found = sparse.attend(q, k, v, sparse.block_mask(seen, 16, "cpu"), 0.3)
    assert torch.allclose(found, dense(q, k, v, seen, 0.3), atol=1e-5)
    hidden = seen.copy()
    hidden[-1, : prefix + 1] = False  # another mask gives another result: the mask is looked at
    hidden[-1, -1] = True
    assert not torch.allclose(found, dense(q, k, v, hidden, 0.3), atol=1e-3)


def test_reordered_nodes_get_the_same_values():
    """Rows and columns in any order: what a node attends to does not depend on where it stands."""
    size, tree = 50, random_tree(50, Seeded(4))
    q, k, v = torch.randn((3, 1, 2, size, 8), generator=torch.Generator().manual_seed(0)).unbind()
    plain = sparse.attend(q, k, v, sparse.block_mask(sparse.visible(tree, range(size)), 16, "cpu"), 1.0)
    nodes = list(tree.heavy_path)
    mask = sparse.block_mask(sparse.visible(tree, nodes), 16, "cpu")
    moved = sparse.attend(*(x[:, :, nodes] for x in (q, k, v)), mask, 1.0)
    assert torch.allclose(moved, plain[:, :, nodes], atol=1e-5)


def test_another_tree_of_the_same_length_needs_no_new_compilation():
    from torch._dynamo.testing import CompileCounter

    counter = CompileCounter()
    compiled = torch.compile(sparse.flex_attention, dynamic=False, backend=counter)
    q = torch.randn((1, 2, 32, 8), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        for seed in range(3):
            tree = random_tree(32, Seeded(seed))
            mask = sparse.block_mask(sparse.visible(tree, tree.heavy_path), 16, "cpu")
            compiled(q, q, q, block_mask=mask)
    assert counter.frame_count == 1


@pytest.mark.parametrize("block", [0, 8, 24, 32.0])
def test_a_block_that_no_kernel_has_is_rejected(block):
    with pytest.raises(ValueError, match="power of two from 16"):
        sparse.block_mask(np.eye(4, dtype=bool), block, "cpu")


@pytest.mark.skipif(not sparse.has_gpu(), reason="needs a GPU")
@pytest.mark.parametrize(("size", "prefix"), [(96, 0), (256, 100)])
def test_on_a_gpu_the_compiled_kernel_equals_dense_attention(size, prefix):
    tree = random_tree(size, Seeded(1))
    seen = sparse.visible(tree, tree.heavy_path, prefix)
    runs, off = sparse.kernels(seen, 32, 4, 64, "cuda")
    assert off < 0.01
    for run in runs.values():
        run()
