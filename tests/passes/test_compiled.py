"""Compiled passes against torch's own: the same logits of trees, and torch's where a kernel is
wrong."""

import logging
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from numba import njit

from specviz.models.selftest import check_tree_reading
from specviz.passes import compiled as door
from specviz.passes.compiled import dot_products, helpers, kernels, numbers, products
from specviz.passes.compiled import passes as compiled
from specviz.passes.compiled.helpers import FAILED, run_with_helpers
from specviz.tree import TokenTree
from tests.loops import WAIT
from tests.passes.test_huggingface import along, make, random_run, random_tree

pytestmark = pytest.mark.adapter


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_token_has_the_same_logits_whatever_stands_beside_it(dtype):
    model, text = (
        make("llama", dtype=dtype, max_position_embeddings=512),
        [3, 1, 4] * compiled.TOKENS_PER_CALL,
    )
    rng, one, many = np.random.default_rng(1), model.open(text), model.open(text)
    for size in (*range(1, compiled.TOKENS_PER_CALL + 1), compiled.TOKENS_PER_CALL + 13):
        tree = random_tree(rng, many.context, size)
        path = tree.topology.path(size - 1)
        rows = many.forward(tree, range(size))
        many.commit(tree, path, [*along(tree, size - 1), 7])
        for node, token in zip((0, *path), [*along(tree, size - 1), 7], strict=True):
            root = TokenTree(one.context[-1], start=len(one.context) - 1)
            np.testing.assert_array_equal(one.forward(root, [0])[0], rows[node])
            one.commit(root, (), [token])


@pytest.mark.parametrize("inputs", [6, 64])  # tiles are filled by multiples of 32
@pytest.mark.parametrize("dtype", [np.float32, np.int16, "int16 without an instruction for pairs"])
def test_a_product_of_blocks_is_that_of_its_matrix(dtype, inputs, monkeypatch):
    rng, multiply = np.random.default_rng(0), products.block_product
    weight, x = (rng.normal(size=(size, inputs)).astype(np.float32) for size in (40, 51))
    arrays = [weight, x]
    if dtype is not np.float32:
        arrays = [compiled.raw(torch.from_numpy(each).bfloat16()) for each in arrays]
        weight, x = (torch.from_numpy(each).bfloat16().float().numpy() for each in (weight, x))
    if isinstance(dtype, str):
        monkeypatch.setattr(dot_products, "PAIR_PRODUCT", None)
        multiply = njit(lambda weights, x, sums: dot_products.multiply(weights, x, 0, 3, sums))
        arrays[1], x = arrays[1][:3], x[:3]
    blocks, sums = (
        dot_products.in_blocks(arrays[0]),
        np.empty((len(x), dot_products.BLOCK), np.float32),
    )
    multiply(blocks[1], arrays[1], sums)
    np.testing.assert_allclose(sums[:, :8], x @ weight[32:].T, rtol=1e-5, atol=1e-5)
    assert not sums[:, 8:].any()


def test_a_product_reads_and_writes_matrices_that_are_transposed_or_parts_of_others():
    """As attention has them: keys and values where the cache has them, scores as columns."""
    rng = np.random.default_rng(0)
    wide, scores = (rng.normal(size=(9, size)).astype(np.float32) for size in (96, 32))
    sums = np.empty((5, dot_products.BLOCK), np.float32)
    products.block_product(wide[:, 32:64], scores.T[:5], sums)
    np.testing.assert_allclose(sums, scores.T[:5] @ wide[:, 32:64], rtol=1e-5, atol=1e-5)


def test_every_block_of_a_product_gets_its_own_bias():
    rng = np.random.default_rng(0)
    weight, x, bias, more = (
        rng.normal(size=size).astype(np.float32) for size in ((70, 6), (3, 6), 70, (3, 70))
    )
    out, none = np.empty((3, 70), np.float32), np.empty(0, np.float32)
    blocks = dot_products.in_blocks(weight)
    linear = products.Linear(none, blocks, bias)
    products.product(np.zeros(3, np.int64), 0, x, linear, 1e-6, more, out, False)
    np.testing.assert_allclose(out, x @ weight.T + bias + more, rtol=1e-5, atol=1e-5)


def test_a_helper_that_comes_late_finds_nothing_left_to_do():
    ran, late, done = [], threading.Event(), threading.Event()

    def work(counters, name):
        if threading.current_thread() is not threading.main_thread():
            late.wait(WAIT)
            done.set()
        ran.append(name)

    run_with_helpers(work, 1, np.zeros(1, np.int64), "one")
    assert ran == ["one"]
    late.set()
    assert done.wait(WAIT)


def test_work_that_fails_ends_all_waiting_for_it():
    counters = np.zeros(3, np.int64)
    with pytest.raises(ZeroDivisionError):
        run_with_helpers(lambda counters: 1 / 0, 1, counters)
    assert counters[FAILED] == 1


def fails_once(name, monkeypatch):
    """Let the thread of that name, "MainThread" or a helper, fail within the pass after it took a
    chunk."""
    failed, attempted = threading.Event(), threading.Event()

    def forward(counters, *arguments):
        mine = threading.current_thread().name == name
        if mine and not failed.is_set():
            counters[0] += 1  # the first chunk, which nobody will finish
            failed.set()
            raise MemoryError("no memory for a chunk")
        failed.wait(WAIT)
        attempted.set()
        return honest(counters, *arguments)

    honest = kernels.forward
    monkeypatch.setattr(kernels, "forward", forward)
    return attempted


@pytest.mark.parametrize("name", ["MainThread", "compiled passes"])
def test_a_thread_that_fails_ends_the_pass_with_its_error(name, monkeypatch):
    monkeypatch.setattr(compiled, "ONE_THREAD", 0)
    model, other = make("llama"), make("llama")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    expected = other.open([3, 1, 4]).forward(TokenTree(4, start=2), [0])
    attempted = fails_once(name, monkeypatch)
    with pytest.raises(MemoryError, match="no memory for a chunk"):
        model.open([3, 1, 4]).forward(TokenTree(4, start=2), [0])
    assert attempted.wait(WAIT)
    np.testing.assert_array_equal(
        model.open([3, 1, 4]).forward(TokenTree(4, start=2), [0]), expected
    )


def test_a_helper_that_died_is_started_again():
    dead = threading.Thread(target=int)
    dead.start()
    dead.join()
    helpers._threads[:] = [dead]
    ran = threading.Event()

    def work(counters):
        if threading.current_thread() is not threading.main_thread():
            ran.set()

    run_with_helpers(work, 1, np.zeros(1, np.int64))
    assert ran.wait(WAIT) and dead not in helpers._threads


@pytest.mark.nightly
def test_code_that_was_just_compiled_computes_as_the_same_code_from_the_disk(tmp_path):
    """The optimizer sees a function in another context there: only a fixed order of sums has one
    result."""
    script = """if True:
        import torch
        from specviz.passes.cache import Pass
        from tests.passes.test_huggingface import make
        for dtype in (torch.float32, torch.bfloat16):
            model = make("llama", dtype=dtype, max_position_embeddings=512)
            ids = [7 * i % 97 for i in range(400)]
            work = Pass(ids, range(400), None, model.new_cache(), range(400))
            print(model.read(work)[0].tobytes().hex())
    """
    runs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert len(runs[0]) > 400 * 97 * 4 and runs[0] == runs[1]


def test_without_numba_torch_serves(monkeypatch):
    monkeypatch.setitem(sys.modules, "specviz.passes.compiled.passes", None)
    monkeypatch.delattr(door, "passes", raising=False)
    model = make("llama")
    assert model.direct is not None and model.compiled is None
    random_run(model, np.random.default_rng(0))


def test_a_wrong_kernel_leaves_the_passes_to_torch(monkeypatch, caplog):
    model, forward = make("llama", dtype=torch.float32), kernels.forward
    monkeypatch.setattr(
        kernels, "forward", lambda *arguments: forward(*arguments) or arguments[4].logits.fill(0.1)
    )
    with caplog.at_level(logging.WARNING):
        check_tree_reading("target", model)
    assert model.direct is not None and model.direct.compiled is None and not caplog.messages
    random_run(model, np.random.default_rng(0))


def test_large_models_are_not_held_twice(monkeypatch):
    model = make("llama", dtype=torch.float32).model
    assert door.compiler_for(model) is compiled
    assert door.compiler_for(model.double()) is None
    monkeypatch.setattr(door, "LARGEST", 1000)
    assert door.compiler_for(model.float()) is None


def test_code_compiled_from_other_sources_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(numbers.config, "CACHE_DIR", "")
    for name in ("kernels", "dot_products"):
        (tmp_path / f"{name}.py").write_text("A = 1")
    (tmp_path / "__pycache__").mkdir()
    before = numbers.folder_for(tmp_path)
    assert numbers.folder_for(tmp_path) == before
    (tmp_path / "dot_products.py").write_text("A = 2")
    assert numbers.folder_for(tmp_path) != before
    assert numbers.FOLDER.is_dir()  # or nothing is kept
